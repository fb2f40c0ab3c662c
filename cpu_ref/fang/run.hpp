#pragma once
// What the CPU implementations share around their search loops: buffers, the clone step's timing, the judgement.
#include <concepts>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/problems/fang_domains/states.hpp"
#include "core/util/error.hpp"
#include "cpu_ref/run/cpu_work.hpp"

namespace vicinity::fang {

/// What generates successors; made from the case, owns its scratch memory. It also has assign(heuristic, targets, active offset, type,
/// order), which assigns the variables of one type in every target.
template <class M>
concept SuccessorMethod = std::constructible_from<M, const Case&> &&
    requires(M& method, const M& fixed, const States& sources, States& targets, std::uint32_t successors, std::uint64_t seed) {
  method.clone(sources, targets, successors, seed);
  { fixed.policy() } -> std::same_as<Policy>;
  { fixed.threads() } -> std::same_as<int>;
  { fixed.lane_share() } -> std::convertible_to<double>;  // how many 32-bit lanes one of its operations takes
};

template <Domain D, SuccessorMethod Method>
class CpuRun final : public Run {
 public:
  CpuRun(const Case& c, const Successors& instance, const D& domain)
      : instance_(instance),
        domain_(domain),
        offsets_(active_offsets(domain)),
        heuristics_(domain.heuristics(OnHost{})),
        sources_(make_sources(domain, instance, 0)),
        targets_(instance.states, sources_.state_words, sources_.active_words),
        method_(c) {}

  void reset(const Start& start) override {
    seed_ = start.seed;
    sources_ = make_sources(domain_, instance_, seed_);
    std::memset(targets_.words.data(), 0xA5, targets_.words.size() * sizeof(std::int32_t));
    std::memset(targets_.active.data(), 0xA5, targets_.active.size() * sizeof(std::uint32_t));
    std::memset(targets_.successors.data(), 0xA5, targets_.successors.size() * sizeof(std::uint64_t));
  }

  bool execute(const Budget&) override {
    const Stopwatch watch;
    method_.clone(sources_, targets_, instance_.successors, seed_);
    const double cloned = watch.seconds();
    std::apply(
        [this](const auto&... heuristic) {
          std::uint32_t type = 0;
          (assign(heuristic, type++), ...);
        },
        heuristics_);
    times_ = {{Part::clone, {cloned, TimeSource::host}}, {Part::kernel, {watch.seconds() - cloned, TimeSource::host}}};
    return false;
  }

  [[nodiscard]] Times times() const override { return times_; }
  [[nodiscard]] Outcome outcome() override { return judge(domain_, instance_, sources_, targets_); }
  [[nodiscard]] Policy policy() const override { return method_.policy(); }
  [[nodiscard]] Work work() const override {
    double operations = 0;
    for (const auto& [kind, amount] : domain_.rating_work()) operations += amount;
    operations *= method_.lane_share() * static_cast<double>(count_evaluations(domain_, sources_, instance_));
    return operations > 0 ? cpu_work(operations, method_.threads()) : Work{};
  }

 private:
  template <LocalHeuristic H>
  void assign(const H& heuristic, std::uint32_t type) {
    const VariableType& size = domain_.types()[type];
    method_.assign(heuristic, targets_.view(), offsets_[type], size, instance_.order);
  }

  const Successors& instance_;
  const D& domain_;
  std::vector<std::uint32_t> offsets_;
  Heuristics<D> heuristics_;
  States sources_, targets_;
  Method method_;
  std::uint64_t seed_ = 0;
  Times times_;
};

/// Prepares `Method` for any domain. The caller keeps the instance alive.
template <SuccessorMethod Method>
[[nodiscard]] std::unique_ptr<Run> prepare_cpu(const Case& c, const Instance& instance) {
  const auto& successors = dynamic_cast<const Successors&>(instance);
  return std::visit(
      [&]<class D>(const D& domain) -> std::unique_ptr<Run> { return std::make_unique<CpuRun<D, Method>>(c, successors, domain); },
      successors.domain);
}

}  // namespace vicinity::fang
