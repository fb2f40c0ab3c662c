#include "core/methods/lns/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace vicinity::lns {
namespace {

using cp::Kind;
using cp::Literal;
using cp::Var;
__extension__ using Wide = __int128;

/// Of the tableau, and additions of all pivots together.
constexpr std::size_t most_entries = std::size_t{1} << 22, most_additions = 300'000'000;
constexpr double tolerance = 1e-7, least_pivot = 1e-7;
/// Bounds beyond it make numbers too large to reckon with.
constexpr std::int64_t most_bound = std::int64_t{1} << 31;

/// Sum of a x <= most; equal: = most.
struct Row {
  std::vector<std::pair<Var, std::int64_t>> terms;
  std::int64_t most = 0;
  bool equal = false;
};

class Rows {
 public:
  explicit Rows(const cp::Network& network) : view_(network.view()) {
    for (std::int32_t c = 0; c < view_.constraints; ++c) add(c);
  }
  [[nodiscard]] const std::vector<Row>& all() const { return rows_; }

 private:
  void add(std::int32_t c) {
    const cp::Scope scope = cp::scope_of(view_, c);
    const auto& x = scope.arguments;
    const auto& data = scope.data;
    Row row;
    switch (view_.kind[c]) {
      case Kind::linear_le:
      case Kind::linear_eq:
        for (std::size_t k = 1; k < x.size(); ++k) row.terms.emplace_back(x[k], data[k]);
        return implied(std::move(row), x[0], data[0], view_.kind[c] == Kind::linear_eq);
      case Kind::le:
      case Kind::eq:
        row.terms = {{x[1], 1}, {x[2], -1}};
        return implied(std::move(row), x[0], data[0], view_.kind[c] == Kind::eq);
      case Kind::at_most:  // l -> x <= c, not l -> -x <= -c - 1
        row.terms = {{x[1], 1}};
        implied(row, x[0], data[0], false);
        row.terms = {{x[1], -1}};
        return implied(std::move(row), cp::negated(x[0]), -data[0] - 1, false);
      case Kind::clause:
        for (const Literal l : x) literal(row, l, -1);
        --row.most;
        return keep(std::move(row));
      case Kind::clause_reif:
        literal(row, x[0], 1);
        for (const Literal l : x.subspan(1)) {
          literal(row, l, -1);
          Row one;
          literal(one, l, 1);
          literal(one, x[0], -1);
          keep(std::move(one));
        }
        return keep(std::move(row));
      case Kind::maximum:
      case Kind::minimum:
        for (std::size_t k = 1; k < x.size(); ++k) {
          const std::int64_t sign = view_.kind[c] == Kind::maximum ? 1 : -1;
          row.terms = {{x[k], sign}, {x[0], -sign}};
          keep(row);
        }
        return;
      default:
        return;
    }
  }
  static void literal(Row& row, Literal l, std::int64_t a) {
    if (cp::is_negated(l)) row.most -= a;
    row.terms.emplace_back(cp::var_of(l), cp::is_negated(l) ? -a : a);
  }
  /// r -> the row, which is at most, or exactly, c.
  void implied(Row row, Literal r, std::int64_t c, bool equal) {
    row.most = c;
    row.equal = equal;
    if (r == cp::true_literal) return keep(std::move(row));
    for (const std::int64_t sign : equal ? std::vector<std::int64_t>{1, -1} : std::vector<std::int64_t>{1}) {
      Row one;
      std::int64_t high = 0;
      for (const auto& [x, a] : row.terms) {
        one.terms.emplace_back(x, sign * a);
        high += std::max(sign * a * view_.lower[x], sign * a * view_.upper[x]);
      }
      one.most = sign * c;
      if (high <= one.most) continue;
      const std::int64_t beyond = high - one.most;
      one.most += beyond;
      literal(one, r, beyond);
      keep(std::move(one));
    }
  }
  void keep(Row row) {
    std::map<Var, std::int64_t> sum;
    for (const auto& [x, a] : row.terms) {
      if (view_.lower[x] == view_.upper[x])
        row.most -= a * view_.lower[x];
      else
        sum[x] += a;
    }
    std::erase_if(sum, [](const auto& term) { return term.second == 0; });
    if (sum.empty()) return;
    row.terms.assign(sum.begin(), sum.end());
    rows_.push_back(std::move(row));
  }

  cp::NetworkView view_;
  std::vector<Row> rows_;
};

/// Minimises one column. What is basic is the sum of what is not, by the tableau; first the rows are.
class DualSimplex {
 public:
  /// `column`: [variable] of the tableau, -1: of no row.
  DualSimplex(const cp::NetworkView& view, const std::vector<Row>& rows, const std::vector<std::int32_t>& column, std::size_t columns,
              std::size_t objective, bool maximise)
      : m_(rows.size()), n_(columns), tableau_(m_ * n_, 0), cost_(n_, 0), lower_(n_ + m_), upper_(n_ + m_), scale_(m_, 1) {
    for (std::size_t x = 0; x < column.size(); ++x)
      if (column[x] >= 0) {
        lower_[static_cast<std::size_t>(column[x])] = view.lower[x];
        upper_[static_cast<std::size_t>(column[x])] = view.upper[x];
      }
    for (std::size_t i = 0; i < m_; ++i) {
      const Row& row = rows[i];
      double greatest = 0, low = 0;
      for (const auto& [x, a] : row.terms) greatest = std::max(greatest, std::abs(static_cast<double>(a)));
      scale_[i] = 1 / greatest;
      for (const auto& [x, a] : row.terms) {
        const auto j = static_cast<std::size_t>(column[static_cast<std::size_t>(x)]);
        const double entry = static_cast<double>(a) * scale_[i];
        tableau_[i * n_ + j] = entry;
        low += std::min(entry * lower_[j], entry * upper_[j]);
      }
      upper_[n_ + i] = static_cast<double>(row.most) * scale_[i];
      lower_[n_ + i] = row.equal ? upper_[n_ + i] : std::min(low, upper_[n_ + i]);
    }
    cost_[objective] = maximise ? -1 : 1;
    for (std::size_t j = 0; j < n_; ++j) {
      nonbasic_.push_back(j);
      value_.push_back(cost_[j] < 0 ? upper_[j] : lower_[j]);
    }
    for (std::size_t i = 0; i < m_; ++i) {
      basic_.push_back(n_ + i);
      double sum = 0;
      for (std::size_t j = 0; j < n_; ++j) sum += tableau_[i * n_ + j] * value_[j];
      basic_value_.push_back(sum);
    }
  }

  enum class End : std::uint8_t { optimal, limit, stopped };
  [[nodiscard]] End solve(const std::atomic<bool>* stop) {
    for (std::int64_t pivots = 0; additions_ < most_additions; ++pivots) {
      if (stop != nullptr && *stop) return End::stopped;
      const std::optional<std::size_t> r = leaving();
      if (!r) return End::optimal;
      const std::optional<std::size_t> q = entering(*r);
      if (!q) return End::limit;  // without a solution, or for lack of digits
      pivot(*r, *q);
    }
    return End::limit;
  }
  /// [row], at least 0 where it is no equation.
  [[nodiscard]] std::vector<double> multipliers() const {
    std::vector<double> all(m_, 0);
    for (std::size_t j = 0; j < n_; ++j)
      if (nonbasic_[j] >= n_) all[nonbasic_[j] - n_] = -cost_[j] * scale_[nonbasic_[j] - n_];
    return all;
  }
  /// [column]
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all(n_, 0);
    for (std::size_t j = 0; j < n_; ++j)
      if (nonbasic_[j] < n_) all[nonbasic_[j]] = value_[j];
    for (std::size_t i = 0; i < m_; ++i)
      if (basic_[i] < n_) all[basic_[i]] = basic_value_[i];
    return all;
  }

 private:
  /// How far basic i is beyond its bounds.
  [[nodiscard]] double beyond(std::size_t i) const {
    const double value = basic_value_[i], low = lower_[basic_[i]], high = upper_[basic_[i]];
    return std::max({0.0, low - value, value - high});
  }
  [[nodiscard]] std::optional<std::size_t> leaving() const {
    std::optional<std::size_t> most;
    double farthest = 0;
    for (std::size_t i = 0; i < m_; ++i) {
      const double far = beyond(i);
      if (far > tolerance * (1 + std::abs(basic_value_[i])) && far > farthest) {
        farthest = far;
        most = i;
      }
    }
    return most;
  }
  /// The column that takes the row's place; what is passed on the way goes to its other bound.
  [[nodiscard]] std::optional<std::size_t> entering(std::size_t r) {
    const double* row = &tableau_[r * n_];
    const bool rises = basic_value_[r] < lower_[basic_[r]];
    double rest = beyond(r);
    std::vector<std::pair<double, std::size_t>> order;  // by the ratio at which the reduced cost changes its sign
    for (std::size_t j = 0; j < n_; ++j) {
      const std::size_t x = nonbasic_[j];
      if (std::abs(row[j]) < least_pivot || lower_[x] == upper_[x]) continue;
      const bool helps = (rises ? row[j] : -row[j]) > 0;
      if (helps != (value_[j] == lower_[x])) continue;
      order.emplace_back(std::abs(cost_[j]) / std::abs(row[j]), j);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < order.size();) {
      std::size_t chosen = k, end = k;  // of equal ratios the greatest pivot
      double range = 0;
      for (; end < order.size() && order[end].first <= order[k].first + 1e-9; ++end) {
        const std::size_t j = order[end].second;
        if (std::abs(row[j]) > std::abs(row[order[chosen].second])) chosen = end;
        range += std::abs(row[j]) * (upper_[nonbasic_[j]] - lower_[nonbasic_[j]]);
      }
      if (range >= rest) return order[chosen].second;
      rest -= range;
      for (; k < end; ++k) flip(order[k].second);
    }
    return std::nullopt;
  }
  void flip(std::size_t j) {
    const std::size_t x = nonbasic_[j];
    const double to = value_[j] == lower_[x] ? upper_[x] : lower_[x];
    move(j, to - value_[j]);
    value_[j] = to;
  }
  void move(std::size_t j, double by) {
    for (std::size_t i = 0; i < m_; ++i) basic_value_[i] += tableau_[i * n_ + j] * by;
  }
  void pivot(std::size_t r, std::size_t q) {
    const std::size_t out = basic_[r];
    const double to = basic_value_[r] < lower_[out] ? lower_[out] : upper_[out], pivot = tableau_[r * n_ + q];
    const double by = (to - basic_value_[r]) / pivot;
    move(q, by);
    basic_value_[r] = value_[q] + by;
    value_[q] = to;
    std::swap(basic_[r], nonbasic_[q]);
    // Row r, solved for the column that enters.
    double* row = &tableau_[r * n_];
    support_.clear();
    for (std::size_t j = 0; j < n_; ++j) {
      if (row[j] == 0) continue;
      row[j] = j == q ? 1 / pivot : -row[j] / pivot;
      if (std::abs(row[j]) < 1e-13)
        row[j] = 0;
      else
        support_.push_back(j);
    }
    const auto replace = [&](double* other) {
      const double factor = other[q];
      if (factor == 0) return;
      other[q] = 0;
      for (const std::size_t j : support_) other[j] += factor * row[j];
      additions_ += support_.size();
    };
    for (std::size_t i = 0; i < m_; ++i)
      if (i != r) replace(&tableau_[i * n_]);
    replace(cost_.data());
    additions_ += m_ + n_;
  }

  std::size_t m_, n_, additions_ = 0;
  std::vector<double> tableau_;                ///< [row][column]
  std::vector<double> cost_;                   ///< [column] reduced
  std::vector<double> lower_, upper_;          ///< [variable of the tableau: columns, then rows]
  std::vector<double> scale_;                  ///< [row]
  std::vector<std::size_t> nonbasic_, basic_;  ///< [column], [row]
  std::vector<double> value_, basic_value_;    ///< [column], [row]
  std::vector<std::size_t> support_;           ///< of a pivot's row
};

/// The sum of the rows times their multipliers, as integers as fine as 60 bits allow.
std::optional<Row> surrogate_of(const cp::NetworkView& view, const std::vector<Row>& rows, const std::vector<double>& multipliers) {
  const bool whole = std::all_of(multipliers.begin(), multipliers.end(), [](double y) { return std::abs(y - std::round(y)) < 1e-9; });
  for (int bits = whole ? 0 : 24; bits >= 0; bits -= 4) {
    std::map<Var, Wide> sum;
    Wide most = 0, reach = 0;
    const auto magnitude = [](Wide v) { return v < 0 ? -v : v; };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double y = std::ldexp(multipliers[i], bits);
      if (std::abs(y) > 0x1p60) return std::nullopt;
      const std::int64_t factor = std::llround(rows[i].equal ? y : std::max(0.0, y));
      if (factor == 0) continue;
      for (const auto& [x, a] : rows[i].terms) sum[x] += Wide{factor} * a;
      most += Wide{factor} * rows[i].most;
    }
    std::erase_if(sum, [](const auto& term) { return term.second == 0; });
    for (const auto& [x, a] : sum) {
      const std::int64_t low = view.lower[x], high = view.upper[x];
      reach += std::min(magnitude(a), Wide{1} << 62) * std::max({std::abs(low), std::abs(high), high - low});
    }
    if (reach + magnitude(most) >= Wide{1} << 60) continue;
    Row row;
    for (const auto& [x, a] : sum) row.terms.emplace_back(x, static_cast<std::int64_t>(a));
    row.most = static_cast<std::int64_t>(most);
    return row;
  }
  return std::nullopt;
}

}  // namespace

Relaxation relax(const cp::CompiledModel& compiled, bool maximise, const std::atomic<bool>* stop) {
  const cp::Network& network = *compiled.network;
  const cp::NetworkView view = network.view();
  Relaxation found;
  if (network.failed()) return found;
  const Rows rows(network);
  std::vector<std::int32_t> column(static_cast<std::size_t>(view.variables), -1);
  std::size_t columns = 0;
  for (const Row& row : rows.all())
    for (const auto& [x, a] : row.terms)
      if (std::int32_t& j = column[static_cast<std::size_t>(x)]; j < 0) j = static_cast<std::int32_t>(columns++);
  const std::int32_t objective = column[static_cast<std::size_t>(compiled.objective)];
  if (objective < 0 || columns > most_entries / rows.all().size()) return found;
  DualSimplex simplex(view, rows.all(), column, columns, static_cast<std::size_t>(objective), maximise);
  const DualSimplex::End end = simplex.solve(stop);
  if (end == DualSimplex::End::stopped) return found;
  const std::optional<Row> row = surrogate_of(view, rows.all(), simplex.multipliers());
  if (row && row->terms.size() > 1) {
    found.arguments.push_back(cp::true_literal);
    found.data.push_back(row->most);
    for (const auto& [x, a] : row->terms) {
      found.arguments.push_back(x);
      found.data.push_back(a);
    }
  }
  if (end != DualSimplex::End::optimal) return found;
  const std::vector<double> values = simplex.values();
  for (std::size_t x = 0; x < column.size(); ++x)
    found.values.push_back(column[x] < 0 ? view.lower[x] : values[static_cast<std::size_t>(column[x])]);
  return found;
}

cp::CompiledModel with_surrogate(const cp::CompiledModel& compiled, const Relaxation& relaxation) {
  cp::CompiledModel more = compiled;
  cp::Draft draft = compiled.network->draft();
  draft.add(Kind::linear_le, relaxation.arguments, relaxation.data);
  more.network = std::make_shared<const cp::Network>(std::move(draft));
  return more;
}

}  // namespace vicinity::lns
