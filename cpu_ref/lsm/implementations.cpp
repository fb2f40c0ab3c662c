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
  const Implementation::Pace pace{.unit = "rounds", .default_work = 4000, .anytime = true};
  return {
      {.name = "cpu-ils-recompute",
       .backend = Backend::cpu,
       .summary = "one core: the method of cpu-ils word by word, O(n) a look: its reference",
       .limit = "integer throughput of one core",
       .prepare = prepare_ils_recompute,
       .reference = "cpu-ils-recompute",
       .pace = pace},
      {.name = "cpu-ils",
       .backend = Backend::cpu,
       .summary = "all cores: ours, for good tours within seconds: 2-opt and 3-opt with kicks; LKH-style solvers end nearer to the optimum",
       .limit = "integer throughput and caches of all cores",
       .prepare = prepare_ils,
       .reference = "cpu-ils-recompute",
       .pace = pace},
  };
}

}  // namespace vicinity::lsm
