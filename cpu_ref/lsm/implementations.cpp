// The CPU implementations of the local searches.
#include "cpu_ref/lsm/implementations.hpp"

namespace vicinity::lsm {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-serial", Backend::cpu, "one core, every neighbour evaluated by itself: the paper's baseline", "integer throughput of one core",
       prepare_serial},
      {"cpu-openmp", Backend::cpu, "all cores, vectorised: O(1) a move from what is kept between moves; several restarts: one a thread",
       "integer throughput of all cores; waking them, for small neighbourhoods", prepare_openmp},
      {"cpu-ils", Backend::cpu, "all cores: ours, for tours: iterated local search, 2-opt and 3-opt moves, walkers on parts of the tour",
       "first- and second-level caches of all cores", prepare_ils, "cpu-ils-recompute"},
  };
}

}  // namespace vicinity::lsm
