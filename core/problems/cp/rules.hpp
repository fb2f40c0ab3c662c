#pragma once
// Propagation rules of logic, arithmetic, linear sums and elements; global constraints are in global_rules.hpp. Each takes a constraint's
// scope and a store, removes values that no solution of the constraint has, and returns false when none is left. Rules look at the store
// alone, so they can be called in any order, on host and device, and repeated until nothing changes.
//
// Rules of this file may run side by side on a store that others make smaller meanwhile: what they conclude follows from what was absent
// when they looked, and that stays absent. So what decides together is read once.
//
// All of them are monotone: from a smaller store they never leave more. When all arguments are fixed they fail unless the constraint holds.
// Sums and linear relations are bounds consistent over the reals with integer rounding; binary relations and elements use holes as well.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/problems/cp/network.hpp"
#include "core/problems/cp/store.hpp"
#include "core/util/hd.hpp"

namespace vicinity::cp::rules {

[[nodiscard]] VICINITY_HD constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
[[nodiscard]] VICINITY_HD constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q + ((a % b != 0 && (a < 0) == (b < 0)) ? 1 : 0);
}

struct Interval {
  std::int64_t low, high;
  [[nodiscard]] VICINITY_HD constexpr bool has(std::int64_t v) const { return low <= v && v <= high; }
  /// The least and the greatest magnitude.
  [[nodiscard]] VICINITY_HD constexpr std::int64_t least() const { return low > 0 ? low : high < 0 ? -high : 0; }
  [[nodiscard]] VICINITY_HD constexpr std::int64_t greatest() const { return std::max(high, -low); }
};
template <class S>
[[nodiscard]] VICINITY_HD Interval bounds(const S& store, Var x) {
  return {store.lower(x), store.upper(x)};
}
template <class S>
[[nodiscard]] VICINITY_HD bool is_fixed(const S& store, Var x) {
  return store.lower(x) == store.upper(x);
}
template <class S>
[[nodiscard]] VICINITY_HD bool within(S& store, Var x, std::int64_t low, std::int64_t high) {
  return store.raise(x, low) && store.cut(x, high);
}

// --- logic

template <class S>
[[nodiscard]] VICINITY_HD bool clause(std::span<const std::int32_t> literals, S& store) {
  Literal open = -1;
  for (const Literal l : literals) {
    if (is_false(store, l) || l == open) continue;
    if (open >= 0 || is_true(store, l)) return true;
    open = l;
  }
  return open >= 0 && set_true(store, open);
}

template <class S>
[[nodiscard]] VICINITY_HD bool clause_reif(const Scope& scope, S& store) {
  const Literal r = scope.arguments[0];
  const auto literals = scope.arguments.subspan(1);
  if (is_false(store, r)) {
    for (const Literal l : literals)
      if (!set_false(store, l)) return false;
    return true;
  }
  if (is_true(store, r)) return clause(literals, store);
  bool open = false;
  for (const Literal l : literals) {
    if (is_true(store, l)) return set_true(store, r);
    open |= !is_false(store, l);
  }
  return open || set_false(store, r);
}

template <class S>
[[nodiscard]] VICINITY_HD bool parity(std::span<const std::int32_t> literals, S& store) {
  bool odd = false;
  Literal open = -1;
  for (const Literal l : literals) {
    if (is_true(store, l)) {
      odd = !odd;
    } else if (!is_false(store, l)) {
      if (open >= 0) return true;
      open = l;
    }
  }
  if (open < 0) return odd;
  return odd ? set_false(store, open) : set_true(store, open);
}

// --- a literal and one variable

template <class S>
[[nodiscard]] VICINITY_HD bool at_most(const Scope& scope, S& store) {
  const Literal l = scope.arguments[0];
  const Var x = scope.arguments[1];
  const std::int64_t c = scope.data[0];
  if (is_true(store, l)) return store.cut(x, c);
  if (is_false(store, l)) return store.raise(x, c + 1);
  if (store.upper(x) <= c) return set_true(store, l);
  return store.lower(x) <= c || set_false(store, l);
}

template <class S>
[[nodiscard]] VICINITY_HD bool equals(const Scope& scope, S& store) {
  const Literal l = scope.arguments[0];
  const Var x = scope.arguments[1];
  const std::int64_t c = scope.data[0];
  if (is_true(store, l)) return store.assign(x, c);
  if (is_false(store, l)) return store.remove(x, c);
  if (!store.contains(x, c)) return set_false(store, l);
  if (!is_fixed(store, x)) return true;
  return store.lower(x) == c ? set_true(store, l) : set_false(store, l);
}

/// Removes the values from low to high; of bounds only, as far as they are at an end.
template <class S>
[[nodiscard]] VICINITY_HD bool exclude(S& store, Var x, std::int64_t low, std::int64_t high) {
  if (low > high) return true;
  if (low <= store.lower(x) && !(high < store.lower(x) || store.raise(x, high + 1))) return false;
  if (high >= store.upper(x) && !(low > store.upper(x) || store.cut(x, low - 1))) return false;
  if (!store.masked(x)) return true;
  const std::int64_t last = std::min(high, store.upper(x));
  for (std::int64_t v = std::max(low, store.lower(x)); v <= last; ++v)
    if (!store.remove(x, v)) return false;
  return true;
}

template <class S>
[[nodiscard]] VICINITY_HD bool member(const Scope& scope, S& store) {
  const Literal l = scope.arguments[0];
  const Var x = scope.arguments[1];
  const auto intervals = scope.data;
  if (is_true(store, l)) {
    if (intervals.empty() || !within(store, x, intervals.front(), intervals.back())) return false;
    for (int round = 0; round < 2; ++round)  // a gap at an end may open the next one
      for (std::size_t k = 2; k < intervals.size(); k += 2) {
        const std::size_t gap = round == 0 ? k : intervals.size() - k;
        if (!exclude(store, x, intervals[gap - 1] + 1, intervals[gap] - 1)) return false;
      }
    return true;
  }
  if (is_false(store, l)) {
    for (int round = 0; round < 2; ++round)
      for (std::size_t k = 0; k < intervals.size(); k += 2) {
        const std::size_t one = round == 0 ? k : intervals.size() - 2 - k;
        if (!exclude(store, x, intervals[one], intervals[one + 1])) return false;
      }
    return true;
  }
  bool some = false, all = true;  // of the domain are in the intervals
  std::int64_t v = store.lower(x);
  const std::int64_t last = store.upper(x);
  for (std::size_t k = 0; k < intervals.size() && v <= last; k += 2) {
    if (intervals[k + 1] < v) continue;
    if (v < intervals[k]) all = false;
    if (intervals[k] > last) break;
    v = std::max(v, intervals[k]);
    if (store.masked(x)) v = store.next(x, v);
    if (v <= intervals[k + 1]) some = true;
    if (intervals[k + 1] >= last) {
      v = last + 1;
      break;
    }
    v = std::max(v, intervals[k + 1] + 1);
    if (store.masked(x)) v = store.next(x, v);
  }
  if (v <= last) all = false;
  if (!some) return set_false(store, l);
  return !all || set_true(store, l);
}

// --- a condition and two variables

template <class S>
[[nodiscard]] VICINITY_HD bool le(const Scope& scope, S& store) {
  const Literal r = scope.arguments[0];
  if (is_false(store, r)) return true;
  const Var x = scope.arguments[1], y = scope.arguments[2];
  const std::int64_t c = scope.data[0];
  if (store.lower(x) - store.upper(y) > c) return set_false(store, r);
  if (!is_true(store, r)) return true;
  return store.cut(x, store.upper(y) + c) && store.raise(y, store.lower(x) - c);
}

template <class S>
[[nodiscard]] VICINITY_HD bool ne(const Scope& scope, S& store) {
  const Literal r = scope.arguments[0];
  if (is_false(store, r)) return true;
  const Var x = scope.arguments[1], y = scope.arguments[2];
  const std::int64_t c = scope.data[0];
  const bool fixed_x = is_fixed(store, x), fixed_y = is_fixed(store, y);
  if (fixed_x && fixed_y) return store.lower(x) - store.lower(y) != c || set_false(store, r);
  if (x == y) return c != 0 || set_false(store, r);
  if (!is_true(store, r)) return true;
  if (fixed_x) return store.remove(y, store.lower(x) - c);
  return !fixed_y || store.remove(x, store.lower(y) + c);
}

/// Does x = y + c have a solution?
template <class S>
[[nodiscard]] VICINITY_HD bool overlap(const S& store, Var x, Var y, std::int64_t c) {
  const std::int64_t low = std::max(store.lower(x), store.lower(y) + c), high = std::min(store.upper(x), store.upper(y) + c);
  if (!store.masked(x) || !store.masked(y)) {
    if (low < high) return true;  // of one at least all values between the bounds count, unless both ends are holes of the other
    return low == high && store.contains(x, low) && store.contains(y, low - c);
  }
  for (std::int64_t v = low; v <= high; ++v) {
    v = store.next(x, v);
    if (v > high) return false;
    if (store.contains(y, v - c)) return true;
  }
  return false;
}

/// Keeps of x what is y + c for an element of y.
template <class S>
[[nodiscard]] VICINITY_HD bool follow(S& store, Var x, Var y, std::int64_t c) {
  if (!within(store, x, store.lower(y) + c, store.upper(y) + c)) return false;
  if (!store.masked(y)) return true;
  for (std::int64_t v = store.lower(x); !store.contains(y, v - c); v = store.lower(x))
    if (!store.raise(x, v + 1)) return false;
  for (std::int64_t v = store.upper(x); !store.contains(y, v - c); v = store.upper(x))
    if (!store.cut(x, v - 1)) return false;
  if (!store.masked(x)) return true;
  for (std::int64_t v = store.lower(x); v < store.upper(x); ++v) {
    v = store.next(x, v);
    if (!store.contains(y, v - c) && !store.remove(x, v)) return false;
  }
  return true;
}

template <class S>
[[nodiscard]] VICINITY_HD bool eq(const Scope& scope, S& store) {
  const Literal r = scope.arguments[0];
  if (is_false(store, r)) return true;
  const Var x = scope.arguments[1], y = scope.arguments[2];
  const std::int64_t c = scope.data[0];
  if (x == y) return c == 0 || set_false(store, r);
  if (!overlap(store, x, y, c)) return set_false(store, r);
  return !is_true(store, r) || (follow(store, x, y, c) && follow(store, y, x, -c));
}

// --- arithmetic

template <class S>
[[nodiscard]] VICINITY_HD bool absolute(const Scope& scope, S& store) {
  const Var x = scope.arguments[0], z = scope.arguments[1];
  const Interval a = bounds(store, x);
  if (!within(store, z, a.least(), a.greatest())) return false;
  if (!within(store, x, -store.upper(z), store.upper(z))) return false;
  if (!exclude(store, x, 1 - store.lower(z), store.lower(z) - 1)) return false;
  if (store.masked(x))
    for (std::int64_t v = store.lower(x); v <= store.upper(x); ++v) {
      v = store.next(x, v);
      if (!store.contains(z, v < 0 ? -v : v) && !store.remove(x, v)) return false;
    }
  if (store.masked(z))
    for (std::int64_t v = store.lower(z); v <= store.upper(z); ++v) {
      v = store.next(z, v);
      if (!store.contains(x, v) && !store.contains(x, -v) && !store.remove(z, v)) return false;
    }
  return !is_fixed(store, x) || store.assign(z, store.lower(x) < 0 ? -store.lower(x) : store.lower(x));
}

/// The products of two intervals; magnitudes of their ends are at most 2^31.
[[nodiscard]] VICINITY_HD constexpr Interval product(Interval a, Interval b) {
  const std::int64_t p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
  return {std::min(std::min(p, q), std::min(r, s)), std::max(std::max(p, q), std::max(r, s))};
}
/// z less its 0 at an end.
[[nodiscard]] VICINITY_HD constexpr Interval without_zero(Interval z) { return {z.low == 0 ? 1 : z.low, z.high == 0 ? -1 : z.high}; }

/// x y = z: what z and y leave of x.
template <class S>
[[nodiscard]] VICINITY_HD bool quotient(S& store, Var x, Var y, Var z) {
  const Interval p = bounds(store, z);
  if (p.has(0) && bounds(store, y).has(0)) return true;
  if (!p.has(0) && (!store.remove(y, 0) || !store.remove(x, 0))) return false;
  const Interval b = bounds(store, y);
  if (b.has(0)) return within(store, x, -p.greatest(), p.greatest());  // no 0 in z: |y| >= 1
  // No 0 in y: the quotients lie between those of the ends.
  const std::int64_t low = std::min(std::min(ceil_divide(p.low, b.low), ceil_divide(p.low, b.high)),
                                    std::min(ceil_divide(p.high, b.low), ceil_divide(p.high, b.high)));
  const std::int64_t high = std::max(std::max(floor_divide(p.low, b.low), floor_divide(p.low, b.high)),
                                     std::max(floor_divide(p.high, b.low), floor_divide(p.high, b.high)));
  return within(store, x, low, high);
}

/// The greatest whole number whose square is at most v, which is below 2^31; of what is negative: 0.
[[nodiscard]] VICINITY_HD constexpr std::int64_t root_of(std::int64_t v) {
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 15; bit > 0; bit /= 2)
    if ((root + bit) * (root + bit) <= v) root += bit;
  return root;
}
template <class S>
[[nodiscard]] VICINITY_HD bool times(const Scope& scope, S& store) {
  const Var x = scope.arguments[0], y = scope.arguments[1], z = scope.arguments[2];
  const Interval a = bounds(store, x), p = product(a, bounds(store, y));
  if (x == y) {  // |x| lies between the roots of the bounds of z
    if (!within(store, z, std::max(p.low, a.least() * a.least()), p.high)) return false;
    const std::int64_t low = store.lower(z), least = root_of(low), most = root_of(store.upper(z));
    const std::int64_t inside = least * least == low ? least - 1 : least;
    return within(store, x, -most, most) && exclude(store, x, -inside, inside);
  }
  return within(store, z, p.low, p.high) && quotient(store, x, y, z) && quotient(store, y, x, z);
}

template <class S>
[[nodiscard]] VICINITY_HD bool divide(const Scope& scope, S& store) {
  const Var x = scope.arguments[0], y = scope.arguments[1], z = scope.arguments[2];
  if (!store.remove(y, 0)) return false;
  const Interval a = bounds(store, x), b = bounds(store, y);
  if (b.has(0)) {
    if (!within(store, z, -a.greatest(), a.greatest())) return false;
    if (b.low == b.high) return false;
  } else {
    const std::int64_t p = a.low / b.low, q = a.low / b.high, r = a.high / b.low, s = a.high / b.high;
    std::int64_t low = std::min(std::min(p, q), std::min(r, s)), high = std::max(std::max(p, q), std::max(r, s));
    if (a.has(0)) {
      low = std::min<std::int64_t>(low, 0);
      high = std::max<std::int64_t>(high, 0);
    }
    if (!within(store, z, low, high)) return false;
  }
  // x = y z + remainder, which has the sign of x and less magnitude than y.
  const Interval c = bounds(store, z), p = product(b, c);
  const std::int64_t slack = b.greatest() - 1;
  if (!within(store, x, p.low > 0 ? p.low : p.low - slack, p.high < 0 ? p.high : p.high + slack)) return false;
  if (c.least() > 0 && !within(store, y, -(a.greatest() / c.least()), a.greatest() / c.least())) return false;
  const std::int64_t least = a.least() / (c.greatest() + 1);  // |x| < (|z| + 1) |y|
  return exclude(store, y, -least, least);
}

template <class S>
[[nodiscard]] VICINITY_HD bool modulo(const Scope& scope, S& store) {
  const Var x = scope.arguments[0], y = scope.arguments[1], z = scope.arguments[2];
  if (!store.remove(y, 0)) return false;
  const Interval a = bounds(store, x), b = bounds(store, y);
  const std::int64_t most = std::min(b.greatest() - 1, a.greatest());
  if (!within(store, z, a.low >= 0 ? 0 : -most, a.high <= 0 ? 0 : most)) return false;
  if (store.lower(z) > 0 && !store.raise(x, store.lower(z))) return false;
  if (store.upper(z) < 0 && !store.cut(x, store.upper(z))) return false;
  const std::int64_t larger = bounds(store, z).least();
  if (larger > 0 && !exclude(store, y, -larger, larger)) return false;
  if (!is_fixed(store, y)) return true;
  const std::int64_t d = store.lower(y);
  if (d == 0) return false;
  const std::int64_t low = store.lower(x) / d, high = store.upper(x) / d;
  if (low == high) {
    const std::int64_t base = low * d;  // the same quotient for all of x
    if (!within(store, z, store.lower(x) - base, store.upper(x) - base)) return false;
    if (!within(store, x, store.lower(z) + base, store.upper(z) + base)) return false;
  }
  if (!store.masked(x)) return true;
  for (std::int64_t v = store.lower(x); v <= store.upper(x); ++v) {
    v = store.next(x, v);
    if (!store.contains(z, v % d) && !store.remove(x, v)) return false;
  }
  return true;
}

/// What stands for powers that leave the range of values.
inline constexpr std::int64_t huge = std::int64_t{1} << 62;

/// base^exponent, exponent >= 0, held at +-huge.
[[nodiscard]] VICINITY_HD constexpr std::int64_t power_of(std::int64_t base, std::int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (result > huge / (base < 0 ? -base : base) || -result > huge / (base < 0 ? -base : base)) {
      const bool negative = (result < 0) != (base < 0 && exponent % 2 == 1);
      return negative ? -huge : huge;
    }
    result *= base;
  }
  return result;
}

template <class S>
[[nodiscard]] VICINITY_HD bool power(const Scope& scope, S& store) {
  const Var x = scope.arguments[0], y = scope.arguments[1], z = scope.arguments[2];
  if (store.upper(y) < 0 && !store.remove(x, 0)) return false;
  if (store.lower(x) == 0 && store.upper(x) == 0 && !store.raise(y, 0)) return false;
  const Interval a = bounds(store, x), e = bounds(store, y);
  const bool fixed_exponent = e.low == e.high;
  if (a.low == a.high && fixed_exponent) {
    if (e.low >= 0) return store.assign(z, power_of(a.low, e.low));
    if (a.low == 0) return false;
    const std::int64_t below = power_of(a.low, -e.low);
    return store.assign(z, 1 / below);
  }
  if (e.low < 0)
    return within(store, z, -std::max<std::int64_t>(1, power_of(a.greatest(), std::max<std::int64_t>(e.high, 0))),
                  std::max<std::int64_t>(1, power_of(a.greatest(), std::max<std::int64_t>(e.high, 0))));
  if (a.low >= 0) {
    const std::int64_t low = a.low == 0 ? (e.high == 0 ? 1 : 0) : power_of(a.low, e.low);
    const std::int64_t high = a.high == 0 ? (e.low == 0 ? 1 : 0) : power_of(a.high, e.high);
    if (!within(store, z, low, std::max<std::int64_t>(high, e.low == 0 ? 1 : high))) return false;
  } else {
    const std::int64_t most = std::max<std::int64_t>(power_of(a.greatest(), e.high), 1);
    const bool even = fixed_exponent && e.low % 2 == 0, odd = fixed_exponent && e.low % 2 != 0;
    if (!within(store, z, even ? 0 : odd ? power_of(a.low, e.low) : -most, odd ? power_of(a.high, e.low) : most)) return false;
  }
  if (!fixed_exponent || e.low <= 0) return true;
  // A fixed exponent: ends of x whose power lies beyond z.
  const bool odd = e.low % 2 != 0;
  std::int64_t root = 1;  // the least whose power is above the greatest magnitude of z
  const std::int64_t most = bounds(store, z).greatest();
  std::int64_t beyond = std::int64_t{1} << 32;
  while (root < beyond) {
    const std::int64_t middle = root + (beyond - root) / 2;
    if (power_of(middle, e.low) > most)
      beyond = middle;
    else
      root = middle + 1;
  }
  if (!within(store, x, 1 - root, root - 1)) return false;
  if (odd && store.lower(z) >= 0 && !store.raise(x, 0)) return false;
  return !(odd && store.upper(z) <= 0) || store.cut(x, 0);
}

/// The greatest of x...: sign 1; the least: sign -1, by the same rule on negated bounds.
template <class S>
[[nodiscard]] VICINITY_HD bool extreme(const Scope& scope, S& store, int sign) {
  const auto high = [&](Var x) { return sign > 0 ? store.upper(x) : -store.lower(x); };
  const auto low = [&](Var x) { return sign > 0 ? store.lower(x) : -store.upper(x); };
  const auto at_most = [&](Var x, std::int64_t v) { return sign > 0 ? store.cut(x, v) : store.raise(x, -v); };
  const auto at_least = [&](Var x, std::int64_t v) { return sign > 0 ? store.raise(x, v) : store.cut(x, -v); };
  const Var z = scope.arguments[0];
  const auto all = scope.arguments.subspan(1);
  std::int64_t greatest = high(all[0]), least = low(all[0]);
  for (const Var x : all) {
    greatest = std::max(greatest, high(x));
    least = std::max(least, low(x));
  }
  if (!at_most(z, greatest) || !at_least(z, least)) return false;
  const std::int64_t top = high(z), bottom = low(z);
  Var only = -1;
  int candidates = 0;
  for (const Var x : all) {
    if (!at_most(x, top)) return false;
    if (high(x) >= bottom && x != only) {
      ++candidates;
      only = x;
    }
  }
  if (candidates == 0) return false;
  return candidates > 1 || at_least(only, bottom);
}

// --- linear sums: a condition, coefficients and variables

struct Sums {
  std::int64_t low, high, widest;  ///< of a term, how much it can vary
};
template <class S>
[[nodiscard]] VICINITY_HD Sums sums_of(std::span<const std::int32_t> x, std::span<const std::int64_t> a, const S& store) {
  Sums sums{0, 0, 0};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t at_lower = a[k] * store.lower(x[k]), at_upper = a[k] * store.upper(x[k]);
    const std::int64_t low = std::min(at_lower, at_upper), high = std::max(at_lower, at_upper);
    sums.low += low;
    sums.high += high;
    sums.widest = std::max(sums.widest, high - low);
  }
  return sums;
}

/// Sum of a x <= c, given how much it can still grow.
template <class S>
[[nodiscard]] VICINITY_HD bool cut_terms(std::span<const std::int32_t> x, std::span<const std::int64_t> a, std::int64_t slack, S& store) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t lower = store.lower(x[k]), upper = store.upper(x[k]);
    if (a[k] > 0) {
      if (a[k] * (upper - lower) > slack && !store.cut(x[k], lower + slack / a[k])) return false;
    } else if (-a[k] * (upper - lower) > slack) {
      if (!store.raise(x[k], upper - slack / -a[k])) return false;
    }
  }
  return true;
}
/// Sum of a x >= c, given how much it can still fall.
template <class S>
[[nodiscard]] VICINITY_HD bool raise_terms(std::span<const std::int32_t> x, std::span<const std::int64_t> a, std::int64_t slack, S& store) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::int64_t lower = store.lower(x[k]), upper = store.upper(x[k]);
    if (a[k] > 0) {
      if (a[k] * (upper - lower) > slack && !store.raise(x[k], upper - slack / a[k])) return false;
    } else if (-a[k] * (upper - lower) > slack) {
      if (!store.cut(x[k], lower + slack / -a[k])) return false;
    }
  }
  return true;
}

template <class S>
[[nodiscard]] VICINITY_HD bool linear_le(const Scope& scope, S& store) {
  const Literal r = scope.arguments[0];
  if (is_false(store, r)) return true;
  const auto x = scope.arguments.subspan(1);
  const auto a = scope.data.subspan(1);
  const Sums sums = sums_of(x, a, store);
  const std::int64_t slack = scope.data[0] - sums.low;
  if (slack < 0) return set_false(store, r);
  return !is_true(store, r) || sums.widest <= slack || cut_terms(x, a, slack, store);
}

template <class S>
[[nodiscard]] VICINITY_HD bool linear_eq(const Scope& scope, S& store) {
  const Literal r = scope.arguments[0];
  if (is_false(store, r)) return true;
  const auto x = scope.arguments.subspan(1);
  const auto a = scope.data.subspan(1);
  const std::int64_t c = scope.data[0];
  Sums sums = sums_of(x, a, store);
  if (sums.low > c || sums.high < c) return set_false(store, r);
  if (!is_true(store, r)) return true;
  if (sums.widest > c - sums.low) {
    if (!cut_terms(x, a, c - sums.low, store)) return false;
    sums = sums_of(x, a, store);
  }
  return sums.high >= c && (sums.widest <= sums.high - c || raise_terms(x, a, sums.high - c, store));
}

template <class S>
[[nodiscard]] VICINITY_HD bool linear_ne(const Scope& scope, S& store) {
  const Literal r = scope.arguments[0];
  if (is_false(store, r)) return true;
  const auto x = scope.arguments.subspan(1);
  const auto a = scope.data.subspan(1);
  std::int64_t rest = scope.data[0];
  std::size_t open = x.size();
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (is_fixed(store, x[k])) {
      rest -= a[k] * store.lower(x[k]);
    } else {
      if (open != x.size()) return true;
      open = k;
    }
  }
  if (open == x.size()) return rest != 0 || set_false(store, r);
  return !is_true(store, r) || rest % a[open] != 0 || store.remove(x[open], rest / a[open]);
}

// --- elements

/// Keeps the indices for which `fits`, and calls `keep` for the others' values.
template <class S, class Fits>
[[nodiscard]] VICINITY_HD bool filter_index(S& store, Var i, const Fits& fits) {
  for (std::int64_t k = store.lower(i); !fits(k); k = store.lower(i))
    if (!store.raise(i, k + 1)) return false;
  for (std::int64_t k = store.upper(i); !fits(k); k = store.upper(i))
    if (!store.cut(i, k - 1)) return false;
  if (!store.masked(i)) return true;
  for (std::int64_t k = store.lower(i); k < store.upper(i); ++k) {
    k = store.next(i, k);
    if (!fits(k) && !store.remove(i, k)) return false;
  }
  return true;
}

template <class S>
[[nodiscard]] VICINITY_HD bool element(const Scope& scope, S& store) {
  const Var i = scope.arguments[0], z = scope.arguments[1];
  const auto v = scope.data;
  const auto at = [&](std::int64_t k) { return v[static_cast<std::size_t>(k - 1)]; };
  if (!within(store, i, 1, static_cast<std::int64_t>(v.size()))) return false;
  if (!filter_index(store, i, [&](std::int64_t k) { return store.contains(z, at(k)); })) return false;
  std::int64_t low = at(store.lower(i)), high = low;
  for (std::int64_t k = store.lower(i); k <= store.upper(i); ++k) {
    k = store.next(i, k);
    if (!store.contains(z, at(k))) continue;  // a hole that bounds cannot tell
    low = std::min(low, at(k));
    high = std::max(high, at(k));
  }
  if (!within(store, z, low, high)) return false;
  if (!store.masked(z)) return true;
  std::uint64_t seen[most_masked / 64] = {};  // of the values from the lower bound of z on
  const std::int64_t first = store.lower(z), last = store.upper(z);
  for (std::int64_t k = store.lower(i); k <= store.upper(i); ++k) {
    k = store.next(i, k);
    const std::int64_t w = at(k) - first;
    if (w >= 0 && w <= last - first) seen[w / 64] |= std::uint64_t{1} << (w % 64);
  }
  for (std::int64_t w = first; w <= last; ++w) {
    w = store.next(z, w);
    if ((seen[(w - first) / 64] >> ((w - first) % 64) & 1) == 0 && !store.remove(z, w)) return false;
  }
  return true;
}

/// The elements of a matrix in the rows and columns that are left: visit(v) until that is false.
template <class S, class Visit>
VICINITY_HD void visit_matrix(const Scope& scope, const S& store, const Visit& visit) {
  const Var x = scope.arguments[0], y = scope.arguments[1];
  const std::int64_t first_y = scope.data[1], columns = scope.data[2];
  for (std::int64_t row = store.lower(x); row <= store.upper(x); ++row) {
    row = store.next(x, row);
    const std::int64_t* const v = scope.data.data() + 3 + (row - scope.data[0]) * columns;
    for (std::int64_t column = store.lower(y); column <= store.upper(y); ++column) {
      column = store.next(y, column);
      if (!visit(v[column - first_y])) return;
    }
  }
}

/// Domain consistent where all three have masks. A row or a column stays with the first support that it has, so that full passes are rare.
template <class S>
[[nodiscard]] VICINITY_HD bool element_matrix(const Scope& scope, S& store) {
  const Var x = scope.arguments[0], y = scope.arguments[1], z = scope.arguments[2];
  const std::int64_t first_x = scope.data[0], first_y = scope.data[1], columns = scope.data[2];
  const auto rows = static_cast<std::int64_t>(scope.data.size() - 3) / columns;
  if (!within(store, x, first_x, first_x + rows - 1) || !within(store, y, first_y, first_y + columns - 1)) return false;
  const auto holds = [&](std::int64_t row, std::int64_t column) {
    return store.contains(z, scope.data[static_cast<std::size_t>(3 + (row - first_x) * columns + column - first_y)]);
  };
  const auto row_fits = [&](std::int64_t row) {
    for (std::int64_t column = store.lower(y); column <= store.upper(y); ++column) {
      column = store.next(y, column);
      if (holds(row, column)) return true;
    }
    return false;
  };
  const auto column_fits = [&](std::int64_t column) {
    for (std::int64_t row = store.lower(x); row <= store.upper(x); ++row) {
      row = store.next(x, row);
      if (holds(row, column)) return true;
    }
    return false;
  };
  if (!filter_index(store, x, row_fits) || !filter_index(store, y, column_fits)) return false;
  const std::int64_t first = store.lower(z), last = store.upper(z);
  if (!store.masked(z)) {
    std::int64_t low = last + 1, high = first - 1;
    visit_matrix(scope, store, [&](std::int64_t v) {
      if (first <= v && v <= last) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
      return low > first || high < last;
    });
    return within(store, z, low, high);
  }
  std::uint64_t seen[most_masked / 64] = {};  // of the values from the lower bound of z on
  std::int64_t open = 0;                      // elements not met yet
  for (std::int64_t v = first; v <= last; ++v) {
    v = store.next(z, v);
    ++open;
  }
  visit_matrix(scope, store, [&](std::int64_t v) {
    if (v < first || v > last || !store.contains(z, v)) return true;
    const auto w = static_cast<std::size_t>(v - first);
    if ((seen[w / 64] >> (w % 64) & 1) == 0) --open;
    seen[w / 64] |= std::uint64_t{1} << (w % 64);
    return open > 0;
  });
  if (open == 0) return true;
  for (std::int64_t v = first; v <= last; ++v) {
    v = store.next(z, v);
    if ((seen[(v - first) / 64] >> ((v - first) % 64) & 1) == 0 && !store.remove(z, v)) return false;
  }
  return true;
}

template <class S>
[[nodiscard]] VICINITY_HD bool element_var(const Scope& scope, S& store) {
  const Var i = scope.arguments[0], z = scope.arguments[1];
  const auto y = scope.arguments.subspan(2);
  const auto at = [&](std::int64_t k) { return y[static_cast<std::size_t>(k - 1)]; };
  if (!within(store, i, 1, static_cast<std::int64_t>(y.size()))) return false;
  if (!filter_index(store, i, [&](std::int64_t k) { return at(k) == z || overlap(store, at(k), z, 0); })) return false;
  if (is_fixed(store, i)) {
    const Var x = at(store.lower(i));
    return x == z || (follow(store, x, z, 0) && follow(store, z, x, 0));
  }
  std::int64_t low = store.lower(at(store.lower(i))), high = store.upper(at(store.lower(i)));
  for (std::int64_t k = store.lower(i); k <= store.upper(i); ++k) {
    k = store.next(i, k);
    low = std::min(low, store.lower(at(k)));
    high = std::max(high, store.upper(at(k)));
  }
  if (!within(store, z, low, high)) return false;
  return true;
}

/// A constraint of a kind up to element_var.
template <class S>
[[nodiscard]] VICINITY_HD bool propagate_simple(Kind kind, const Scope& scope, S& store) {
  switch (kind) {
    case Kind::at_most:
      return at_most(scope, store);
    case Kind::equals:
      return equals(scope, store);
    case Kind::clause:
      return clause(scope.arguments, store);
    case Kind::clause_reif:
      return clause_reif(scope, store);
    case Kind::le:
      return le(scope, store);
    case Kind::ne:
      return ne(scope, store);
    case Kind::eq:
      return eq(scope, store);
    case Kind::member:
      return member(scope, store);
    case Kind::parity:
      return parity(scope.arguments, store);
    case Kind::absolute:
      return absolute(scope, store);
    case Kind::times:
      return times(scope, store);
    case Kind::divide:
      return divide(scope, store);
    case Kind::modulo:
      return modulo(scope, store);
    case Kind::power:
      return power(scope, store);
    case Kind::maximum:
      return extreme(scope, store, 1);
    case Kind::minimum:
      return extreme(scope, store, -1);
    case Kind::linear_le:
      return linear_le(scope, store);
    case Kind::linear_eq:
      return linear_eq(scope, store);
    case Kind::linear_ne:
      return linear_ne(scope, store);
    case Kind::element:
      return element(scope, store);
    case Kind::element_matrix:
      return element_matrix(scope, store);
    case Kind::element_var:
      return element_var(scope, store);
    default:
      return false;
  }
}

}  // namespace vicinity::cp::rules
