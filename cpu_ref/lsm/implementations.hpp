#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/lsm/slice.hpp"

namespace vicinity::lsm {

/// The paper's searches, by the whole neighbourhood.
[[nodiscard]] std::vector<Implementation> cpu_implementations();
/// Iterated local search on tours; the first is the reference of the others.
[[nodiscard]] std::vector<Implementation> cpu_tour_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_ils(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_ils_recompute(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_mpi(const Case& c, const Instance& instance);

/// A rank of mpi-openmp, which evaluates `slice` of each neighbourhood on `cores` threads, or as many as the case says. `agreement`
/// outlives the run.
[[nodiscard]] std::unique_ptr<Run> prepare_slice(const Case& c, const Instance& instance, int cores, const local_search::Slice& slice,
                                                 local_search::Agreement& agreement);

/// The program of the ranks of mpi-openmp.
inline constexpr char rank_program[] = "lsm-ranks";

}  // namespace vicinity::lsm
