#include "core/problems/cp/coverage.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "core/problems/cp/operations.hpp"
#include "core/problems/cp/rules.hpp"

namespace vicinity::cp {
namespace {

/// Bounds from here on count as none: sums of them have 128 bits.
constexpr std::int64_t far = std::int64_t{1} << 40;
constexpr int most_rounds = 8;         ///< of propagation
constexpr std::size_t few_terms = 32;  ///< constraints with more wait until no other does

struct Bounds {
  std::int64_t lower, upper;
  [[nodiscard]] bool is_open() const { return reaches_beyond(lower, upper); }
};

/// What stands for no end: 2^60 times itself has 128 bits, and no end derived from it is below `far`.
constexpr Wide infinity = Wide{1} << 60;

/// Values between two ends, of which each may be none.
struct Range {
  Wide low, high;
  [[nodiscard]] Wide greatest() const { return std::max(-low, high); }  ///< magnitude
  [[nodiscard]] bool has_zero() const { return low <= 0 && high >= 0; }
  [[nodiscard]] Range without_zero() const { return {low == 0 ? 1 : low, high == 0 ? -1 : high}; }
};
Range product(Range a, Range b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}
/// Of numbers in `of` to 0 or past it, as their quotients by numbers in `by` lie; 0 is none of these.
Range toward_zero(Range of, Range by) {
  if (by.low > 0) return {std::min<Wide>(of.low, 0), std::max<Wide>(of.high, 0)};
  if (by.high < 0) return {std::min<Wide>(-of.high, 0), std::max<Wide>(-of.low, 0)};
  return {-of.greatest(), of.greatest()};
}

/// Bounds of the variables of one constraint, of which one alone may change: the open one. A rule that would change another ends there,
/// for it may be the cut of the open one that it tells of.
class Trial {
 public:
  Trial(const std::vector<Bounds>& all, Var open) : all_(all), open_(open) {}

  [[nodiscard]] const Bounds& own() const { return own_; }
  [[nodiscard]] std::int64_t lower(Var x) const { return of(x).lower; }
  [[nodiscard]] std::int64_t upper(Var x) const { return of(x).upper; }
  [[nodiscard]] bool contains(Var x, std::int64_t v) const { return x == open_ || (lower(x) <= v && v <= upper(x)); }
  [[nodiscard]] static bool masked(Var) { return false; }
  [[nodiscard]] static std::int64_t next(Var, std::int64_t v) { return v; }
  [[nodiscard]] bool raise(Var x, std::int64_t v) {
    if (v <= lower(x)) return true;
    if (x != open_ || v > own_.upper) return false;
    own_.lower = v;
    return true;
  }
  [[nodiscard]] bool cut(Var x, std::int64_t v) {
    if (v >= upper(x)) return true;
    if (x != open_ || v < own_.lower) return false;
    own_.upper = v;
    return true;
  }
  /// An end of the open one stands for all values beyond it.
  [[nodiscard]] bool remove(Var x, std::int64_t v) const { return x == open_ || (v != lower(x) && v != upper(x)); }
  [[nodiscard]] bool assign(Var x, std::int64_t v) { return raise(x, v) && cut(x, v); }

 private:
  [[nodiscard]] const Bounds& of(Var x) const { return x == open_ ? own_ : all_[static_cast<std::size_t>(x)]; }

  const std::vector<Bounds>& all_;
  Var open_;
  Bounds own_{least_value, greatest_value};
};

/// Bounds over all integers. A variable is open while one of its bounds is beyond the values of variables. Open ones get bounds from sums
/// and functions, an end from the ends that it depends on, and from rules with no other open variable; the others from propagation of what
/// has no open one.
class Closure {
 public:
  explicit Closure(const Draft& draft) : draft_(draft), waits_(draft.kind.size(), false), of_(draft.domains.size()) {
    for (const Draft::Domain& domain : draft.domains) bounds_.push_back({domain.lower, domain.upper});
    for (std::uint32_t c = 0; c < draft.kind.size(); ++c)
      for (std::size_t k = 0; k < scope(c).arguments.size(); ++k)
        if (const Var x = variable(c, k); is_open(x)) of_[static_cast<std::size_t>(x)].push_back(c);
    for (std::uint32_t c = 0; c < draft.kind.size(); ++c)
      if (has_open(c)) enqueue(c);
  }

  /// Has no variable an open bound, or the draft no solution?
  [[nodiscard]] bool closed() const {
    return failed_ || std::none_of(bounds_.begin(), bounds_.end(), [](const Bounds& b) { return b.is_open(); });
  }
  [[nodiscard]] const Bounds& bounds(Var x) const { return bounds_[static_cast<std::size_t>(x)]; }
  /// Until nothing changes.
  void settle() {
    examine();
    for (int round = 0; round < most_rounds && !closed(); ++round) {
      propagate();
      if (failed_) return;
      for (std::uint32_t c = 0; c < draft_.kind.size(); ++c)
        if (has_open(c)) enqueue(c);
      const std::size_t before = changes_;
      examine();
      if (changes_ == before) return;
    }
  }
  void bound(Var x, Wide low, Wide high) {
    Bounds& b = bounds_[static_cast<std::size_t>(x)];
    // Once from none to one and once to a value, so that bounds do not creep.
    const bool raises = b.lower < least_value && low > -far && low < far && (b.lower <= -far || low >= least_value);
    const bool cuts = b.upper > greatest_value && high > -far && high < far && (b.upper >= far || high <= greatest_value);
    if (!raises && !cuts) return;
    if (raises) b.lower = std::max(b.lower, static_cast<std::int64_t>(low));
    if (cuts) b.upper = std::min(b.upper, static_cast<std::int64_t>(high));
    failed_ |= b.lower > b.upper;
    ++changes_;
    for (const std::uint32_t c : of_[static_cast<std::size_t>(x)]) enqueue(c);
  }

 private:
  [[nodiscard]] Scope scope(std::uint32_t c) const {
    return {std::span(draft_.arguments).subspan(draft_.argument_begin[c], draft_.argument_begin[c + 1] - draft_.argument_begin[c]),
            std::span(draft_.data).subspan(draft_.data_begin[c], draft_.data_begin[c + 1] - draft_.data_begin[c])};
  }
  [[nodiscard]] Var variable(std::uint32_t c, std::size_t k) const { return variable_at(draft_.kind[c], k, scope(c)); }
  [[nodiscard]] bool is_open(Var x) const { return bounds_[static_cast<std::size_t>(x)].is_open(); }
  [[nodiscard]] bool holds(Literal l) const {
    const Bounds& b = bounds_[static_cast<std::size_t>(var_of(l))];
    return is_negated(l) ? b.upper == 0 : b.lower == 1;
  }
  [[nodiscard]] bool has_open(std::uint32_t c) const {
    for (std::size_t k = 0; k < scope(c).arguments.size(); ++k)
      if (is_open(variable(c, k))) return true;
    return false;
  }
  void enqueue(std::uint32_t c) {
    if (waits_[c]) return;
    waits_[c] = true;
    queues_[scope(c).arguments.size() > few_terms ? 1 : 0].push_back(c);
  }
  void examine() {
    for (;;) {
      const auto queue = std::find_if(queues_.begin(), queues_.end(), [](const auto& one) { return !one.empty(); });
      if (queue == queues_.end()) return;
      const std::uint32_t c = queue->front();
      queue->pop_front();
      waits_[c] = false;
      if (!failed_) examine(c);
    }
  }
  void examine(std::uint32_t c) {
    const auto [x, data] = scope(c);
    constexpr std::array<std::int64_t, 2> difference{1, -1}, negated_sum{-1, -1};
    switch (draft_.kind[c]) {
      case Kind::le:
      case Kind::eq:
        if (!holds(x[0])) return;
        sum(x.subspan(1), difference, data[0], 1);
        if (draft_.kind[c] == Kind::eq) sum(x.subspan(1), difference, data[0], -1);
        return;
      case Kind::linear_le:
      case Kind::linear_eq:
        if (!holds(x[0])) return;
        sum(x.subspan(1), data.subspan(1), data[0], 1);
        if (draft_.kind[c] == Kind::linear_eq) sum(x.subspan(1), data.subspan(1), data[0], -1);
        return;
      case Kind::maximum:
      case Kind::minimum:
        for (const Var y : x.subspan(1)) sum(std::array{y, x[0]}, difference, 0, draft_.kind[c] == Kind::maximum ? 1 : -1);
        extreme(x[0], x.subspan(1), draft_.kind[c] == Kind::maximum);
        break;
      case Kind::absolute:
        sum(x, difference, 0, 1);
        sum(x, negated_sum, 0, 1);
        bound(x[1], 0, range(x[0]).greatest());
        break;
      case Kind::times:
        bound(x[2], product(range(x[0]), range(x[1])));
        factor(x[0], x[1], x[2]);
        factor(x[1], x[0], x[2]);
        break;
      case Kind::divide:
        divide(x[0], x[1], x[2]);
        break;
      case Kind::modulo:
        modulo(x[0], x[1], x[2]);
        break;
      case Kind::power:
        power(x[0], x[1], x[2]);
        break;
      case Kind::element_var:
        element(x[0], x[1], x.subspan(2));
        break;
      case Kind::at_most:
      case Kind::equals:
      case Kind::element:
        break;
      default:  // their rules take values at an end away, where others are left beyond it
        return;
    }
    attempt(c);
  }
  /// sign (a x) <= sign c.
  void sum(std::span<const Var> x, std::span<const std::int64_t> a, std::int64_t c, int sign) {
    const auto end = [&](std::size_t k) {  // that makes the sum least
      const Bounds& b = bounds_[static_cast<std::size_t>(x[k])];
      return (a[k] > 0) == (sign > 0) ? b.lower : b.upper;
    };
    const auto is_none = [&](std::size_t k) { return end(k) <= -far || end(k) >= far; };
    Wide least = 0;
    std::size_t none = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (is_none(k))
        ++none;
      else
        least += Wide{sign} * a[k] * end(k);
    }
    if (none > 1) return;
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (!is_open(x[k]) || (none == 1 && !is_none(k))) continue;
      const Wide factor = Wide{sign} * a[k], room = Wide{sign} * c - least + (is_none(k) ? 0 : factor * end(k)), quotient = room / factor;
      const bool inexact = room % factor != 0, negative = (room < 0) != (factor < 0);
      if (factor > 0)
        bound(x[k], -unlimited, quotient - (inexact && negative ? 1 : 0));
      else
        bound(x[k], quotient + (inexact && !negative ? 1 : 0), unlimited);
    }
  }
  [[nodiscard]] Range range(Var x) const {
    const Bounds& b = bounds_[static_cast<std::size_t>(x)];
    return {b.lower <= -far ? -infinity : Wide{b.lower}, b.upper >= far ? infinity : Wide{b.upper}};
  }
  void bound(Var x, Range to) { bound(x, to.low, to.high); }
  /// z is the greatest of x..., or the least.
  void extreme(Var z, std::span<const Var> x, bool greatest) {
    Range all = range(x[0]);
    for (const Var y : x) {
      const Range one = range(y);
      all = greatest ? Range{std::max(all.low, one.low), std::max(all.high, one.high)}
                     : Range{std::min(all.low, one.low), std::min(all.high, one.high)};
    }
    bound(z, all);
  }
  /// x y = z: x. Where neither is 0, z has no less magnitude.
  void factor(Var x, Var y, Var z) {
    const Range c = range(z), b = c.has_zero() ? range(y) : range(y).without_zero();
    if (!c.has_zero() || !b.has_zero()) bound(x, toward_zero(c, b));
  }
  /// z is x / y, truncated.
  void divide(Var x, Var y, Var z) {
    const Range a = range(x), b = range(y).without_zero(), c = range(z), p = product(b, c);
    bound(z, toward_zero(a, b));
    if (!c.has_zero()) bound(y, {-a.greatest(), a.greatest()});
    const Wide rest = b.greatest() - 1;
    bound(x, {p.low > 0 ? p.low : p.low - rest, p.high < 0 ? p.high : p.high + rest});
  }
  /// z is what x / y leaves: it has the sign of x, no more magnitude, and less than y.
  void modulo(Var x, Var y, Var z) {
    const Range a = range(x), c = range(z);
    const Wide most = range(y).greatest() - 1;
    bound(z, {a.low >= 0 ? 0 : std::max(a.low, -most), a.high <= 0 ? 0 : std::min(a.high, most)});
    bound(x, {c.low > 0 ? c.low : -infinity, c.high < 0 ? c.high : infinity});
  }
  /// z is x to the y.
  void power(Var x, Var y, Var z) {
    const Range a = range(x), e = range(y);
    if (a.low >= 0) bound(z, 0, infinity);
    if (e.high <= 0) bound(z, -1, 1);
    const Wide most = range(z).greatest();
    if (e.low >= 1) bound(x, -most, most);
    if (a.low < 2 && a.high > -2) return;
    Wide bits = 0;  // 2 to it is at most `most`
    while (bits < 60 && Wide{2} << static_cast<int>(bits) <= most) ++bits;
    if (most < infinity) bound(y, -infinity, bits);
  }
  /// z is the element at i of y.
  void element(Var i, Var z, std::span<const Var> y) {
    const Range at = range(i);
    const Wide first = std::max<Wide>(at.low, 1), last = std::min<Wide>(at.high, static_cast<std::int64_t>(y.size()));
    if (first > last) return;
    Range all = range(y[static_cast<std::size_t>(first) - 1]);
    for (Wide k = first; k <= last; ++k) {
      const Range one = range(y[static_cast<std::size_t>(k) - 1]);
      all = {std::min(all.low, one.low), std::max(all.high, one.high)};
    }
    bound(z, all);
  }
  /// The rule, where one variable alone is open and each has a value left: rules divide by bounds.
  void attempt(std::uint32_t c) {
    if (failed_) return;
    Var open = -1;
    for (std::size_t k = 0; k < scope(c).arguments.size(); ++k) {
      const Var x = variable(c, k);
      if (!is_open(x) || x == open) continue;
      if (open >= 0) return;
      open = x;
    }
    if (open < 0) return;
    Trial trial(bounds_, open);
    static_cast<void>(rules::propagate_simple(draft_.kind[c], scope(c), trial));
    const Bounds found = trial.own();
    bound(open, found.lower > least_value ? found.lower : -unlimited, found.upper < greatest_value ? found.upper : unlimited);
  }
  /// Of what has no open variable.
  void propagate() {
    Draft core;
    core.domains = draft_.domains;
    for (std::size_t x = 0; x < bounds_.size(); ++x) {
      const std::int64_t ends[] = {bounds_[x].lower, bounds_[x].upper};
      if (bounds_[x].is_open())
        core.domains[x] = {0, 0, {}};
      else
        core.restrict(static_cast<Var>(x), ends);
    }
    for (std::uint32_t c = 0; c < draft_.kind.size(); ++c)
      if (!has_open(c)) core.add(draft_.kind[c], scope(c).arguments, scope(c).data);
    failed_ |= core.failed;
    if (failed_) return;
    const Network network(std::move(core));
    failed_ = network.failed();
    for (std::size_t x = 0; x < bounds_.size(); ++x)
      if (!bounds_[x].is_open()) bounds_[x] = {network.view().lower[x], network.view().upper[x]};
  }

  const Draft& draft_;
  std::vector<Bounds> bounds_;
  std::array<std::deque<std::uint32_t>, 2> queues_;
  std::vector<bool> waits_;
  std::vector<std::vector<std::uint32_t>> of_;  ///< [variable] constraints of those that were open at first
  std::size_t changes_ = 0;
  bool failed_ = false;
};

}  // namespace

Coverage coverage_of(const Draft& draft, Goal goal, Var objective) {
  const auto is_open = [](const Draft::Domain& domain) { return reaches_beyond(domain.lower, domain.upper); };
  if (draft.failed || std::none_of(draft.domains.begin(), draft.domains.end(), is_open)) return {true, true, std::nullopt};
  Closure closure(draft);
  closure.settle();
  const bool all = closure.closed();
  if (all || goal == Goal::satisfy) return {all, all, std::nullopt};
  const std::int64_t best = goal == Goal::minimise ? closure.bounds(objective).lower : closure.bounds(objective).upper;
  if (goal == Goal::minimise)
    closure.bound(objective, -unlimited, greatest_value);
  else
    closure.bound(objective, least_value, unlimited);
  closure.settle();
  return {false, closure.closed(), best > -far && best < far ? std::optional(best) : std::nullopt};
}

}  // namespace vicinity::cp
