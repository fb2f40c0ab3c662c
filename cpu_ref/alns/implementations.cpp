// The CPU implementations of adaptive large neighbourhood search.
#include "cpu_ref/alns/implementations.hpp"

namespace vicinity::alns {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-recompute", Backend::cpu, "one core: every insertion evaluated again in every repair step (Algorithms 2 and 3)",
       "integer throughput of one core, waiting for gathers", prepare_recompute},
      {"cpu-serial", Backend::cpu, "one core, one process after the other: the best insertion of each request into each tour is kept",
       "integer throughput of one core", prepare_serial},
      {"cpu-openmp", Backend::cpu, "all cores: as cpu-serial, a process a thread", "integer throughput of all cores", prepare_openmp},
  };
}

}  // namespace vicinity::alns
