#pragma once
// What the CPU implementations share around their search loops: chains that stop and go on, bookkeeping, the judgement.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
/// which goes on until walk.next() == limit; policy(); work(proposals, accepted). One method serves one chain at a time; `crews` methods
/// serve as many chains at a time, each on a thread of its own.
template <class Method>
class CpuRun final : public Run {
 public:
  CpuRun(const qap::Qap& qap, annealing::Task task, int crews = 1) : qap_(qap), task_(std::move(task)) {
    for (int k = 0; k < crews; ++k) crews_.push_back({std::make_unique<Method>(qap_, task_), nullptr, 0});
    reset(0);
  }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    next_chain_ = 0;
    finished_.assign(static_cast<std::size_t>(task_.chains), {});
    for (Crew& crew : crews_) crew.walk.reset();
  }
  void execute() override {
    reset(seed_);
    const auto start = Clock::now();
    static_cast<void>(advance(std::numeric_limits<double>::infinity()));
    times_ = {{"kernel", std::chrono::duration<double>(Clock::now() - start).count()}};
  }
  [[nodiscard]] bool advance(double seconds) override {
    const auto start = Clock::now();
    if (crews_.size() == 1) {
      advance(crews_.front(), start, seconds);
    } else {
#pragma omp parallel for num_threads(static_cast <int>(crews_.size())) schedule(static, 1)
      for (Crew& crew : crews_) advance(crew, start, seconds);
    }
    return next_chain_ < task_.chains || std::any_of(crews_.begin(), crews_.end(), [](const Crew& crew) { return crew.walk != nullptr; });
  }
  [[nodiscard]] Times times() const override { return times_; }
  [[nodiscard]] Outcome outcome() override {
    annealing::Task done = task_;
    const std::vector<annealing::Chain> chains = begun();
    if (next_chain_ > 0) done.chains = static_cast<std::int64_t>(chains.size());
    return annealing::judge(qap_, done, chains);
  }
  [[nodiscard]] Policy policy() const override {
    Policy policy = crews_.front().method->policy();
    if (task_.chains > 1) policy["chains_at_a_time"] = static_cast<std::int64_t>(crews_.size());
    return policy;
  }
  [[nodiscard]] Work work() const override {
    std::int64_t proposals = 0, accepted = 0;
    for (const annealing::Chain& chain : begun()) {
      proposals += chain.proposals;
      accepted += chain.accepted;
    }
    return crews_.front().method->work(proposals, accepted);
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Crew {
    std::unique_ptr<Method> method;
    std::unique_ptr<Walk> walk;
    std::int64_t chain;
  };

  /// Goes on with this crew's chain, and the next ones, until `seconds` after `start`.
  void advance(Crew& crew, Clock::time_point start, double seconds) {
    std::int64_t step = seconds == std::numeric_limits<double>::infinity() ? task_.iterations : 1024;
    while (true) {
      if (!crew.walk) {
        crew.chain = next_chain_++;
        if (crew.chain >= task_.chains) return;
        crew.walk = std::make_unique<Walk>(qap_, task_, task_.seed(seed_, crew.chain));
        crew.method->begin(*crew.walk);
      }
      crew.method->advance(*crew.walk, std::min(task_.iterations, crew.walk->next() + step));
      if (crew.walk->next() == task_.iterations) {
        finished_[static_cast<std::size_t>(crew.chain)] = crew.walk->chain();
        crew.walk.reset();
      }
      const double spent = std::chrono::duration<double>(Clock::now() - start).count();
      if (spent > seconds) return;
      if (spent < seconds / 8 && step < task_.iterations) step *= 2;
    }
  }
  /// The chains finished and under way, in order.
  [[nodiscard]] std::vector<annealing::Chain> begun() const {
    std::vector<annealing::Chain> chains;
    for (std::int64_t c = 0; c < task_.chains; ++c) {
      const auto under_way = std::find_if(crews_.begin(), crews_.end(), [&](const Crew& crew) { return crew.walk && crew.chain == c; });
      if (under_way != crews_.end())
        chains.push_back(under_way->walk->chain());
      else if (finished_[static_cast<std::size_t>(c)])
        chains.push_back(*finished_[static_cast<std::size_t>(c)]);
    }
    return chains;
  }

  const qap::Qap& qap_;
  annealing::Task task_;
  std::vector<Crew> crews_;
  std::uint64_t seed_ = 0;
  std::atomic<std::int64_t> next_chain_ = 0;  ///< the first that no crew has taken
  std::vector<std::optional<annealing::Chain>> finished_;
  Times times_;
};

/// Prepares `Method`. The caller keeps the instance alive.
template <class Method>
[[nodiscard]] std::unique_ptr<Run> prepare_cpu(const Case& c, const Instance& instance) {
  return std::make_unique<CpuRun<Method>>(dynamic_cast<const qap::Qap&>(instance), task_of(c));
}

}  // namespace vicinity::sa
