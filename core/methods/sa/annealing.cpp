#include "core/methods/sa/annealing.hpp"

#include <algorithm>
#include <utility>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/math.hpp"
#include "core/util/permutation.hpp"

namespace vicinity::annealing {
namespace {

/// What the oracle finds wrong with a permutation of which this cost is claimed; empty when nothing.
std::string complaint(const qap::Qap& qap, const qap::Permutation& permutation, std::int64_t claimed) {
  if (const std::string what = qap::complaint(qap.size(), permutation); !what.empty()) return what;
  if (const std::int64_t cost = qap::cost(qap, permutation); cost != claimed)
    return "cost " + std::to_string(cost) + ", not " + std::to_string(claimed) + " as claimed";
  return "";
}

/// What it finds wrong with a chain. The oracle takes O(n^2): where the best is the last one, both are judged at once.
std::string complaint(const qap::Qap& qap, const Chain& chain) {
  if (const std::string what = complaint(qap, chain.current, chain.cost); !what.empty()) return what;
  if (chain.best_cost == chain.cost && chain.best == chain.current) return "";
  if (const std::string what = complaint(qap, chain.best, chain.best_cost); !what.empty()) return what;
  return chain.best_cost > chain.cost ? "the best is worse than the last" : "";
}

void add(const Chain& chain, Digest& digest) {
  for (const std::int64_t word : {chain.proposals, chain.accepted, static_cast<std::int64_t>(chain.digest), chain.cost, chain.best_cost,
                                  chain.best_proposal, chain.frozen_at})
    digest.add(static_cast<std::uint64_t>(word));
  digest.add(chain.current);
  digest.add(chain.best);
}

}  // namespace

qap::Permutation start_of(const qap::Qap& qap, const Task& task, const Start& start, std::int64_t chain) {
  if (!start.solution) return shuffled(qap.size(), task.seed(start.seed, chain), start_stream);
  if (const std::string what = qap::complaint(qap.size(), *start.solution); !what.empty())
    throw InputError("the start is no permutation: " + what);
  return *start.solution;
}

std::int64_t leg_of(const Task& task, std::int32_t n) {
  if (task.leg > 0) return task.leg;
  const double cube = static_cast<double>(n) * n * n, usual = std::max(leg_share * cube * cube, leg_sweeps * static_cast<double>(pairs(n)));
  const double legs = static_cast<double>(task.iterations) / usual + 0.5;
  return divide_up(task.iterations, std::max<std::int64_t>(1, static_cast<std::int64_t>(legs)));
}

Cooling cooling_in(const Window& window, const Task& task, std::int32_t n) {
  if (task.schedule == Schedule::connolly) return cooling_between(window.hot, window.cold, task.iterations);
  return legs_between(window.hot, window.cold, std::max(window.hot, window.hottest), leg_of(task, n));
}

double fewest_operations(const qap::Qap& qap, std::int64_t proposals, std::int64_t accepted, std::int64_t bits) {
  const double update = (qap.symmetric() ? 2.0 : 4.0) / (bits == 16 ? 2 : 1);
  return 26.0 * static_cast<double>(proposals) + update * static_cast<double>(pairs(qap.size())) * static_cast<double>(accepted);
}

Outcome judge(const qap::Qap& qap, const Task& task, const std::vector<Chain>& chains) {
  Outcome outcome;
  Digest digest;
  outcome.feasible = static_cast<std::int64_t>(chains.size()) == task.chains;
  if (!outcome.feasible) outcome.complaint = std::to_string(chains.size()) + " chains, not " + std::to_string(task.chains);
  std::int64_t accepted = 0;
  for (std::size_t c = 0; c < chains.size() && outcome.complaint.empty(); ++c) {
    const Chain& chain = chains[c];
    if (const std::string what = complaint(qap, chain); !what.empty()) outcome.complaint = "chain " + std::to_string(c) + ": " + what;
    add(chain, digest);
    accepted += chain.accepted;
    outcome.evaluations += chain.proposals;
  }
  outcome.feasible = outcome.complaint.empty();
  outcome.digest = digest.value();
  outcome.iterations = outcome.evaluations;
  if (!outcome.feasible || chains.empty()) return outcome;
  const Chain& best =
      *std::min_element(chains.begin(), chains.end(), [](const Chain& x, const Chain& y) { return x.best_cost < y.best_cost; });
  outcome.objective = best.best_cost;  // by the oracle: any other would be a complaint
  outcome.solution = best.best;
  outcome.counters = {{"accepted", accepted}, {"best_proposal", best.best_proposal}, {"frozen_at", best.frozen_at}};
  return outcome;
}

}  // namespace vicinity::annealing
