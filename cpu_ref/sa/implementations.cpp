// The CPU implementations of simulated annealing.
#include "cpu_ref/sa/implementations.hpp"

namespace vicinity::sa {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-traditional", Backend::cpu, "one core: every proposed swap evaluated from scratch in O(n)", "integer throughput of one core",
       prepare_traditional},
      {"cpu-delta-matrix", Backend::cpu, "one core, the paper's section 2.2: a matrix of deltas that every accepted swap updates",
       "integer throughput of one core; the cache that the matrix fits, for large n", prepare_delta_matrix},
      {"cpu-serial", Backend::cpu, "one core, ours: from scratch while many swaps are accepted, kept inner products after",
       "integer throughput of one core", prepare_serial},
      {"cpu-delta", Backend::cpu, "one core, ours: inner products kept throughout, rows updated when they are scanned",
       "integer throughput of one core", prepare_delta},
      {"cpu-openmp", Backend::cpu,
       "all cores where it pays: as cpu-serial, rows updated and scanned by a team; several chains: one a thread",
       "integer throughput of all cores; waking them, for small n", prepare_openmp},
  };
}

}  // namespace vicinity::sa
