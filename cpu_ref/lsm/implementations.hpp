#pragma once
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::lsm {

[[nodiscard]] std::vector<Implementation> cpu_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_mpi(const Case& c, const Instance& instance);

/// The program of the ranks of mpi-openmp.
inline constexpr char rank_program[] = "lsm-ranks";

}  // namespace vicinity::lsm
