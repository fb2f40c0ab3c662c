#pragma once
// Propagation rules of global constraints. They are monotone and exact on fixed arguments as those of rules.hpp, and use a workspace. While
// one runs nobody else may change the store.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problems/cp/rules.hpp"

namespace vicinity::cp::rules {

/// Memory that a rule needs while it runs.
struct Workspace {
  std::int64_t* values;
  std::int32_t *order, *links;
  std::uint64_t* words;
};

struct WorkspaceSizes {
  std::size_t values = 0, order = 0, links = 0, words = 0;

  WorkspaceSizes() = default;
  /// Of all constraints.
  explicit WorkspaceSizes(const NetworkView& network) {
    for (std::int32_t c = 0; c < network.constraints; ++c) {
      const Scope scope = scope_of(network, c);
      const std::size_t n = scope.arguments.size();
      if (network.kind[c] == Kind::all_different) fit(n, n, 0, 0);
      if (network.kind[c] == Kind::all_different_bounds) fit(4 * n + 4, 4 * n, 4 * n + 4, 0);
      if (network.kind[c] == Kind::circuit) fit(0, n, 0, 0);
      if (network.kind[c] == Kind::table) fit(0, 0, 0, 2 * ((static_cast<std::size_t>(scope.data[0]) + 63) / 64));
      if (network.kind[c] == Kind::cumulative)
        fit(14 * static_cast<std::size_t>(scope.data[0]), 2 * static_cast<std::size_t>(scope.data[0]), 0, 0);
    }
  }

 private:
  void fit(std::size_t its_values, std::size_t its_order, std::size_t its_links, std::size_t its_words) {
    values = std::max(values, its_values);
    order = std::max(order, its_order);
    links = std::max(links, its_links);
    words = std::max(words, its_words);
  }
};

/// A workspace for all constraints of a network.
class OwnWorkspace {
 public:
  explicit OwnWorkspace(const NetworkView& network) : OwnWorkspace(WorkspaceSizes(network)) {}
  [[nodiscard]] Workspace view() { return {values_.data(), order_.data(), links_.data(), words_.data()}; }

 private:
  explicit OwnWorkspace(const WorkspaceSizes& sizes)
      : values_(sizes.values), order_(sizes.order), links_(sizes.links), words_(sizes.words) {}

  std::vector<std::int64_t> values_;
  std::vector<std::int32_t> order_, links_;
  std::vector<std::uint64_t> words_;
};

/// Ascending; of equal ones any may come first.
template <class T, class Less>
VICINITY_HD_CALLED void sort(T* first, std::int32_t n, const Less& less) {
#if defined(__CUDA_ARCH__)
  const auto sink = [&](std::int32_t at, std::int32_t end) {
    const T one = first[at];
    for (std::int32_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && less(first[child], first[child + 1])) ++child;
      if (!less(one, first[child])) break;
      first[at] = first[child];
      at = child;
    }
    first[at] = one;
  };
  for (std::int32_t at = n / 2; at-- > 0;) sink(at, n);
  for (std::int32_t end = n; --end > 0;) {
    const T greatest = first[0];
    first[0] = first[end];
    first[end] = greatest;
    sink(0, end);
  }
#else
  std::sort(first, first + n, less);
#endif
}

/// No two fixed variables have the same value, and no other has it. O(n) and n for each value newly fixed.
template <class S>
[[nodiscard]] VICINITY_HD_CALLED bool all_different(std::span<const std::int32_t> x, S& store, const Workspace& work) {
  std::int32_t* const open = work.order;
  std::int64_t* const values = work.values;
  std::size_t opens = x.size(), count = 0;
  for (std::size_t k = 0; k < opens; ++k) open[k] = x[k];
  for (bool more = true; more;) {
    more = false;
    for (std::size_t k = 0; k < opens;) {
      if (!is_fixed(store, open[k])) {
        ++k;
        continue;
      }
      values[count++] = store.lower(open[k]);
      open[k] = open[--opens];
    }
    for (; count > 0; --count)
      for (std::size_t k = 0; k < opens; ++k) {
        if (!store.remove(open[k], values[count - 1])) return false;
        more |= is_fixed(store, open[k]);
      }
  }
  // Two that were fixed at once never met.
  for (const Var y : x)
    if (is_fixed(store, y)) values[count++] = store.lower(y);
  sort(values, static_cast<std::int32_t>(count), [](std::int64_t a, std::int64_t b) { return a < b; });
  for (std::size_t k = 1; k < count; ++k)
    if (values[k - 1] == values[k]) return false;
  return true;
}

/// Bounds consistency of all-different in O(n log n) (Lopez-Ortiz, Quimper, Tromp, van Beek, "A fast and simple algorithm for bounds
/// consistency of the alldifferent constraint", IJCAI 2003).
template <class S>
class HallIntervals {
 public:
  VICINITY_HD HallIntervals(std::span<const std::int32_t> x, S& store, const Workspace& work)
      : x_(x), store_(store), n_(static_cast<std::int32_t>(x.size())) {
    const auto n = x.size();
    by_min_ = work.order;
    by_max_ = by_min_ + n;
    min_rank_ = by_max_ + n;
    max_rank_ = min_rank_ + n;
    tree_ = work.links;
    hall_ = tree_ + 2 * n + 2;
    bounds_ = work.values;
    gap_ = bounds_ + 2 * n + 2;
  }

  [[nodiscard]] VICINITY_HD bool propagate() {
    rank();
    return raise_lower() && cut_upper();
  }

 private:
  [[nodiscard]] VICINITY_HD std::int64_t min(std::int32_t k) const { return store_.lower(x_[static_cast<std::size_t>(k)]); }
  [[nodiscard]] VICINITY_HD std::int64_t max(std::int32_t k) const { return store_.upper(x_[static_cast<std::size_t>(k)]); }

  VICINITY_HD void rank() {
    for (std::int32_t k = 0; k < n_; ++k) by_min_[k] = by_max_[k] = k;
    sort(by_min_, n_, [this](std::int32_t a, std::int32_t b) { return min(a) < min(b); });
    sort(by_max_, n_, [this](std::int32_t a, std::int32_t b) { return max(a) < max(b); });
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
  VICINITY_HD static void set_path(std::int32_t* links, std::int32_t start, std::int32_t end, std::int32_t to) {
    for (std::int32_t at = start; at != end;) {
      const std::int32_t next = links[at];
      links[at] = to;
      at = next;
    }
  }
  VICINITY_HD static std::int32_t last_up(const std::int32_t* links, std::int32_t at) {
    while (links[at] > at) at = links[at];
    return at;
  }
  VICINITY_HD static std::int32_t last_down(const std::int32_t* links, std::int32_t at) {
    while (links[at] < at) at = links[at];
    return at;
  }

  VICINITY_HD bool raise_lower() {
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
  VICINITY_HD bool cut_upper() {
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
  [[nodiscard]] VICINITY_HD std::size_t words() const { return (static_cast<std::size_t>(data[0]) + 63) / 64; }
  [[nodiscard]] VICINITY_HD Column column(std::size_t c) const {
    const auto begin = static_cast<std::size_t>(data[1 + c]), size = static_cast<std::size_t>(data[begin]);
    return {data.subspan(begin + 1, size), data.data() + begin + 1 + size};
  }
};

/// Keeps the values that stand in a row whose values are all left: bits of rows, as in compact-table (Demeulenaere et al., CP 2016), from
/// scratch.
template <class S>
[[nodiscard]] VICINITY_HD_CALLED bool table(const Scope& scope, S& store, const Workspace& work) {
  const Table rows{scope.data};
  const std::size_t words = rows.words();
  std::uint64_t* const all = work.words;
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
[[nodiscard]] VICINITY_HD_CALLED bool invert(std::span<const std::int32_t> f, std::span<const std::int32_t> g, std::int64_t first_f,
                                             std::int64_t first_g, S& store) {
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
[[nodiscard]] VICINITY_HD bool inverse(const Scope& scope, S& store) {
  const auto n = static_cast<std::size_t>(scope.data[0]);
  const auto f = scope.arguments.first(n), g = scope.arguments.subspan(n);
  return invert(f, g, scope.data[1], scope.data[2], store) && invert(g, f, scope.data[2], scope.data[1], store);
}

/// The end of a path of fixed successors may not lead to its start before all are on it (Caseau and Laburthe, ICLP 1997).
template <class S>
[[nodiscard]] VICINITY_HD_CALLED bool circuit(const Scope& scope, S& store, const Workspace& work) {
  const auto x = scope.arguments;
  const auto n = static_cast<std::int64_t>(x.size());
  const std::int64_t first = scope.data[0];
  std::int32_t* const reached = work.order;  // has a fixed predecessor
  std::fill(reached, reached + n, 0);
  const auto at = [&](std::int64_t k) { return x[static_cast<std::size_t>(k)]; };
  for (std::int64_t k = 0; k < n; ++k) {
    if (!within(store, at(k), first, first + n - 1)) return false;
    if (is_fixed(store, at(k)) && reached[store.lower(at(k)) - first]++ > 0) return false;
  }
  std::int64_t visited = 0;
  for (std::int64_t start = 0; start < n; ++start) {
    if (reached[start] != 0) continue;
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
[[nodiscard]] VICINITY_HD_CALLED bool cardinality(const Scope& scope, S& store) {
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
/// (Beldiceanu and Carlsson, CP 2002). O(n log n) and, for each task that is not in place, the segments that it may overlap.
template <class S>
class TimeTable {
 public:
  VICINITY_HD TimeTable(const Scope& scope, S& store, const Workspace& work)
      : n_(static_cast<std::size_t>(scope.data[0])),
        start_(scope.arguments.first(n_)),
        duration_(scope.arguments.subspan(n_, n_)),
        use_(scope.arguments.subspan(2 * n_, n_)),
        limit_(scope.arguments[3 * n_]),
        store_(store),
        events_(work.values),
        sorted_(events_ + 4 * n_),
        segments_(sorted_ + 4 * n_),
        order_(work.order) {}

  [[nodiscard]] VICINITY_HD bool propagate() {
    if (!profile()) return false;
    for (std::size_t k = 0; k < n_; ++k)
      if (!fit(k)) return false;
    return true;
  }

 private:
  struct Segment {
    std::int64_t begin, end, use;
  };

  [[nodiscard]] VICINITY_HD Segment segment(std::size_t s) const { return {segments_[3 * s], segments_[3 * s + 1], segments_[3 * s + 2]}; }

  /// Segments of the profile with some use.
  [[nodiscard]] VICINITY_HD bool profile() {
    std::int32_t events = 0;
    const auto add = [&](std::int64_t time, std::int64_t change) {
      events_[2 * events] = time;
      events_[2 * events + 1] = change;
      order_[events] = events;
      ++events;
    };
    for (std::size_t k = 0; k < n_; ++k) {
      const std::int64_t begin = store_.upper(start_[k]), end = store_.lower(start_[k]) + store_.lower(duration_[k]),
                         use = store_.lower(use_[k]);
      if (begin >= end || use <= 0) continue;
      add(begin, use);
      add(end, -use);
    }
    sort(order_, events, [this](std::int32_t a, std::int32_t b) { return events_[2 * a] < events_[2 * b]; });
    for (std::int32_t e = 0; e < events; ++e) {
      sorted_[2 * e] = events_[2 * order_[e]];
      sorted_[2 * e + 1] = events_[2 * order_[e] + 1];
    }
    count_ = 0;
    greatest_ = 0;
    std::int64_t use = 0;
    for (std::int32_t e = 0; e < events;) {
      const std::int64_t time = sorted_[2 * e];
      for (; e < events && sorted_[2 * e] == time; ++e) use += sorted_[2 * e + 1];
      greatest_ = std::max(greatest_, use);
      if (e == events || use <= 0) continue;
      segments_[3 * count_] = time;
      segments_[3 * count_ + 1] = sorted_[2 * e];
      segments_[3 * count_ + 2] = use;
      ++count_;
    }
    return store_.raise(limit_, greatest_);
  }

  /// The first segment that ends after a time. Segments are ascending and apart.
  [[nodiscard]] VICINITY_HD std::size_t ends_after(std::int64_t time) const {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (segment(middle).end > time)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  [[nodiscard]] VICINITY_HD bool fit(std::size_t k) {
    const std::int64_t duration = store_.lower(duration_[k]), use = store_.lower(use_[k]), limit = store_.upper(limit_);
    if (duration <= 0) return true;
    const std::int64_t first = store_.lower(start_[k]), last = store_.upper(start_[k]);
    // Nothing of the use can be cut, and the profile has the task already, or room for it everywhere.
    if (use == store_.upper(use_[k]) && (first == last || greatest_ + use <= limit)) return true;
    const auto others = [&](const Segment& one) {  // without the part of task k, which covers segments whole
      const bool own = last < first + duration && last <= one.begin && one.end <= first + duration && use > 0;
      return one.use - (own ? use : 0);
    };
    std::int64_t earliest = first, latest = last, most = limit;
    if (use > 0) {
      for (std::size_t s = ends_after(first); s < count_; ++s) {
        const Segment one = segment(s);
        if (one.begin >= earliest + duration) break;
        if (others(one) + use > limit && earliest < one.end) earliest = one.end;
      }
      std::size_t s = ends_after(last + duration);  // none behind it begins before that time
      if (s < count_ && segment(s).begin < last + duration) ++s;
      while (s-- > 0) {
        const Segment one = segment(s);
        if (one.end <= latest) break;
        if (others(one) + use > limit && one.begin < latest + duration) latest = one.begin - duration;
      }
    }
    if (last < first + duration)
      for (std::size_t s = ends_after(last); s < count_; ++s) {
        const Segment one = segment(s);
        if (one.begin >= first + duration) break;
        most = std::min(most, limit - others(one));
      }
    if (earliest > first && !store_.raise(start_[k], earliest)) return false;
    if (latest < last && !store_.cut(start_[k], latest)) return false;
    return last >= first + duration || store_.cut(use_[k], most);
  }

  std::size_t n_;
  std::span<const std::int32_t> start_, duration_, use_;
  Var limit_;
  S& store_;
  std::int64_t *events_, *sorted_;  ///< time, change
  std::int64_t* segments_;          ///< begin, end, use
  std::int32_t* order_;
  std::size_t count_ = 0;      ///< of segments
  std::int64_t greatest_ = 0;  ///< use
};

template <class S>
[[nodiscard]] VICINITY_HD_CALLED bool all_different_bounds(std::span<const std::int32_t> x, S& store, const Workspace& work) {
  return HallIntervals<S>(x, store, work).propagate();
}
template <class S>
[[nodiscard]] VICINITY_HD_CALLED bool cumulative(const Scope& scope, S& store, const Workspace& work) {
  return TimeTable<S>(scope, store, work).propagate();
}

/// A constraint of a kind beyond element_var.
template <DomainStore S>
[[nodiscard]] VICINITY_HD bool propagate_global(Kind kind, const Scope& scope, S& store, const Workspace& work) {
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
      return all_different_bounds(scope.arguments, store, work);
    case Kind::cumulative:
      return cumulative(scope, store, work);
    default:
      return false;
  }
}
/// Any constraint.
template <DomainStore S>
[[nodiscard]] VICINITY_HD bool propagate(Kind kind, const Scope& scope, S& store, const Workspace& work) {
  return kind > Kind::element_var ? propagate_global(kind, scope, store, work) : propagate_simple(kind, scope, store);
}

}  // namespace vicinity::cp::rules
