#include "core/methods/lns/repair.hpp"

#include <cstdlib>
#include <utility>

namespace vicinity::lns::repair {

/// Variables that are released, of a set, up to a number.
class Neighborhoods::Released {
 public:
  Released(std::span<const cp::Var> set, std::int64_t most, std::int32_t variables)
      : state_(static_cast<std::size_t>(variables), State::other), left_(most) {
    for (const cp::Var x : set) state_[static_cast<std::size_t>(x)] = State::kept;
  }

  [[nodiscard]] bool full() const { return left_ <= 0; }
  [[nodiscard]] bool decides(cp::Var x) const { return state_[static_cast<std::size_t>(x)] != State::other; }
  [[nodiscard]] bool keeps(cp::Var x) const { return state_[static_cast<std::size_t>(x)] == State::kept; }
  void add(cp::Var x) {
    if (!keeps(x) || full()) return;
    state_[static_cast<std::size_t>(x)] = State::released;
    --left_;
  }

 private:
  enum class State : std::uint8_t { other, kept, released };
  std::vector<State> state_;  ///< [variable]
  std::int64_t left_;
};

Neighborhoods::Neighborhoods(const cp::Model& model, const cp::CompiledModel& compiled, std::span<const std::int32_t> free_slots,
                             std::span<const std::int32_t> relaxed)
    : network_(*compiled.network),
      view_(network_.view()),
      relaxed_(relaxed),
      objective_(compiled.objective),
      maximise_(model.goal == cp::Goal::maximise) {
  const Strategy strategy = strategy_of(model, compiled);
  if (!strategy.relaxed.empty()) {
    add(strategy.relaxed);
    share_ = 100 - strategy.kept_percent;
    adaptive_ = false;
    return;
  }
  std::vector<cp::Var> annotated, free;
  for (std::size_t k = 0; k < strategy.annotated; ++k)
    annotated.insert(annotated.end(), strategy.phases[k].variables.begin(), strategy.phases[k].variables.end());
  for (const std::int32_t slot : free_slots) free.push_back(compiled.variable_of[static_cast<std::size_t>(slot)]);
  add(std::move(annotated));
  add(std::move(free));
  find_terms();
}

/// Without what is fixed or stands there twice.
void Neighborhoods::add(std::vector<cp::Var> set) {
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(network_.variables()), 0);
  seen[static_cast<std::size_t>(objective_)] = 1;
  std::erase_if(set, [&](cp::Var x) {
    const auto index = static_cast<std::size_t>(x);
    return view_.lower[index] == view_.upper[index] || std::exchange(seen[index], std::uint8_t{1}) != 0;
  });
  if (set.size() < 2) return;
  if (sets_.empty() || sets_.front() != set) sets_.push_back(std::move(set));
}

/// Those of the longest sum that the objective is in, or of a maximum or minimum.
void Neighborhoods::find_terms() {
  std::size_t longest = 0;
  for (auto w = view_.watch_begin[objective_]; w < view_.watch_begin[objective_ + 1]; ++w) {
    const auto c = static_cast<std::int32_t>(view_.watches[w] >> 4);
    const cp::Kind kind = view_.kind[c];
    const bool sum =
        (kind == cp::Kind::linear_eq || kind == cp::Kind::linear_le) && cp::scope_of(view_, c).arguments[0] == cp::true_literal;
    if (!sum && kind != cp::Kind::maximum && kind != cp::Kind::minimum) continue;
    const cp::Scope scope = cp::scope_of(view_, c);
    if (scope.arguments.size() <= longest) continue;
    longest = scope.arguments.size();
    sum_ = c;
    terms_.clear();
    std::int64_t own = -1;
    for (std::size_t k = 1; sum && k < scope.arguments.size(); ++k)
      if (scope.arguments[k] == objective_) own = scope.data[k];
    const std::int64_t sign = (own < 0) == maximise_ ? -1 : 1;
    for (std::size_t k = 1; k < scope.arguments.size(); ++k)
      if (scope.arguments[k] != objective_) terms_.push_back({scope.arguments[k], sign * (sum ? scope.data[k] : 1)});
  }
}

std::vector<Arm> Neighborhoods::arms() const {
  std::vector<Arm> all;
  for (std::size_t set = 0; set < sets_.size(); ++set)
    for (int shape = 0; shape < (adaptive_ ? shapes : 1); ++shape) {
      if (static_cast<Shape>(shape) == Shape::terms && terms_.empty()) continue;
      if (static_cast<Shape>(shape) == Shape::relaxed && relaxed_.empty()) continue;
      all.push_back({set, static_cast<Shape>(shape),
                     std::clamp<std::int64_t>(size(set) * share_ / 100, std::min<std::int64_t>(4, size(set)), size(set))});
    }
  return all;
}

std::vector<cp::Var> Neighborhoods::kept(const Arm& arm, std::int64_t most, std::span<const std::int32_t> incumbent, Draws& draws) const {
  std::vector<cp::Var> set = sets_[arm.set];
  if (arm.shape == Shape::support) most = keep_support(set, incumbent, most);
  Released released(set, most, network_.variables());
  if (arm.shape == Shape::walk) walk(set[draws.below(set.size())], released, draws);
  if (arm.shape == Shape::terms) near_terms(incumbent, released, draws);
  if (arm.shape == Shape::values) near_values(set, incumbent, released, draws);
  if (arm.shape == Shape::consecutive)
    for (std::size_t k = draws.below(set.size()), n = 0; n < set.size(); ++n) released.add(set[(k + n) % set.size()]);
  std::vector<cp::Var> order = set;
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[draws.below(k)]);
  if (arm.shape == Shape::relaxed)
    for (const cp::Var x : order)
      if (incumbent[static_cast<std::size_t>(x)] != relaxed_[static_cast<std::size_t>(x)]) released.add(x);
  for (const cp::Var x : order) released.add(x);  // what is still missing
  std::erase_if(order, [&](cp::Var x) { return !released.keeps(x); });
  return order;
}

std::int64_t Neighborhoods::keep_support(std::vector<cp::Var>& order, std::span<const std::int32_t> incumbent, std::int64_t most) const {
  std::vector<std::int32_t> values;
  for (const cp::Var x : order) values.push_back(incumbent[static_cast<std::size_t>(x)]);
  std::sort(values.begin(), values.end());
  std::int32_t commonest = values.front();
  std::size_t longest = 0;
  for (std::size_t k = 0, run = 0; k < values.size(); ++k) {
    run = k > 0 && values[k] == values[k - 1] ? run + 1 : 1;
    if (run <= longest) continue;
    longest = run;
    commonest = values[k];
  }
  const auto size = static_cast<std::int64_t>(order.size());
  if (longest == order.size()) return most;
  std::erase_if(order, [&](cp::Var x) { return incumbent[static_cast<std::size_t>(x)] == commonest; });
  return std::max<std::int64_t>(2, most * static_cast<std::int64_t>(order.size()) / size);
}

cp::Var Neighborhoods::hop(cp::Var x, Draws& draws) const {
  const std::size_t begin = view_.watch_begin[x], count = view_.watch_begin[x + 1] - begin;
  if (count == 0) return x;
  const auto c = static_cast<std::int32_t>(view_.watches[begin + draws.below(count)] >> 4);
  if (c == sum_) return x;
  const cp::Var other = network_.variable(c, draws.below(cp::scope_of(view_, c).arguments.size()));
  return other == objective_ || view_.lower[other] == view_.upper[other] ? x : other;
}

void Neighborhoods::walk(cp::Var from, Released& released, Draws& draws) const {
  released.add(from);
  cp::Var at = from;
  for (std::int64_t k = 0; k < hops && !released.full(); ++k) {
    const cp::Var next = hop(at, draws);
    if (released.keeps(next)) k = 0;
    released.add(next);
    at = next;
  }
}

void Neighborhoods::near_terms(std::span<const std::int32_t> incumbent, Released& released, Draws& draws) const {
  std::vector<std::uint64_t> sums;  // of what terms could give up
  std::uint64_t sum = 0;
  for (const Term& term : terms_) {
    const auto x = static_cast<std::size_t>(term.variable);
    const std::int64_t value = incumbent[x], best = term.coefficient > 0 ? view_.lower[x] : view_.upper[x];
    sum += std::min<std::uint64_t>(static_cast<std::uint64_t>(std::abs(term.coefficient)), 1u << 20) *
           static_cast<std::uint64_t>(std::abs(value - best));
    sums.push_back(sum);
  }
  for (std::int64_t tries = 0; sum > 0 && tries < 4 * hops && !released.full(); ++tries) {
    const auto drawn = std::upper_bound(sums.begin(), sums.end(), scale_to(draws.bits(), sum)) - sums.begin();
    cp::Var at = terms_[static_cast<std::size_t>(drawn)].variable;
    released.add(at);
    for (std::int64_t k = 0; k < hops && !released.full(); ++k) {  // to the first decisions
      at = hop(at, draws);
      if (released.keeps(at)) tries = 0;
      released.add(at);
      if (released.decides(at) && (draws.bits() & 1) != 0) break;
    }
  }
}

void Neighborhoods::near_values(std::span<const cp::Var> set, std::span<const std::int32_t> incumbent, Released& released,
                                Draws& draws) const {
  const auto value = [&](cp::Var x) { return std::int64_t{incumbent[static_cast<std::size_t>(x)]}; };
  const std::int64_t center = value(set[draws.below(set.size())]);
  std::vector<std::pair<std::uint64_t, cp::Var>> order;  // by distance, then at random
  for (const cp::Var x : set) order.emplace_back(static_cast<std::uint64_t>(std::abs(value(x) - center)) << 31 | draws.bits() >> 33, x);
  std::sort(order.begin(), order.end());
  for (const auto& [distance, x] : order) released.add(x);
}

}  // namespace vicinity::lns::repair
