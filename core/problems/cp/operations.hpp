#pragma once
// What the operations of an evaluation compute (evaluation.hpp), on host and device.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "core/problems/cp/evaluation.hpp"
#include "core/util/hd.hpp"

namespace vicinity::cp {

__extension__ using Wide = __int128;

namespace operations {

/// What an operation reads.
struct Operands {
  std::span<const std::int32_t> arguments;
  std::span<const std::int64_t> data;
  std::span<const std::int32_t> slots;

  [[nodiscard]] VICINITY_HD std::int64_t operator[](std::size_t k) const { return slots[static_cast<std::size_t>(arguments[k])]; }
  [[nodiscard]] VICINITY_HD std::size_t size() const { return arguments.size(); }
  [[nodiscard]] VICINITY_HD Operands from(std::size_t first, std::size_t count) const {
    return {arguments.subspan(first, count), data, slots};
  }
};

[[nodiscard]] VICINITY_HD Wide sum(const Operands& x) {
  Wide total = 0;
  for (std::size_t k = 0; k < x.size(); ++k) total += Wide{x.data[k + 1]} * x[k];
  return total;
}

[[nodiscard]] VICINITY_HD bool different(const Operands& x) {
  for (std::size_t k = 1; k < x.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (x[j] == x[k]) return false;
  return true;
}

/// x to the y; beyond 32 bits it is only said to be so.
[[nodiscard]] VICINITY_HD std::int64_t power(std::int64_t x, std::int64_t y, bool& valid) {
  if (y < 0) {
    if (x == 0) valid = false;
    return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  }
  if (x == 0 || x == 1 || y == 0) return y == 0 ? 1 : x;
  if (x == -1) return y % 2 == 0 ? 1 : -1;
  std::int64_t result = 1;
  for (; y > 0; --y) {
    result *= x;
    if (result > std::numeric_limits<std::int32_t>::max() || result < std::numeric_limits<std::int32_t>::min())
      return std::int64_t{1} << 40;
  }
  return result;
}

[[nodiscard]] VICINITY_HD bool in_table(const Operands& x) {
  for (std::size_t row = 0; row < x.data.size(); row += x.size()) {
    std::size_t k = 0;
    while (k < x.size() && x[k] == x.data[row + k]) ++k;
    if (k == x.size()) return true;
  }
  return false;
}

[[nodiscard]] VICINITY_HD bool is_circuit(const Operands& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::int64_t at = 0;
  for (std::int64_t length = 1; length <= n; ++length) {
    at = x[static_cast<std::size_t>(at)] - x.data[0];
    if (at < 0 || at >= n || (at == 0) != (length == n)) return false;
  }
  return true;
}

[[nodiscard]] VICINITY_HD bool are_inverse(const Operands& all) {
  const auto n = static_cast<std::size_t>(all.data[0]);
  if (all.size() != 2 * n) return false;
  const Operands f = all.from(0, n), g = all.from(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t j = f[k] - all.data[2];
    if (j < 0 || j >= static_cast<std::int64_t>(n) || g[static_cast<std::size_t>(j)] != static_cast<std::int64_t>(k) + all.data[1])
      return false;
  }
  return true;
}

[[nodiscard]] VICINITY_HD bool have_counts(const Operands& all) {
  const auto n = static_cast<std::size_t>(all.data[0]);
  for (std::size_t v = 0; v + n < all.size(); ++v) {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < n; ++k) count += all[k] == all.data[1 + v] ? 1 : 0;
    if (count != all[n + v]) return false;
  }
  return true;
}

[[nodiscard]] VICINITY_HD bool fits(const Operands& all) {
  const auto n = static_cast<std::size_t>(all.data[0]);
  const Operands start = all.from(0, n), duration = all.from(n, n), use = all.from(2 * n, n);
  for (std::size_t j = 0; j < n; ++j) {
    std::int64_t total = 0;
    for (std::size_t k = 0; k < n; ++k)
      if (start[k] <= start[j] && start[j] < start[k] + duration[k]) total += use[k];
    if (total > all[3 * n]) return false;
  }
  return true;
}

}  // namespace operations

/// The value of an operation; `valid` becomes false where it has none.
[[nodiscard]] VICINITY_HD std::int64_t value_of(const EvaluationView& view, std::int32_t k, std::span<const std::int32_t> slots,
                                                bool& valid) {
  const operations::Operands x{{view.arguments + view.argument_begin[k], view.arguments + view.argument_begin[k + 1]},
                               {view.data + view.data_begin[k], view.data + view.data_begin[k + 1]},
                               slots};
  switch (view.operation[k]) {
    case Operation::sum: {
      const Wide total = x.data[0] + operations::sum(x);
      valid &= total >= least_value && total <= greatest_value;
      return static_cast<std::int64_t>(total);
    }
    case Operation::sum_le:
      return operations::sum(x) <= x.data[0] ? 1 : 0;
    case Operation::sum_eq:
      return operations::sum(x) == x.data[0] ? 1 : 0;
    case Operation::sum_ne:
      return operations::sum(x) != x.data[0] ? 1 : 0;
    case Operation::any:
    case Operation::every: {
      const bool stop_at = view.operation[k] == Operation::any;
      for (std::size_t j = 0; j < x.size(); ++j)
        if ((x[j] == x.data[j]) == stop_at) return stop_at ? 1 : 0;
      return stop_at ? 0 : 1;
    }
    case Operation::odd: {
      std::int64_t ones = 0;
      for (std::size_t j = 0; j < x.size(); ++j) ones += x[j];
      return ones % 2;
    }
    case Operation::member:
      for (std::size_t j = 0; j < x.data.size(); j += 2)
        if (x.data[j] <= x[0] && x[0] <= x.data[j + 1]) return 1;
      return 0;
    case Operation::times:
      return x[0] * x[1];
    case Operation::divide:
      return x[1] == 0 ? (valid = false) : x[0] / x[1];
    case Operation::modulo:
      return x[1] == 0 ? (valid = false) : x[0] % x[1];
    case Operation::power:
      return operations::power(x[0], x[1], valid);
    case Operation::absolute:
      return x[0] < 0 ? -x[0] : x[0];
    case Operation::maximum:
    case Operation::minimum: {
      std::int64_t best = x[0];
      for (std::size_t j = 1; j < x.size(); ++j)
        best = view.operation[k] == Operation::maximum ? std::max(best, x[j]) : std::min(best, x[j]);
      return best;
    }
    case Operation::element: {
      const std::int64_t i = x[0];
      if (i < 1 || i >= static_cast<std::int64_t>(x.size())) return valid = false;
      return x[static_cast<std::size_t>(i)];
    }
    case Operation::different:
      return operations::different(x) ? 1 : 0;
    case Operation::table:
      return operations::in_table(x) ? 1 : 0;
    case Operation::circuit:
      return operations::is_circuit(x) ? 1 : 0;
    case Operation::inverse:
      return operations::are_inverse(x) ? 1 : 0;
    case Operation::cardinality:
      return operations::have_counts(x) ? 1 : 0;
    case Operation::cumulative:
      return operations::fits(x) ? 1 : 0;
  }
  return valid = false;
}

}  // namespace vicinity::cp
