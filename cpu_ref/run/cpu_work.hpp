#pragma once
#include <omp.h>

#include "core/api/run.hpp"

namespace vicinity {

/// So many operations under the ceiling of one core or of all threads; no ceiling is measured for other numbers of threads.
[[nodiscard]] inline Work cpu_work(double operations, int threads) {
  if (threads == 1) return {{Ceiling::cpu_integer_core, operations}};
  if (threads == omp_get_max_threads()) return {{Ceiling::cpu_integer, operations}};
  return {};
}

}  // namespace vicinity
