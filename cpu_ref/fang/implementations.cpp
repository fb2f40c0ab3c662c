// The CPU implementations of FANG.
#include "cpu_ref/fang/implementations.hpp"

namespace vicinity::fang {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-serial", Backend::cpu, "one core: ratings and prefix sums stored, binary search", "integer throughput of one core",
       prepare_serial},
      {"cpu-openmp", Backend::cpu, "states over all cores: vectorised ratings in L1, sums of tiles, one tile searched",
       "vector integer throughput of all cores", prepare_openmp},
  };
}

}  // namespace vicinity::fang
