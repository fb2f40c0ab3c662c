#pragma once
// Propagation rules of global constraints. They are monotone and exact on fixed arguments as those of rules.hpp, and use a workspace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/cp/rules.hpp"

namespace vicinity::cp::rules {

/// Memory that a rule needs while it runs.
struct Workspace {
  std::vector<std::int64_t> values;
  std::vector<std::int32_t> order, links;
  std::vector<std::uint64_t> words;
};

/// No two fixed variables have the same value, and no other has it. O(n) and n for each value newly fixed.
template <class S>
[[nodiscard]] bool all_different(std::span<const std::int32_t> x, S& store, Workspace& work) {
  work.order.assign(x.begin(), x.end());
  auto& open = work.order;
  auto& values = work.values;
  values.clear();
  for (bool more = true; more;) {
    more = false;
    for (std::size_t k = 0; k < open.size();) {
      if (!is_fixed(store, open[k])) {
        ++k;
        continue;
      }
      values.push_back(store.lower(open[k]));
      open[k] = open.back();
      open.pop_back();
    }
    for (; !values.empty(); values.pop_back())
      for (const Var y : open) {
        if (!store.remove(y, values.back())) return false;
        more |= is_fixed(store, y);
      }
  }
  // Two that were fixed at once never met.
  values.clear();
  for (const Var y : x)
    if (is_fixed(store, y)) values.push_back(store.lower(y));
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

/// Bounds consistency of all-different in O(n log n) (Lopez-Ortiz, Quimper, Tromp, van Beek, "A fast and simple algorithm for bounds
/// consistency of the alldifferent constraint", IJCAI 2003).
template <class S>
class HallIntervals {
 public:
  HallIntervals(std::span<const std::int32_t> x, S& store, Workspace& work)
      : x_(x), store_(store), n_(static_cast<std::int32_t>(x.size())) {
    const auto n = x.size();
    work.order.resize(4 * n);
    by_min_ = work.order.data();
    by_max_ = by_min_ + n;
    min_rank_ = by_max_ + n;
    max_rank_ = min_rank_ + n;
    work.links.resize(2 * (2 * n + 2));
    tree_ = work.links.data();
    hall_ = tree_ + 2 * n + 2;
    work.values.resize(2 * (2 * n + 2));
    bounds_ = work.values.data();
    gap_ = bounds_ + 2 * n + 2;
  }

  [[nodiscard]] bool propagate() {
    rank();
    return raise_lower() && cut_upper();
  }

 private:
  [[nodiscard]] std::int64_t min(std::int32_t k) const { return store_.lower(x_[static_cast<std::size_t>(k)]); }
  [[nodiscard]] std::int64_t max(std::int32_t k) const { return store_.upper(x_[static_cast<std::size_t>(k)]); }

  void rank() {
    for (std::int32_t k = 0; k < n_; ++k) by_min_[k] = by_max_[k] = k;
    std::sort(by_min_, by_min_ + n_, [this](std::int32_t a, std::int32_t b) { return min(a) < min(b); });
    std::sort(by_max_, by_max_ + n_, [this](std::int32_t a, std::int32_t b) { return max(a) < max(b); });
    std::int64_t low = min(by_min_[0]), high = max(by_max_[0]) + 1, last = low - 2;
    bounds_[0] = last;
    count_ = 0;
    for (std::int32_t i = 0, j = 0;;) {
      if (i < n_ && low <= high) {
        if (low != last) bounds_[++count_] = last = low;
        min_rank_[by_min_[i]] = count_;
        if (++i < n_) low = min(by_min_[i]);
      } else {
        if (high != last) bounds_[++count_] = last = high;
        max_rank_[by_max_[j]] = count_;
        if (++j == n_) break;
        high = max(by_max_[j]) + 1;
      }
    }
    bounds_[count_ + 1] = bounds_[count_] + 2;
  }
  static void set_path(std::int32_t* links, std::int32_t start, std::int32_t end, std::int32_t to) {
    for (std::int32_t at = start; at != end;) {
      const std::int32_t next = links[at];
      links[at] = to;
      at = next;
    }
  }
  static std::int32_t last_up(const std::int32_t* links, std::int32_t at) {
    while (links[at] > at) at = links[at];
    return at;
  }
  static std::int32_t last_down(const std::int32_t* links, std::int32_t at) {
    while (links[at] < at) at = links[at];
    return at;
  }

  bool raise_lower() {
    for (std::int32_t i = 1; i <= count_ + 1; ++i) {
      tree_[i] = hall_[i] = i - 1;
      gap_[i] = bounds_[i] - bounds_[i - 1];
    }
    for (std::int32_t i = 0; i < n_; ++i) {
      const std::int32_t k = by_max_[i], x = min_rank_[k], y = max_rank_[k];
      std::int32_t z = last_up(tree_, x + 1);
      const std::int32_t j = tree_[z];
      if (--gap_[z] == 0) {
        tree_[z] = z + 1;
        z = last_up(tree_, z + 1);
        tree_[z] = j;
      }
      set_path(tree_, x + 1, z, z);
      if (gap_[z] < bounds_[z] - bounds_[y]) return false;
      if (hall_[x] > x) {
        const std::int32_t w = last_up(hall_, hall_[x]);
        if (!store_.raise(x_[static_cast<std::size_t>(k)], bounds_[w])) return false;
        set_path(hall_, x, w, w);
      }
      if (gap_[z] == bounds_[z] - bounds_[y]) {
        set_path(hall_, hall_[y], j - 1, y);
        hall_[y] = j - 1;
      }
    }
    return true;
  }
  bool cut_upper() {
    for (std::int32_t i = 0; i <= count_; ++i) {
      tree_[i] = hall_[i] = i + 1;
      gap_[i] = bounds_[i + 1] - bounds_[i];
    }
    for (std::int32_t i = n_; --i >= 0;) {
      const std::int32_t k = by_min_[i], x = max_rank_[k], y = min_rank_[k];
      std::int32_t z = last_down(tree_, x - 1);
      const std::int32_t j = tree_[z];
      if (--gap_[z] == 0) {
        tree_[z] = z - 1;
        z = last_down(tree_, z - 1);
        tree_[z] = j;
      }
      set_path(tree_, x - 1, z, z);
      if (gap_[z] < bounds_[y] - bounds_[z]) return false;
      if (hall_[x] < x) {
        const std::int32_t w = last_down(hall_, hall_[x]);
        if (!store_.cut(x_[static_cast<std::size_t>(k)], bounds_[w] - 1)) return false;
        set_path(hall_, x, w, w);
      }
      if (gap_[z] == bounds_[y] - bounds_[z]) {
        set_path(hall_, hall_[y], j + 1, y);
        hall_[y] = j + 1;
      }
    }
    return true;
  }

  std::span<const std::int32_t> x_;
  S& store_;
  std::int32_t n_, count_ = 0;
  std::int32_t *by_min_, *by_max_, *min_rank_, *max_rank_, *tree_, *hall_;
  std::int64_t *bounds_, *gap_;
};

/// A table in a constraint's data: rows, where each column begins, and of each column the number of its values, these ascending, and for
/// each value a bit a row that has it.
struct Column {
  std::span<const std::int64_t> values;
  const std::int64_t* rows_of;  ///< words of value k from k * words on
};
struct Table {
  std::span<const std::int64_t> data;
  [[nodiscard]] std::size_t words() const { return (static_cast<std::size_t>(data[0]) + 63) / 64; }
  [[nodiscard]] Column column(std::size_t c) const {
    const auto begin = static_cast<std::size_t>(data[1 + c]), size = static_cast<std::size_t>(data[begin]);
    return {data.subspan(begin + 1, size), data.data() + begin + 1 + size};
  }
};

/// Keeps the values that stand in a row whose values are all left: bits of rows, as in compact-table (Demeulenaere et al., CP 2016), from
/// scratch.
template <class S>
[[nodiscard]] bool table(const Scope& scope, S& store, Workspace& work) {
  const Table rows{scope.data};
  const std::size_t words = rows.words();
  auto& left = work.words;
  left.assign(2 * words, 0);
  std::uint64_t* const all = left.data();
  std::uint64_t* const some = all + words;
  std::fill(all, all + words, ~std::uint64_t{0});
  for (std::size_t c = 0; c < scope.arguments.size(); ++c) {
    const Column column = rows.column(c);
    std::fill(some, some + words, 0);
    for (std::size_t k = 0; k < column.values.size(); ++k)
      if (store.contains(scope.arguments[c], column.values[k]))
        for (std::size_t w = 0; w < words; ++w) some[w] |= static_cast<std::uint64_t>(column.rows_of[k * words + w]);
    for (std::size_t w = 0; w < words; ++w) all[w] &= some[w];
  }
  for (std::size_t c = 0; c < scope.arguments.size(); ++c) {
    const Column column = rows.column(c);
    const Var x = scope.arguments[c];
    std::int64_t before = store.lower(x) - 1;  // the last value that stays
    for (std::size_t k = 0; k < column.values.size(); ++k) {
      if (!store.contains(x, column.values[k])) continue;
      std::uint64_t supports = 0;
      for (std::size_t w = 0; w < words && supports == 0; ++w)
        supports = all[w] & static_cast<std::uint64_t>(column.rows_of[k * words + w]);
      if (supports == 0) continue;
      if (!exclude(store, x, before + 1, column.values[k] - 1)) return false;
      before = column.values[k];
    }
    if (!store.cut(x, before)) return false;
  }
  return true;
}

/// Keeps of f[i] the j with i in g[j].
template <class S>
[[nodiscard]] bool invert(std::span<const std::int32_t> f, std::span<const std::int32_t> g, std::int64_t first_f, std::int64_t first_g,
                          S& store) {
  for (std::size_t k = 0; k < f.size(); ++k) {
    const std::int64_t i = first_f + static_cast<std::int64_t>(k);
    if (!within(store, f[k], first_g, first_g + static_cast<std::int64_t>(g.size()) - 1)) return false;
    const auto fits = [&](std::int64_t j) { return store.contains(g[static_cast<std::size_t>(j - first_g)], i); };
    if (!filter_index(store, f[k], fits)) return false;
    if (is_fixed(store, f[k]) && !store.assign(g[static_cast<std::size_t>(store.lower(f[k]) - first_g)], i)) return false;
  }
  return true;
}
template <class S>
[[nodiscard]] bool inverse(const Scope& scope, S& store) {
  const auto n = static_cast<std::size_t>(scope.data[0]);
  const auto f = scope.arguments.first(n), g = scope.arguments.subspan(n);
  return invert(f, g, scope.data[1], scope.data[2], store) && invert(g, f, scope.data[2], scope.data[1], store);
}

/// The end of a path of fixed successors may not lead to its start before all are on it (Caseau and Laburthe, ICLP 1997).
template <class S>
[[nodiscard]] bool circuit(const Scope& scope, S& store, Workspace& work) {
  const auto x = scope.arguments;
  const auto n = static_cast<std::int64_t>(x.size());
  const std::int64_t first = scope.data[0];
  auto& reached = work.order;  // has a fixed predecessor
  reached.assign(x.size(), 0);
  const auto at = [&](std::int64_t k) { return x[static_cast<std::size_t>(k)]; };
  for (std::int64_t k = 0; k < n; ++k) {
    if (!within(store, at(k), first, first + n - 1)) return false;
    if (is_fixed(store, at(k)) && reached[static_cast<std::size_t>(store.lower(at(k)) - first)]++ > 0) return false;
  }
  std::int64_t visited = 0;
  for (std::int64_t start = 0; start < n; ++start) {
    if (reached[static_cast<std::size_t>(start)] != 0) continue;
    std::int64_t end = start, length = 1;
    for (; is_fixed(store, at(end)) && length <= n; ++length) end = store.lower(at(end)) - first;
    visited += length;
    if (length < n && !store.remove(at(end), start + first)) return false;
  }
  if (visited == n) return true;
  if (visited > 0) return false;  // a cycle beside the paths; a path that was closed meanwhile is seen by the next call
  std::int64_t length = 1;
  for (std::int64_t k = store.lower(at(0)) - first; k != 0 && length <= n; ++length) k = store.lower(at(k)) - first;
  return length == n;
}

/// How many of x have each value: between those that are fixed to it and those that may get it.
template <class S>
[[nodiscard]] bool cardinality(const Scope& scope, S& store) {
  const auto n = static_cast<std::size_t>(scope.data[0]);
  const auto x = scope.arguments.first(n), counts = scope.arguments.subspan(n);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::int64_t v = scope.data[1 + k];
    std::int64_t sure = 0, possible = 0;
    for (const Var y : x) {
      const bool has = store.contains(y, v);
      possible += has ? 1 : 0;
      sure += has && is_fixed(store, y) ? 1 : 0;
    }
    if (!within(store, counts[k], sure, possible)) return false;
    if (sure == possible) continue;
    const bool full = store.upper(counts[k]) == sure, all = store.lower(counts[k]) == possible;
    if (full && all) return false;
    if (!full && !all) continue;
    for (const Var y : x) {
      if (!store.contains(y, v) || is_fixed(store, y)) continue;
      if (all ? !store.assign(y, v) : !store.remove(y, v)) return false;
    }
  }
  return true;
}

/// Time tables: the parts of tasks that must take place, whenever they start, make a profile of use; no other may exceed the limit with it
/// (Beldiceanu and Carlsson, CP 2002). O(tasks x segments).
template <class S>
class TimeTable {
 public:
  TimeTable(const Scope& scope, S& store, Workspace& work)
      : n_(static_cast<std::size_t>(scope.data[0])),
        start_(scope.arguments.first(n_)),
        duration_(scope.arguments.subspan(n_, n_)),
        use_(scope.arguments.subspan(2 * n_, n_)),
        limit_(scope.arguments[3 * n_]),
        store_(store),
        work_(work) {}

  [[nodiscard]] bool propagate() {
    if (!profile()) return false;
    for (std::size_t k = 0; k < n_; ++k)
      if (!fit(k)) return false;
    return true;
  }

 private:
  struct Segment {
    std::int64_t begin, end, use;
  };

  /// Segments of the profile with some use; three values each.
  [[nodiscard]] bool profile() {
    auto& events = work_.values;  // time, change
    events.clear();
    for (std::size_t k = 0; k < n_; ++k) {
      const std::int64_t begin = store_.upper(start_[k]), end = store_.lower(start_[k]) + store_.lower(duration_[k]),
                         use = store_.lower(use_[k]);
      if (begin >= end || use <= 0) continue;
      events.insert(events.end(), {begin, use, end, -use});
    }
    order_events();
    std::vector<std::int64_t>& sorted = work_.values;
    segments_.clear();
    std::int64_t use = 0, greatest = 0;
    for (std::size_t e = 0; e < sorted.size();) {
      const std::int64_t time = sorted[e];
      for (; e < sorted.size() && sorted[e] == time; e += 2) use += sorted[e + 1];
      greatest = std::max(greatest, use);
      if (e < sorted.size() && use > 0) segments_.push_back({time, sorted[e], use});
    }
    return store_.raise(limit_, greatest);
  }
  void order_events() {
    auto& events = work_.values;
    auto& order = work_.order;
    order.resize(events.size() / 2);
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int32_t>(k);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return events[2 * static_cast<std::size_t>(a)] < events[2 * static_cast<std::size_t>(b)];
    });
    std::vector<std::int64_t> sorted;
    sorted.reserve(events.size());
    for (const std::int32_t k : order)
      sorted.insert(sorted.end(), {events[2 * static_cast<std::size_t>(k)], events[2 * static_cast<std::size_t>(k) + 1]});
    events.swap(sorted);
  }

  [[nodiscard]] bool fit(std::size_t k) {
    const std::int64_t duration = store_.lower(duration_[k]), use = store_.lower(use_[k]), limit = store_.upper(limit_);
    if (duration <= 0) return true;
    const std::int64_t first = store_.lower(start_[k]), last = store_.upper(start_[k]);
    const auto others = [&](const Segment& segment) {  // without the part of task k, which covers segments whole
      const bool own = last < first + duration && last <= segment.begin && segment.end <= first + duration && use > 0;
      return segment.use - (own ? use : 0);
    };
    std::int64_t earliest = first, latest = last, most = limit;
    if (use > 0) {
      for (const Segment& segment : segments_)
        if (others(segment) + use > limit && segment.begin < earliest + duration && earliest < segment.end) earliest = segment.end;
      for (std::size_t s = segments_.size(); s-- > 0;)
        if (others(segments_[s]) + use > limit && segments_[s].begin < latest + duration && latest < segments_[s].end)
          latest = segments_[s].begin - duration;
    }
    if (last < first + duration)
      for (const Segment& segment : segments_)
        if (last < segment.end && segment.begin < first + duration) most = std::min(most, limit - others(segment));
    if (earliest > first && !store_.raise(start_[k], earliest)) return false;
    if (latest < last && !store_.cut(start_[k], latest)) return false;
    return last >= first + duration || store_.cut(use_[k], most);
  }

  std::size_t n_;
  std::span<const std::int32_t> start_, duration_, use_;
  Var limit_;
  S& store_;
  Workspace& work_;
  std::vector<Segment> segments_;
};

/// Any constraint.
template <DomainStore S>
[[nodiscard]] bool propagate(Kind kind, const Scope& scope, S& store, Workspace& work) {
  switch (kind) {
    case Kind::all_different:
      return all_different(scope.arguments, store, work);
    case Kind::table:
      return table(scope, store, work);
    case Kind::inverse:
      return inverse(scope, store);
    case Kind::circuit:
      return circuit(scope, store, work);
    case Kind::cardinality:
      return cardinality(scope, store);
    case Kind::all_different_bounds:
      return HallIntervals<S>(scope.arguments, store, work).propagate();
    case Kind::cumulative:
      return TimeTable<S>(scope, store, work).propagate();
    default:
      return propagate_simple(kind, scope, store);
  }
}

}  // namespace vicinity::cp::rules
