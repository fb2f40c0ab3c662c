// The CPU implementations of large neighbourhood search.
#include "cpu_ref/lns/implementations.hpp"

namespace vicinity::lns {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-serial", Backend::cpu, "one core, the paper's CPU-LNS: every constraint evaluated again for every assignment",
       "integer throughput of one core", prepare_rescan},
      {"cpu-openmp", Backend::cpu, "all cores: walkers dealt to threads, only what depends on changed variables evaluated again",
       "integer throughput of all cores, waiting for gathers", prepare_openmp},
  };
}

}  // namespace vicinity::lns
