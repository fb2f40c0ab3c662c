#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity::lsm {

/// The paper's searches, by the whole neighbourhood.
[[nodiscard]] std::vector<Implementation> cpu_implementations();
/// Iterated local search on tours; the first is the reference of the others.
[[nodiscard]] std::vector<Implementation> cpu_tour_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_ils(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_ils_recompute(const Case& c, const Instance& instance);

/// One rank's part of mpi-openmp and of mpi-chains. `team` outlives the run.
[[nodiscard]] std::unique_ptr<Run> prepare_slice_of_rank(const Case& c, const Instance& instance, Team& team);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp_of_rank(const Case& c, const Instance& instance, Team& team);

/// Over several processes, and over processes with a GPU each.
[[nodiscard]] std::vector<Implementation> cpu_rank_implementations();
[[nodiscard]] std::vector<Implementation> gpu_rank_implementations();

}  // namespace vicinity::lsm
