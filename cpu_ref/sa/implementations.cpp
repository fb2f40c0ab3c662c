// The CPU implementations of simulated annealing.
#include "cpu_ref/sa/implementations.hpp"

#include <utility>

#include "cpu_ref/sa/portfolio.hpp"

namespace vicinity::sa {

std::vector<Implementation> cpu_annealing_implementations() {
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

std::vector<Implementation> cpu_portfolio_implementations() {
  return {{.name = "cpu-portfolio",
           .backend = Backend::cpu,
           .summary = "all cores: ours, a memetic algorithm: tabu searches side by side from the children of elites, in rounds",
           .limit = "integer throughput of all cores",
           .prepare = prepare_portfolio,
           .reference = "cpu-portfolio",
           .pace = portfolio::pace}};
}

std::vector<Implementation> cpu_implementations() {
  std::vector<Implementation> all = cpu_annealing_implementations();
  for (Implementation& one : cpu_portfolio_implementations()) all.push_back(std::move(one));
  return all;
}

}  // namespace vicinity::sa
