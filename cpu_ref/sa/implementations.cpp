// The CPU implementations of simulated annealing.
#include "cpu_ref/sa/implementations.hpp"

namespace vicinity::sa {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-traditional", Backend::cpu, "one core: every proposed swap evaluated from scratch in O(n)", "integer throughput of one core",
       prepare_traditional},
      {"cpu-serial", Backend::cpu, "one core: from scratch while many swaps are accepted, the delta matrix after",
       "integer throughput of one core", prepare_serial},
      {"cpu-delta", Backend::cpu, "one core: the delta matrix throughout, rows updated when they are scanned",
       "integer throughput of one core", prepare_delta},
      {"cpu-openmp", Backend::cpu,
       "all cores where it pays: as cpu-serial, rows updated and scanned by a team; several chains: one a thread",
       "integer throughput of all cores; waking them, for small n", prepare_openmp},
  };
}

}  // namespace vicinity::sa
