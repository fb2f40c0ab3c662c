#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity::sa {

/// All of one process.
[[nodiscard]] std::vector<Implementation> cpu_implementations();
/// Of them the twins that anneal: the first is their reference.
[[nodiscard]] std::vector<Implementation> cpu_annealing_implementations();
/// Those of the portfolio, whose results are others: the first is the reference of all of them.
[[nodiscard]] std::vector<Implementation> cpu_portfolio_implementations();
/// Over several processes, and over processes with a GPU each.
[[nodiscard]] std::vector<Implementation> cpu_rank_implementations();
[[nodiscard]] std::vector<Implementation> gpu_rank_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_traditional(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_delta_matrix(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_delta(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);

/// One rank's part of mpi-chains. `team` outlives the run.
[[nodiscard]] std::unique_ptr<Run> prepare_openmp_of_rank(const Case& c, const Instance& instance, Team& team);

}  // namespace vicinity::sa
