#include "core/problems/cp/network.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "core/problems/cp/propagation.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"

namespace vicinity::cp {
namespace {

/// Bounds of a cycle of constraints may creep through all values: then propagation at the root ends here, and the search goes on with it.
constexpr std::int64_t most_root_calls = 1'000'000, calls_a_constraint = 50;

/// Which events of argument k a constraint waits for, and is the argument a literal?
struct Watch {
  bool is_literal;
  std::uint8_t events;  ///< of a literal: `raised` where it becomes true, `cut` where it becomes false
};

Watch watch_of(Kind kind, std::size_t k, const Scope& scope) {
  constexpr std::uint8_t ends = raised | cut, both = any;
  switch (kind) {
    case Kind::clause:
      return {true, cut};
    case Kind::clause_reif:
    case Kind::parity:
      return {true, ends};
    case Kind::at_most:
      return k == 0 ? Watch{true, ends} : Watch{false, ends};
    case Kind::equals:
    case Kind::member:
      return k == 0 ? Watch{true, ends} : Watch{false, both};
    case Kind::le:
      return k == 0 ? Watch{true, raised} : Watch{false, k == 1 ? raised : cut};
    case Kind::ne:
      return k == 0 ? Watch{true, raised} : Watch{false, fixed};
    case Kind::eq:
      return k == 0 ? Watch{true, raised} : Watch{false, both};
    case Kind::linear_le:
      return k == 0 ? Watch{true, raised} : Watch{false, scope.data[k] > 0 ? raised : cut};
    case Kind::linear_eq:
      return k == 0 ? Watch{true, raised} : Watch{false, ends};
    case Kind::linear_ne:
      return k == 0 ? Watch{true, raised} : Watch{false, fixed};
    case Kind::times:
    case Kind::maximum:
    case Kind::minimum:
    case Kind::power:
    case Kind::divide:
    case Kind::all_different_bounds:
    case Kind::cumulative:
      return {false, ends};
    case Kind::all_different:
      return {false, fixed};
    case Kind::absolute:
    case Kind::modulo:
    case Kind::element:
    case Kind::element_matrix:
    case Kind::element_var:
    case Kind::table:
    case Kind::inverse:
    case Kind::circuit:
    case Kind::cardinality:
      return {false, both};
  }
  return {false, both};
}

/// Does the constraint hold, whatever values the domains leave?
bool entailed(Kind kind, const Scope& scope, const Store& store) {
  const auto& l = scope.arguments;
  const bool conditional = kind >= Kind::le && kind <= Kind::eq;
  const bool linear = kind >= Kind::linear_le && kind <= Kind::linear_ne;
  if ((conditional || linear) && is_false(store, l[0])) return true;
  if (kind == Kind::clause) return std::any_of(l.begin(), l.end(), [&](Literal one) { return is_true(store, one); });
  if (kind == Kind::clause_reif && is_true(store, l[0]))
    return std::any_of(l.begin() + 1, l.end(), [&](Literal one) { return is_true(store, one); });
  if (kind == Kind::le && store.upper(l[1]) - store.lower(l[2]) <= scope.data[0]) return true;
  if (kind == Kind::ne && !rules::overlap(store, l[1], l[2], scope.data[0])) return true;
  if (kind == Kind::linear_le && rules::sums_of(l.subspan(1), scope.data.subspan(1), store).high <= scope.data[0]) return true;
  for (std::size_t k = 0; k < l.size(); ++k)
    if (!store.is_fixed(variable_at(kind, k, scope))) {
      // A decided literal leaves its constraint in the domain.
      const bool in_domain = (kind == Kind::at_most || ((kind == Kind::equals || kind == Kind::member) && store.masked(l[1]))) && k == 1 &&
                             store.is_fixed(var_of(l[0]));
      if (!in_domain) return false;
    }
  return true;
}

/// A sum stays below 2^62, with whatever the rules add.
void check_sums(std::span<const std::int64_t> data, std::span<const std::int32_t> x, std::span<const Draft::Domain> domains) {
  __extension__ using Wide = __int128;
  Wide sum = std::abs(static_cast<double>(data[0])) >= 0x1p61 ? Wide{1} << 62 : Wide{std::abs(data[0])};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto& domain = domains[static_cast<std::size_t>(x[k])];
    const Wide a = data[k + 1] < 0 ? -Wide{data[k + 1]} : Wide{data[k + 1]};
    sum += a * std::max({std::abs(domain.lower), std::abs(domain.upper), domain.upper - domain.lower});
    if (sum >= Wide{1} << 62) throw InputError("a linear sum could leave 62 bits");
  }
}

}  // namespace

Var variable_at(Kind kind, std::size_t k, const Scope& scope) {
  return watch_of(kind, k, scope).is_literal ? var_of(scope.arguments[k]) : scope.arguments[k];
}

Draft::Draft() { domains.push_back({1, 1, {}}); }

Var Draft::add_variable(std::int64_t low, std::int64_t high) {
  if (low > high) failed = true;
  domains.push_back({low, std::max(low, high), {}});
  return static_cast<Var>(domains.size()) - 1;
}

void Draft::restrict(Var x, std::span<const std::int64_t> intervals) {
  Domain& domain = domains[static_cast<std::size_t>(x)];
  const std::vector<std::int64_t> old = domain.intervals.empty() ? std::vector{domain.lower, domain.upper} : domain.intervals;
  std::vector<std::int64_t> both;
  for (std::size_t a = 0, b = 0; a < old.size() && b < intervals.size();) {
    const std::int64_t low = std::max(old[a], intervals[b]), high = std::min(old[a + 1], intervals[b + 1]);
    if (low <= high) both.insert(both.end(), {low, high});
    (old[a + 1] < intervals[b + 1] ? a : b) += 2;
  }
  if (both.empty()) {
    failed = true;
    return;
  }
  domain.lower = both.front();
  domain.upper = both.back();
  if (both.size() == 2) both.clear();
  domain.intervals = std::move(both);
}

void Draft::cut_domains() {
  const std::int64_t ends[] = {least_value, greatest_value};
  for (std::size_t x = 0; x < domains.size(); ++x) {
    const Domain& domain = domains[x];
    if (reaches_beyond(domain.lower, domain.upper)) restrict(static_cast<Var>(x), ends);
    if (reaches_beyond(domain.lower, domain.upper)) domains[x] = {least_value, greatest_value, {}};  // none is left
  }
}

void Draft::add(Kind of, std::span<const std::int32_t> its_arguments, std::span<const std::int64_t> its_data) {
  kind.push_back(of);
  arguments.insert(arguments.end(), its_arguments.begin(), its_arguments.end());
  argument_begin.push_back(static_cast<std::uint32_t>(arguments.size()));
  data.insert(data.end(), its_data.begin(), its_data.end());
  data_begin.push_back(data.size());
}
void Draft::add(Kind of, std::initializer_list<std::int32_t> its_arguments, std::initializer_list<std::int64_t> its_data) {
  add(of, std::span(its_arguments.begin(), its_arguments.size()), std::span(its_data.begin(), its_data.size()));
}

Network::Network(Draft draft) {
  // Domains with gaps that may stay without a mask keep a constraint.
  for (std::size_t x = 0; x < draft.domains.size(); ++x)
    if (!draft.domains[x].intervals.empty() && draft.domains[x].upper - draft.domains[x].lower >= most_masked) {
      const std::vector<std::int64_t> intervals = draft.domains[x].intervals;
      draft.add(Kind::member, std::vector<std::int32_t>{true_literal, static_cast<Var>(x)}, intervals);
    }
  for (std::size_t c = 0; c < draft.kind.size(); ++c)
    if (draft.kind[c] >= Kind::linear_le && draft.kind[c] <= Kind::linear_ne)
      check_sums(std::span(draft.data).subspan(draft.data_begin[c]),
                 std::span(draft.arguments).subspan(draft.argument_begin[c] + 1, draft.argument_begin[c + 1] - draft.argument_begin[c] - 1),
                 draft.domains);
  std::vector<std::uint32_t> kept(draft.kind.size());
  std::iota(kept.begin(), kept.end(), 0u);
  failed_ = draft.failed;
  // First to the fixpoint of the domains as they stand, which leaves fewer constraints and narrower domains, then to that of these.
  for (int pass = 0; pass < 2; ++pass) {
    sort_by_kind(draft, kept);
    masks(draft.domains);
    watch();
    if (failed_) break;
    Store store(*this);
    Propagation propagation(*this);
    propagation.limit(most_root_calls + calls_a_constraint * constraints(), nullptr);
    if (!propagation.all(store)) {
      failed_ = true;
      break;
    }
    for (std::size_t x = 0; x < draft.domains.size(); ++x) {
      auto& domain = draft.domains[x];
      const auto v = static_cast<Var>(x);
      const std::int64_t ends[] = {store.lower(v), store.upper(v)};
      draft.restrict(v, ends);
      if (store.masked(v)) domain.intervals = store.intervals(v);
    }
    if (propagation.cut_short()) continue;
    std::vector<std::uint32_t> open;
    std::stable_sort(kept.begin(), kept.end(), [&](std::uint32_t a, std::uint32_t b) { return draft.kind[a] < draft.kind[b]; });
    for (std::size_t c = 0; c < kept.size(); ++c)
      if (!entailed(kind_[c], scope_of(view(), static_cast<std::int32_t>(c)), store)) open.push_back(kept[c]);
    kept = std::move(open);
    std::sort(kept.begin(), kept.end());
  }
  if (failed_) return;
  sort_by_kind(draft, kept);
  masks(draft.domains);
  watch();
}

void Network::sort_by_kind(const Draft& draft, std::span<const std::uint32_t> kept) {
  std::vector<std::uint32_t> order(kept.begin(), kept.end());
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return draft.kind[a] < draft.kind[b]; });
  kind_.clear();
  arguments_.clear();
  data_.clear();
  argument_begin_.assign(1, 0);
  data_begin_.assign(1, 0);
  for (const std::uint32_t c : order) {
    kind_.push_back(draft.kind[c]);
    arguments_.insert(arguments_.end(), draft.arguments.begin() + draft.argument_begin[c],
                      draft.arguments.begin() + draft.argument_begin[c + 1]);
    argument_begin_.push_back(static_cast<std::uint32_t>(arguments_.size()));
    data_.insert(data_.end(), draft.data.begin() + static_cast<std::ptrdiff_t>(draft.data_begin[c]),
                 draft.data.begin() + static_cast<std::ptrdiff_t>(draft.data_begin[c + 1]));
    data_begin_.push_back(data_.size());
  }
}

void Network::masks(std::span<const Draft::Domain> domains) {
  const std::size_t n = domains.size();
  lower_.resize(n);
  upper_.resize(n);
  mask_begin_.assign(n, -1);
  mask_.clear();
  for (std::size_t x = 0; x < n; ++x) {
    const Draft::Domain& domain = domains[x];
    lower_[x] = static_cast<std::int32_t>(domain.lower);
    upper_[x] = static_cast<std::int32_t>(domain.upper);
    const std::int64_t width = domain.upper - domain.lower + 1;
    if (width <= 2 || width > most_masked) continue;
    mask_begin_[x] = static_cast<std::int64_t>(mask_.size());
    mask_.resize(mask_.size() + static_cast<std::size_t>(width + 63) / 64);
    const std::vector<std::int64_t> all{domain.lower, domain.upper};
    const auto& intervals = domain.intervals.empty() ? all : domain.intervals;
    for (std::size_t k = 0; k < intervals.size(); k += 2)
      for (std::int64_t v = intervals[k]; v <= intervals[k + 1]; ++v) {
        const auto bit = static_cast<std::uint64_t>(v - domain.lower);
        mask_[static_cast<std::size_t>(mask_begin_[x]) + bit / 64] |= std::uint64_t{1} << (bit % 64);
      }
  }
}

void Network::watch() {
  const NetworkView all = view();
  std::vector<std::pair<Var, std::uint32_t>> found;
  degree_.assign(lower_.size(), 0);
  for (std::int32_t c = 0; c < constraints(); ++c) {
    const Scope scope = scope_of(all, c);
    const Kind kind = all.kind[c];
    for (std::size_t k = 0; k < scope.arguments.size(); ++k) {
      const Watch watch = watch_of(kind, k, scope);
      const Var x = variable_at(kind, k, scope);
      if (lower_[static_cast<std::size_t>(x)] == upper_[static_cast<std::size_t>(x)]) continue;
      ++degree_[static_cast<std::size_t>(x)];
      std::uint32_t events = watch.events;
      // A value inside bounds without a mask can only be removed once it is an end.
      const std::size_t slot = static_cast<std::size_t>(x);
      if (!watch.is_literal && events == fixed && mask_begin_[slot] < 0 && std::int64_t{upper_[slot]} - lower_[slot] > 1)
        events |= raised | cut;
      if (watch.is_literal && is_negated(scope.arguments[k])) events = (events & raised) << 1 | (events & cut) >> 1;
      found.emplace_back(x, static_cast<std::uint32_t>(c) << 4 | events);
    }
  }
  watch_begin_.assign(lower_.size() + 1, 0);
  for (const auto& [x, watch] : found) ++watch_begin_[static_cast<std::size_t>(x) + 1];
  std::partial_sum(watch_begin_.begin(), watch_begin_.end(), watch_begin_.begin());
  watches_.resize(found.size());
  std::vector<std::uint32_t> at(watch_begin_.begin(), watch_begin_.end() - 1);
  for (const auto& [x, watch] : found) watches_[at[static_cast<std::size_t>(x)]++] = watch;
}

NetworkView Network::view() const noexcept {
  return {kind_.data(),      argument_begin_.data(),
          arguments_.data(), data_begin_.data(),
          data_.data(),      watch_begin_.data(),
          watches_.data(),   lower_.data(),
          upper_.data(),     mask_begin_.data(),
          mask_.data(),      variables(),
          constraints(),     static_cast<std::int64_t>(mask_.size())};
}

Draft Network::draft() const {
  Draft draft;
  draft.failed = failed_;
  draft.domains.clear();
  const Store store(*this);
  for (Var x = 0; x < variables(); ++x) {
    auto& domain = draft.domains.emplace_back(Draft::Domain{store.lower(x), store.upper(x), {}});
    if (store.masked(x)) domain.intervals = store.intervals(x);
  }
  const NetworkView all = view();
  for (std::int32_t c = 0; c < constraints(); ++c) draft.add(all.kind[c], scope_of(all, c).arguments, scope_of(all, c).data);
  return draft;
}

Var Network::variable(std::int32_t constraint, std::size_t k) const {
  const NetworkView all = view();
  return variable_at(all.kind[constraint], k, scope_of(all, constraint));
}

std::int32_t Network::degree(Var x) const { return degree_[static_cast<std::size_t>(x)]; }

std::uint64_t Network::hash() const {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(failed_));
  for (const Kind kind : kind_) digest.add(static_cast<std::uint64_t>(kind));
  digest.add(argument_begin_);
  digest.add(arguments_);
  digest.add(data_begin_);
  digest.add(data_);
  digest.add(lower_);
  digest.add(upper_);
  digest.add(mask_);
  return digest.value();
}

}  // namespace vicinity::cp
