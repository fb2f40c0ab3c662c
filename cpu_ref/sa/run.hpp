#pragma once
// What the CPU implementations share around their search loops: chains that stop and go on, bookkeeping, the judgement.
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "core/methods/sa/calibration.hpp"
#include "core/methods/sa/gathered.hpp"
#include "core/methods/sa/task.hpp"
#include "core/problems/qap/from_scratch.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "core/util/memory.hpp"
#include "cpu_ref/run/search_run.hpp"

namespace vicinity::sa {

/// One chain under way: the contract's state, and what follows from an accepted or a rejected proposal.
class ChainState {
 public:
  ChainState(const qap::Qap& qap, const annealing::Task& task, const Start& start, std::int64_t chain)
      : qap_(&qap), seed_(task.seed(start.seed, chain)) {
    chain_.current = chain_.best = annealing::start_of(qap, task, start, chain);
    chain_.cost = chain_.best_cost = qap::cost(qap, chain_.current);
  }
  /// Given, calibrated or sampled temperatures, before the first proposal.
  void set_temperatures(const qap::FromScratch& from_scratch, const annealing::Task& task, const Interruption& interruption) {
    const std::optional<annealing::Cooling> known = annealing::known_cooling(from_scratch, qap_->size(), task, interruption.flag());
    cooling_ = known ? *known : sampled(from_scratch, task, interruption);
    interruption.check();
  }

  [[nodiscard]] const annealing::Chain& chain() const noexcept { return chain_; }
  [[nodiscard]] const annealing::Cooling& cooling() const noexcept { return cooling_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] const qap::Permutation& permutation() const noexcept { return chain_.current; }
  /// The next proposal.
  [[nodiscard]] std::int64_t next() const noexcept { return chain_.proposals; }
  [[nodiscard]] bool frozen() const noexcept { return chain_.frozen_at >= 0; }
  /// The proposal whose rejection would freeze the temperature, if all from next() on are rejected.
  [[nodiscard]] std::int64_t freezing_proposal() const noexcept {
    return frozen() || !cooling_.freezes() ? std::numeric_limits<std::int64_t>::max() : last_accepted_ + annealing::pairs(qap_->size());
  }

  /// Proposals next() .. q - 1 were rejected. Freezes where that is due, which the caller asks for by going no further than
  /// freezing_proposal() + 1.
  void reject_until(std::int64_t q) {
    chain_.proposals = q;
    if (q <= freezing_proposal()) return;
    chain_.frozen_at = q - 1;
    cooling_ = annealing::frozen(cooling_, qap_->size(), chain_.best_proposal);
  }

  /// Proposal q, the swap of r and s, was accepted; those before it were rejected.
  void accept(std::int64_t q, annealing::Swap swap, std::int64_t delta) {
    reject_until(q);
    last_accepted_ = q;
    chain_.proposals = q + 1;
    ++chain_.accepted;
    digest_.add(static_cast<std::uint64_t>(q));
    chain_.digest = digest_.value();
    chain_.cost += delta;
    std::swap(chain_.current[static_cast<std::size_t>(swap.r)], chain_.current[static_cast<std::size_t>(swap.s)]);
    if (chain_.cost >= chain_.best_cost) return;
    chain_.best_cost = chain_.cost;
    chain_.best_proposal = q;
    chain_.best = chain_.current;
  }

 private:
  [[nodiscard]] annealing::Cooling sampled(const qap::FromScratch& from_scratch, const annealing::Task& task,
                                           const Interruption& interruption) const {
    std::int64_t least = 0, largest = 0;
    for (std::int64_t k = 0; k < task.samples; ++k) {
      interruption.check();
      const annealing::Swap swap = annealing::sample_swap(seed_, qap_->size(), k);
      const std::int64_t delta = from_scratch.delta(chain_.current, swap.r, swap.s);
      if (delta <= 0) continue;
      least = least == 0 ? delta : std::min(least, delta);
      largest = std::max(largest, delta);
    }
    return annealing::cooling(least, largest, task.iterations);
  }

  const qap::Qap* qap_;
  std::uint64_t seed_;
  annealing::Chain chain_;
  annealing::Cooling cooling_{};
  Digest digest_;
  std::int64_t last_accepted_ = -1;
};

/// What runs a chain: made from (instance, task).
template <class M>
concept ChainMethod = requires(M& method, const M& fixed, ChainState& state, std::int64_t count, const Interruption& interruption) {
  method.begin(state, interruption);           // prepares it for a chain that was just begun
  method.advance(state, count, interruption);  // goes on until state.next() == count
  { fixed.policy() } -> std::same_as<Policy>;
  { fixed.work(count, count) } -> std::same_as<Work>;  // of so many proposals and accepted swaps
};

/// The chains of a case, for SearchRun.
template <ChainMethod M>
class Chains {
 public:
  using Method = M;
  using State = ChainState;
  using Result = annealing::Chain;

  /// `team`: the ranks that share the chains of a case, of which `task` has this one's; null: none. It outlives the run.
  Chains(const qap::Qap& qap, annealing::Task task, Team* team = nullptr)
      : qap_(&qap), from_scratch_(qap), task_(std::move(task)), team_(team) {}

  [[nodiscard]] std::int64_t count() const { return task_.chains; }
  [[nodiscard]] std::unique_ptr<State> begin(Method&, const Start& start, std::int64_t chain) const {
    return std::make_unique<State>(*qap_, task_, start, chain);
  }
  void set_up(Method& method, State& state, const Interruption& interruption) const {
    state.set_temperatures(from_scratch_, task_, interruption);
    method.begin(state, interruption);
  }
  void step(Method& method, State& state, const StepLimit& limit) const {
    // 1024 proposals take microseconds
    const std::int64_t far = limit.briefly ? state.next() + std::max<std::int64_t>(1024, state.next() / 16) : task_.iterations;
    method.advance(state, std::max(state.next(), std::min({task_.iterations, limit.iterations, far})), limit.interruption);
  }
  [[nodiscard]] bool done(const State& state) const { return state.next() == task_.iterations; }
  [[nodiscard]] static TracePoint progress(const State& state) {
    const annealing::Chain& chain = state.chain();
    return {.iterations = chain.proposals, .objective = chain.best_cost, .digest = chain.digest};
  }
  [[nodiscard]] static Result result(const State& state) { return state.chain(); }
  [[nodiscard]] Outcome judge(const std::vector<Result>& chains, bool whole) const {
    annealing::Task done = task_;
    const std::int64_t least = team_ == nullptr || team_->rank() == 0 ? 1 : 0;
    if (!whole) done.chains = std::max(least, static_cast<std::int64_t>(chains.size()));
    return annealing::judge(team_, *qap_, done, chains);
  }
  [[nodiscard]] Policy policy(const Method& method, std::size_t workers) const {
    Policy policy = method.policy();
    if (count() > 1) policy["chains_at_a_time"] = static_cast<std::int64_t>(workers);
    return policy;
  }
  [[nodiscard]] static Work work(const Method& method, const std::vector<Result>& chains, std::size_t) {
    std::int64_t proposals = 0, accepted = 0;
    for (const Result& chain : chains) {
      proposals += chain.proposals;
      accepted += chain.accepted;
    }
    return method.work(proposals, accepted);
  }

 private:
  const qap::Qap* qap_;
  qap::FromScratch from_scratch_;
  annealing::Task task_;
  Team* team_;
};

/// Prepares `Method`, `workers` times. The caller keeps the instance alive. `team`: of Chains.
template <class Method>
[[nodiscard]] std::unique_ptr<Run> prepare_cpu(const Instance& instance, const annealing::Task& task, int workers = 1,
                                               Team* team = nullptr) {
  const auto& qap = dynamic_cast<const qap::Qap&>(instance);
  require_memory(2.0 * sizeof(std::int32_t) * qap.size() * qap.size() * workers, "a search");  // and some more
  std::vector<std::unique_ptr<Method>> methods;
  for (int k = 0; k < workers; ++k) methods.push_back(std::make_unique<Method>(qap, task));
  return std::make_unique<SearchRun<Chains<Method>>>(Chains<Method>(qap, task, team), std::move(methods));
}

}  // namespace vicinity::sa
