// The CPU implementations of the local searches.
#include "cpu_ref/lsm/implementations.hpp"

namespace vicinity::lsm {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-serial", Backend::cpu, "one core, every neighbour evaluated by itself: the paper's baseline", "integer throughput of one core",
       prepare_serial},
      {"cpu-openmp", Backend::cpu, "all cores, vectorised: O(1) a move from what is kept between moves; several restarts: one a thread",
       "integer throughput of all cores; waking them, for small neighbourhoods", prepare_openmp},
  };
}

std::vector<Implementation> cpu_tour_implementations() {
  return {
      {"cpu-ils-recompute", Backend::cpu, "one core: the method of cpu-ils word by word, O(n) a look: its reference", "integer throughput of one core",
       prepare_ils_recompute, "cpu-ils-recompute"},
      {"cpu-ils", Backend::cpu, "all cores: ours, for tours: iterated local search by 2-opt and 3-opt; LKH-style solvers go further",
       "caches and integer throughput of all cores", prepare_ils, "cpu-ils-recompute"},
  };
}

}  // namespace vicinity::lsm
