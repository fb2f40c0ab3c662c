// The CPU implementations of the local searches.
#include "cpu_ref/lsm/implementations.hpp"

#include "cpu_ref/run/ranks.hpp"

namespace vicinity::lsm {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-serial", Backend::cpu, "one core, every neighbour evaluated by itself: the paper's baseline", "integer throughput of one core",
       prepare_serial},
      {"cpu-openmp", Backend::cpu, "all cores, vectorised: O(1) a move from what is kept between moves; several restarts: one a thread",
       "integer throughput of all cores; waking them, for small neighbourhoods", prepare_openmp},
      {.name = "mpi-openmp",
       .backend = Backend::cpu,
       .summary = "processes under MPI, each with cpu-openmp's evaluation of a slice; the best of all by an all-reduce each iteration",
       .limit = "integer throughput of all cores; the all-reduce, for small neighbourhoods",
       .prepare = prepare_mpi,
       .absence = absence_of_ranks(rank_program)},
  };
}

std::vector<Implementation> cpu_tour_implementations() {
  const Implementation::Pace pace{.unit = "rounds", .default_work = 1000, .anytime = true};
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
