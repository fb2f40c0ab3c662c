#pragma once
// String removal of gpu-hybrid (the rule: core/methods/alns/hybrid/hybrid.hpp): a line's steps are made by one warp of a block, whose other
// warps wait.
//
// Data, in the memory of a block: routes as rings of nodes, each with the length of the edge behind it; of a route its sums and penalty;
// both as they are, and as they were before the step; which of them the step touched; the neighbours of who is removed and distances to
// them. What a step knows of the whole solution (cost, routes in use, how many exceed a limit) stands in registers, the same in all lanes.
// Phases of a step: strings are removed, a run of customers at a time; removed ones are ranked, a lane each, and what their insertions will
// read is fetched for all of them at once; for each of them two positions at 40 neighbours and an empty route, three a lane; acceptance:
// what was touched is copied, one way or the other. Synchronisation: within the warp. Cost: the latency of two or three runs and some ten
// insertions, each with one read of distances that depends on the last one.
#include <cstdint>

#include "core/methods/alns/hybrid/hybrid.hpp"
#include "kernels/alns/hybrid/memory.hpp"

namespace vicinity::alns::hybrid::block {

/// Customers that a step removes at most.
VICINITY_HD constexpr std::int32_t most_removed() {
  std::int32_t most = 0;
  for (std::int32_t longest = 1; longest <= longest_string; ++longest) {
    const std::int32_t strings = 1 + (4 * mean_removed - 2 - longest) / (1 + longest);
    if (strings * longest > most) most = strings * longest;
  }
  return most;
}
static_assert(most_removed() == 32);

class StringRemoval {
 public:
  VICINITY_HD StringRemoval(const Problem& problem, Pieces& pieces)
      : problem_(problem), vrp_(problem.vrp), n_(problem.vrp.n), m_(problem.routes) {
    for (Stop** rows : {&stops_, &kept_stops_}) *rows = pieces.take<Stop>(n_ + 1 + m_);
    for (Sums** rows : {&sums_, &kept_sums_}) *rows = pieces.take<Sums>(m_);
    ruined_ = pieces.take<std::int32_t>(m_);
    ends_ = pieces.take<Node>(m_);
    for (Node** rows : {&removed_, &sorted_}) *rows = pieces.take<Node>(most_removed());
    ranks_ = pieces.take<std::int32_t>(most_removed());
    blinks_ = pieces.take<std::uint32_t>(most_removed());
    near_ = pieces.take<Near>(most_removed() * (problem.k + 1));
    touched_ = pieces.take<Node>(4 * most_removed());
    touched_routes_ = pieces.take<Node>(2 * most_removed());
  }

  /// Takes `current` through the steps of a generation; what is feasible and better than state.best_distance becomes `best`. Adapts the
  /// penalties of the state. By one warp.
  template <class Warp>
  VICINITY_HD void anneal(const Warp& warp, Packed current, Packed best, LineState& state, const LineJob& job) {
    const std::int64_t steps = job.steps;
    Stream stream(job.seed, 2 * job.generation + 1, job.line);
    penalties_ = state.penalties;
    std::int64_t best_distance = state.best_distance;
    load(warp, current);
    Whole kept = whole_;
    std::int64_t load_feasible = 0, duration_feasible = 0;
    double temperature = job.temperature;
    for (std::int64_t step = 1; step <= steps; ++step, temperature = times(temperature, job.cooling)) {
      load_feasible += whole_.overloaded == 0 ? 1 : 0;
      duration_feasible += whole_.late == 0 ? 1 : 0;
      removed_count_ = touched_count_ = touched_routes_count_ = 0;
      ruin(warp, stream, static_cast<std::int32_t>(step));
      recreate(warp, stream);
      const bool accepted = accepts(whole_.cost - kept.cost, temperature, stream.bits());
      settle(warp, accepted);
      if (!accepted) {
        whole_ = kept;
        continue;
      }
      kept = whole_;
      if (whole_.cost >= best_distance || whole_.overloaded > 0 || whole_.late > 0) continue;
      best_distance = whole_.cost;
      store(warp, best);
    }
    store(warp, current);
    warp.once([&] {
      state.best_distance = best_distance;
      state.penalties = {adapted_penalty(penalties_.load, load_feasible, steps),
                         adapted_penalty(penalties_.duration, duration_feasible, steps)};
      state.evaluations += evaluations_;
    });
  }

 private:
  /// A node; next is 0 where a customer is removed.
  struct Stop {
    std::int32_t to_next;  ///< the length of the edge behind it
    Node next, prev, route;
  };
  struct Sums {  ///< of a route
    std::int64_t penalty;
    std::int32_t load, duration, size;
  };
  struct Whole {
    std::int64_t cost;              ///< distance and penalties
    std::int32_t used, empty;       ///< routes with customers; the empty one of least number, or -1
    std::int32_t overloaded, late;  ///< routes beyond the capacity, and the limit
  };
  struct Near {  ///< of a removed customer
    std::int32_t distance;
    Node neighbor;  ///< behind the last one the depot
  };

  [[nodiscard]] VICINITY_HD std::int32_t start_of(std::int32_t r) const { return n_ + 1 + r; }
  [[nodiscard]] VICINITY_HD bool is_start(std::int32_t node) const { return node > n_; }
  [[nodiscard]] VICINITY_HD std::int32_t place(std::int32_t node) const { return is_start(node) ? 0 : node; }

  template <class Warp>
  VICINITY_HD void load(const Warp& warp, Packed solution) {
    warp.each(m_, [&](std::int32_t r) {
      const std::int32_t start = start_of(r), first = solution.first(r), size = solution.size(r);
      std::int32_t before = start, load = 0, duration = 0;
      for (std::int32_t i = 0; i <= size; ++i) {
        const std::int32_t c = i < size ? solution.customers[first + i] : start;
        stops_[before].next = static_cast<Node>(c);
        stops_[c].prev = static_cast<Node>(before);
        stops_[c].route = static_cast<Node>(r);
        stops_[before].to_next = vrp_(place(before), place(c));
        load += vrp_.demand[place(c)];
        duration += stops_[before].to_next + vrp_.service[place(c)];
        before = c;
      }
      sums_[r] = {penalty(vrp_, penalties_, load, duration), load, duration, size};
      ruined_[r] = 0;
    });
    warp.each(n_ + m_, [&](std::int32_t i) { kept_stops_[i + 1] = stops_[i + 1]; });
    warp.each(m_, [&](std::int32_t r) { kept_sums_[r] = sums_[r]; });
    whole_ = {-problem_.served, 0, -1, 0, 0};
    for (std::int32_t r = m_ - 1; r >= 0; --r) {
      const Sums& sums = sums_[r];
      whole_.cost += sums.duration + sums.penalty;
      whole_.used += sums.size != 0 ? 1 : 0;
      whole_.overloaded += sums.load > vrp_.capacity ? 1 : 0;
      whole_.late += sums.duration > vrp_.limit ? 1 : 0;
      if (sums.size == 0) whole_.empty = r;
    }
  }
  template <class Warp>
  VICINITY_HD void store(const Warp& warp, Packed solution) const {
    warp.scan(
        m_, [&](std::int32_t r) { return sums_[r].size; },
        [&](std::int32_t r, std::int32_t sum) { solution.ends[r] = ends_[r] = static_cast<Node>(sum); });
    warp.each(m_, [&](std::int32_t r) {
      std::int32_t at = ends_[r] - sums_[r].size;
      for (std::int32_t c = stops_[start_of(r)].next; !is_start(c); c = stops_[c].next) solution.customers[at++] = static_cast<Node>(c);
    });
  }
  /// What the step touched stays as it is, or becomes what it was.
  template <class Warp>
  VICINITY_HD void settle(const Warp& warp, bool accepted) const {
    Stop *const from = accepted ? stops_ : kept_stops_, *const to = accepted ? kept_stops_ : stops_;
    Sums *const sums_from = accepted ? sums_ : kept_sums_, *const sums_to = accepted ? kept_sums_ : sums_;
    // a node may be there twice: it is the same that is written
    warp.each(removed_count_, [&](std::int32_t i) { to[removed_[i]] = from[removed_[i]]; });
    warp.each(touched_count_, [&](std::int32_t i) { to[touched_[i]] = from[touched_[i]]; });
    warp.each(touched_routes_count_, [&](std::int32_t i) { sums_to[touched_routes_[i]] = sums_from[touched_routes_[i]]; });
  }

  // --- removal

  template <class Warp>
  VICINITY_HD void ruin(const Warp& warp, Stream& stream, std::int32_t step) {
    const std::int32_t seed = 1 + stream.below(n_), longest = string_length(n_, whole_.used);
    std::int32_t strings = strings_of(stream.bits(), longest);
    for (std::int32_t i = -1; i < problem_.k && strings > 0; ++i) {
      const std::int32_t c = i < 0 ? seed : problem_.nearest[seed * problem_.k + i];
      if (stops_[c].next == 0 || ruined_[stops_[c].route] == step) continue;
      const std::int32_t r = stops_[c].route;
      warp.once([&] { ruined_[r] = step; });
      remove_string(warp, c, longest, stream);
      --strings;
    }
  }
  /// A string of c's route that has c; in a split one the customers in its middle stay, which may be c.
  template <class Warp>
  VICINITY_HD void remove_string(const Warp& warp, std::int32_t c, std::int32_t longest, Stream& stream) {
    const std::int32_t size = sums_[stops_[c].route].size;
    const std::int32_t length = 1 + stream.below(size < longest ? size : longest);
    std::int32_t stay = 0, stay_from = 0;
    if (stream.below(2) == 0 && length > 1 && length < size) {
      stay = 1;
      while (length + stay < size && one_more_stays(stream.bits())) ++stay;
      stay_from = 1 + stream.below(length - 1);
    }
    const std::int32_t whole = length + stay;
    std::int32_t before = 0, behind = 0, first = c;
    for (std::int32_t b = stops_[c].next; behind < whole - 1 && !is_start(b); b = stops_[b].next) ++behind;
    for (std::int32_t a = stops_[c].prev; before < whole - 1 && !is_start(a); a = stops_[a].prev) ++before;
    const std::int32_t least = whole - 1 - behind;  // customers of the string before c
    const std::int32_t offset = least + stream.below(before - least + 1);
    for (std::int32_t i = 0; i < offset; ++i) first = stops_[first].prev;
    if (stay == 0) {
      remove(warp, first, length);
      return;
    }
    std::int32_t second = first;
    for (std::int32_t i = 0; i < stay_from + stay; ++i) second = stops_[second].next;
    remove(warp, first, stay_from);
    remove(warp, second, length - stay_from);
  }

  /// `count` customers from `first` on.
  template <class Warp>
  VICINITY_HD void remove(const Warp& warp, std::int32_t first, std::int32_t count) {
    const std::int32_t a = stops_[first].prev, r = stops_[first].route, from = removed_count_;
    std::int32_t b = first, load = 0, service = 0, distance = -stops_[a].to_next;
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t c = b;
      warp.once([&] { removed_[from + i] = static_cast<Node>(c); });
      load += vrp_.demand[c];
      service += vrp_.service[c];
      distance -= stops_[c].to_next;
      b = stops_[c].next;
    }
    removed_count_ += count;
    const std::int32_t joined = vrp_(place(a), place(b));
    warp.each(count, [&](std::int32_t i) { stops_[removed_[from + i]].next = 0; });
    touch(warp, a, b, r);
    change(warp, r, -count, -load, distance + joined, -service);
    warp.once([&] {
      stops_[a].next = static_cast<Node>(b);
      stops_[a].to_next = joined;
      stops_[b].prev = static_cast<Node>(a);
    });
    if (sums_[r].size != 0) return;
    --whole_.used;
    if (whole_.empty < 0 || r < whole_.empty) whole_.empty = r;
  }

  // --- insertion

  template <class Warp>
  VICINITY_HD void recreate(const Warp& warp, Stream& stream) {
    const Order order = order_of(stream.bits());
    const std::uint64_t random = stream.bits();
    const std::int32_t count = removed_count_, width = problem_.k + 1;
    warp.each(count, [&](std::int32_t i) {
      Stream own = stream;
      own.skip(static_cast<std::uint32_t>(i));
      blinks_[i] = static_cast<std::uint32_t>(own.bits());
      ranks_[i] = rank_of(order, vrp_, removed_[i], random);
    });
    stream.skip(static_cast<std::uint32_t>(count));
    warp.each(count, [&](std::int32_t i) {
      std::int32_t less = 0;
      for (std::int32_t j = 0; j < count; ++j)
        less += ranks_[j] < ranks_[i] || (ranks_[j] == ranks_[i] && removed_[j] < removed_[i]) ? 1 : 0;
      sorted_[less] = removed_[i];
    });
    warp.fetch(
        count * width,
        [&](std::int32_t i) {
          const std::int32_t c = sorted_[i / width], slot = i % width;
          const Node neighbor = slot < width - 1 ? problem_.nearest[c * problem_.k + slot] : Node{0};
          return Near{vrp_(c, neighbor), neighbor};
        },
        [&](std::int32_t i, const Near& near) { near_[i] = near; });
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t c = sorted_[i];
      insert(warp, c, position_for(warp, c, near_ + i * width, blinks_[i]));
    }
  }

  /// The node behind which `c` goes.
  template <class Warp>
  VICINITY_HD std::int32_t position_for(const Warp& warp, std::int32_t c, const Near* near, std::uint32_t blink) {
    const std::int32_t demand = vrp_.demand[c], service = vrp_.service[c], k = problem_.k;
    // where it makes two edges of these lengths
    const auto key_at = [&](std::int32_t before, std::int32_t edges) {
      const Sums& sums = sums_[stops_[before].route];
      const std::int32_t delta = edges - stops_[before].to_next;
      const std::int64_t after = penalty(vrp_, penalties_, sums.load + demand, sums.duration + delta + service);
      return WideKey{ordered(insertion_price(delta, sums.penalty, after)), static_cast<std::uint64_t>(before)};
    };
    // no jumps: what lanes read for several positions is under way at the same time
    WideKey best = warp.least_of_few(2 * k + 1, [&](std::int32_t i) {
      const bool apart = i == 2 * k, behind = i % 2 == 0;
      const std::int32_t beside = apart ? start_of(whole_.empty < 0 ? 0 : whole_.empty) : near[i / 2].neighbor;
      const std::int32_t next = stops_[beside].next;
      const bool present = apart ? whole_.empty >= 0 : next != 0;
      const std::int32_t other = !present ? start_of(0) : behind ? next : static_cast<std::int32_t>(stops_[beside].prev);
      const std::int32_t before = !present || !behind ? other : beside;
      const WideKey key = key_at(before, near[i / 2].distance + vrp_(c, place(other)));
      return !present || (!apart && blinks(blink, before)) ? WideKey{} : key;
    });
    evaluations_ += 2 * k;
    if (best.low == WideKey{}.low) {
      best = warp.least(n_ + m_, [&](std::int32_t i) {
        if (stops_[i + 1].next == 0) return WideKey{};
        return key_at(i + 1, vrp_(c, place(i + 1)) + vrp_(c, place(stops_[i + 1].next)));
      });
      for (std::int32_t r = 0; r < m_; ++r) evaluations_ += sums_[r].size + 1;
    }
    return static_cast<std::int32_t>(best.low);
  }

  template <class Warp>
  VICINITY_HD void insert(const Warp& warp, std::int32_t c, std::int32_t a) {
    const std::int32_t b = stops_[a].next, r = stops_[a].route, to_a = vrp_(c, place(a)), to_b = vrp_(c, place(b));
    const std::int32_t more = to_a + to_b - stops_[a].to_next;
    touch(warp, a, b, r);
    change(warp, r, 1, vrp_.demand[c], more, vrp_.service[c]);
    warp.once([&] {
      stops_[c] = {to_b, static_cast<Node>(b), static_cast<Node>(a), static_cast<Node>(r)};
      stops_[b].prev = static_cast<Node>(c);
      stops_[a].next = static_cast<Node>(c);
      stops_[a].to_next = to_a;
    });
    if (sums_[r].size != 1) return;
    ++whole_.used;
    if (r != whole_.empty) return;
    whole_.empty = -1;
    for (std::int32_t other = r + 1; other < m_; ++other)
      if (sums_[other].size == 0) {
        whole_.empty = other;
        return;
      }
  }

  // --- what changes

  template <class Warp>
  VICINITY_HD void touch(const Warp& warp, std::int32_t a, std::int32_t b, std::int32_t r) {
    const std::int32_t node = touched_count_, route = touched_routes_count_;
    touched_count_ += 2;
    ++touched_routes_count_;
    warp.once([&] {
      touched_[node] = static_cast<Node>(a);
      touched_[node + 1] = static_cast<Node>(b);
      touched_routes_[route] = static_cast<Node>(r);
    });
  }

  /// Route r has so much more, and so many customers.
  template <class Warp>
  VICINITY_HD void change(const Warp& warp, std::int32_t r, std::int32_t customers, std::int32_t more_load, std::int32_t distance,
                          std::int32_t service) {
    const Sums old = sums_[r];
    const std::int32_t load = old.load + more_load, duration = old.duration + distance + service;
    const std::int64_t now = penalty(vrp_, penalties_, load, duration);
    whole_.cost += distance + now - old.penalty;
    whole_.overloaded += (load > vrp_.capacity ? 1 : 0) - (old.load > vrp_.capacity ? 1 : 0);
    whole_.late += (duration > vrp_.limit ? 1 : 0) - (old.duration > vrp_.limit ? 1 : 0);
    warp.once([&] { sums_[r] = {now, load, duration, old.size + customers}; });
  }

  const Problem& problem_;
  const vrp::View& vrp_;
  std::int32_t n_, m_;
  Penalties penalties_{};
  Stop *stops_, *kept_stops_;        ///< [node]; the latter as before the step
  Sums *sums_, *kept_sums_;          ///< [r]
  std::int32_t* ruined_;             ///< [r] the step in which it last lost a string, from 1 on
  Node* ends_;                       ///< [r]
  Node *removed_, *sorted_;          ///< as they were removed, and as they are to be inserted
  std::int32_t* ranks_;              ///< of removed_
  std::uint32_t* blinks_;            ///< of sorted_
  Near* near_;                       ///< [k + 1] of sorted_
  Node *touched_, *touched_routes_;  ///< by the step, beside removed_; some more than once
  std::int32_t removed_count_ = 0, touched_count_ = 0, touched_routes_count_ = 0;
  Whole whole_{};
  std::int64_t evaluations_ = 0;
};

}  // namespace vicinity::alns::hybrid::block
