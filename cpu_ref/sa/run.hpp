#pragma once
// What the CPU implementations share around their search loops: chains that stop and go on, bookkeeping, the judgement.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/annealing.hpp"
#include "core/digest.hpp"
#include "core/error.hpp"
#include "data/sa/system.hpp"

namespace vicinity::sa {

/// One chain under way: the contract's state, and what follows from an accepted or a rejected proposal.
class Walk {
 public:
  Walk(const qap::Qap& qap, const annealing::Task& task, std::uint64_t seed) : qap_(&qap), seed_(seed) {
    chain_.current = chain_.best = annealing::start_of(qap, seed);
    chain_.cost = chain_.best_cost = qap::cost(qap, chain_.current);
    cooling_ = task.cooling ? *task.cooling : sampled(task);
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
    return frozen() ? std::numeric_limits<std::int64_t>::max() : last_accepted_ + annealing::pairs(qap_->size());
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
  [[nodiscard]] annealing::Cooling sampled(const annealing::Task& task) const {
    std::int64_t least = 0, largest = 0;
    for (std::int64_t k = 0; k < task.samples; ++k) {
      const annealing::Swap swap = annealing::sample_swap(seed_, qap_->size(), k);
      const std::int64_t delta = qap::delta(qap_->view(), chain_.current, swap.r, swap.s);
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

/// A Method is made from (instance, task), and has begin(walk), which prepares it for a walk that was just made; advance(walk, limit),
/// which goes on until walk.next() == limit; policy(); work(evaluations). One method serves one chain at a time.
template <class Method>
class CpuRun final : public Run {
 public:
  CpuRun(const qap::Qap& qap, annealing::Task task) : qap_(qap), task_(std::move(task)), method_(qap_, task_) {}

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    chains_.clear();
    walk_.reset();
  }
  void execute() override {
    chains_.clear();
    walk_.reset();
    const auto start = Clock::now();
    while (advance(std::numeric_limits<double>::infinity())) {
    }
    times_ = {{"kernel", std::chrono::duration<double>(Clock::now() - start).count()}};
  }
  [[nodiscard]] bool advance(double seconds) override {
    const auto start = Clock::now();
    std::int64_t step = 1024;
    while (static_cast<std::int64_t>(chains_.size()) < task_.chains) {
      if (!walk_) {
        walk_ = std::make_unique<Walk>(qap_, task_, task_.seed(seed_, static_cast<std::int64_t>(chains_.size())));
        method_.begin(*walk_);
      }
      if (seconds == std::numeric_limits<double>::infinity()) step = task_.iterations;
      method_.advance(*walk_, std::min(task_.iterations, walk_->next() + step));
      const bool finished = walk_->next() == task_.iterations;
      if (finished) {
        chains_.push_back(walk_->chain());
        walk_.reset();
      }
      const double spent = std::chrono::duration<double>(Clock::now() - start).count();
      if (spent > seconds) return !(finished && static_cast<std::int64_t>(chains_.size()) == task_.chains);
      if (spent < seconds / 8) step *= 2;
    }
    return false;
  }
  [[nodiscard]] Times times() const override { return times_; }
  [[nodiscard]] Outcome outcome() override {
    std::vector<annealing::Chain> chains = chains_;
    if (walk_) chains.push_back(walk_->chain());
    annealing::Task done = task_;
    if (!chains.empty()) done.chains = static_cast<std::int64_t>(chains.size());  // between two chains, too
    return annealing::judge(qap_, done, chains);
  }
  [[nodiscard]] Policy policy() const override { return method_.policy(); }

 private:
  using Clock = std::chrono::steady_clock;

  const qap::Qap& qap_;
  annealing::Task task_;
  Method method_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<Walk> walk_;
  std::vector<annealing::Chain> chains_;
  Times times_;
};

/// Prepares `Method`. The caller keeps the instance alive.
template <class Method>
[[nodiscard]] std::unique_ptr<Run> prepare_cpu(const Case& c, const Instance& instance) {
  return std::make_unique<CpuRun<Method>>(dynamic_cast<const qap::Qap&>(instance), task_of(c));
}

}  // namespace vicinity::sa
