#pragma once
// String removal of gpu-hybrid (the rule: core/methods/alns/hybrid/hybrid.hpp): a line's steps are made by one warp of a block, whose other
// warps wait.
//
// Data, in the memory of a block: routes as rings of nodes, each with the length of the edge behind it; of a route its sums and penalty;
// what is removed, and what was done, to take it back. What a step knows of the whole solution (cost, routes in use, how many exceed a
// limit) stands in registers, the same in all lanes. Phases of a step: strings are removed customer by customer; removed ones are ranked, a
// lane each; for each of them 40 neighbours, a position a lane, twice; acceptance. Synchronisation: within the warp. Cost: the latency of
// some ten removals and insertions, each with a few dependent reads of distances.
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
    for (Node** rows : {&next_, &prev_, &route_}) *rows = pieces.take<Node>(n_ + 1 + m_);
    to_next_ = pieces.take<std::int32_t>(n_ + 1 + m_);
    for (std::int32_t** rows : {&load_, &duration_, &ruined_}) *rows = pieces.take<std::int32_t>(m_);
    penalty_ = pieces.take<std::int64_t>(m_);
    size_ = pieces.take<Node>(m_);
    ends_ = pieces.take<Node>(m_);
    removed_ = pieces.take<Node>(most_removed());
    sorted_ = pieces.take<Node>(most_removed());
    ranks_ = pieces.take<std::int32_t>(most_removed());
    done_ = pieces.take<Done>(2 * most_removed() + 1);  // one more while a step is taken back
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
    std::int64_t distance = cost_, load_feasible = 0, duration_feasible = 0;
    double temperature = job.temperature;
    for (std::int64_t step = 1; step <= steps; ++step, temperature = times(temperature, job.cooling)) {
      load_feasible += overloaded_ == 0 ? 1 : 0;
      duration_feasible += late_ == 0 ? 1 : 0;
      count_ = 0;
      ruin(warp, stream, static_cast<std::int32_t>(step));
      recreate(warp, stream);
      if (!accepts(cost_ - distance, temperature, stream.bits())) {
        take_back(warp);
        continue;
      }
      distance = cost_;
      if (distance >= best_distance || overloaded_ > 0 || late_ > 0) continue;
      best_distance = distance;
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
  struct Done {  ///< for taking back
    Node customer, before;
    bool inserted;
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
        next_[before] = static_cast<Node>(c);
        prev_[c] = static_cast<Node>(before);
        route_[c] = static_cast<Node>(r);
        to_next_[before] = vrp_(place(before), place(c));
        load += vrp_.demand[place(c)];
        duration += to_next_[before] + vrp_.service[place(c)];
        before = c;
      }
      load_[r] = load;
      duration_[r] = duration;
      size_[r] = static_cast<Node>(size);
      ruined_[r] = 0;
      penalty_[r] = penalty(vrp_, penalties_, load, duration);
    });
    cost_ = -problem_.served;
    used_ = overloaded_ = late_ = 0;
    empty_ = -1;
    for (std::int32_t r = m_ - 1; r >= 0; --r) {
      cost_ += duration_[r] + penalty_[r];
      used_ += size_[r] != 0 ? 1 : 0;
      overloaded_ += load_[r] > vrp_.capacity ? 1 : 0;
      late_ += duration_[r] > vrp_.limit ? 1 : 0;
      if (size_[r] == 0) empty_ = r;
    }
  }
  template <class Warp>
  VICINITY_HD void store(const Warp& warp, Packed solution) const {
    warp.scan(
        m_, [&](std::int32_t r) { return static_cast<std::int32_t>(size_[r]); },
        [&](std::int32_t r, std::int32_t sum) { solution.ends[r] = ends_[r] = static_cast<Node>(sum); });
    warp.each(m_, [&](std::int32_t r) {
      std::int32_t at = ends_[r] - size_[r];
      for (std::int32_t c = next_[start_of(r)]; !is_start(c); c = next_[c]) solution.customers[at++] = static_cast<Node>(c);
    });
  }

  // --- removal

  template <class Warp>
  VICINITY_HD void ruin(const Warp& warp, Stream& stream, std::int32_t step) {
    removed_count_ = 0;
    const std::int32_t seed = 1 + stream.below(n_), longest = string_length(n_, used_);
    std::int32_t strings = strings_of(stream.bits(), longest);
    for (std::int32_t i = -1; i < problem_.k && strings > 0; ++i) {
      const std::int32_t c = i < 0 ? seed : problem_.nearest[seed * problem_.k + i];
      if (next_[c] == 0 || ruined_[route_[c]] == step) continue;
      const std::int32_t r = route_[c];
      warp.once([&] { ruined_[r] = step; });
      remove_string(warp, c, longest, stream);
      --strings;
    }
  }
  /// A string of c's route that has c; in a split one the customers in its middle stay, which may be c.
  template <class Warp>
  VICINITY_HD void remove_string(const Warp& warp, std::int32_t c, std::int32_t longest, Stream& stream) {
    const std::int32_t size = size_[route_[c]];
    const std::int32_t length = 1 + stream.below(size < longest ? size : longest);
    std::int32_t stay = 0, stay_from = 0;
    if (stream.below(2) == 0 && length > 1 && length < size) {
      stay = 1;
      while (length + stay < size && one_more_stays(stream.bits())) ++stay;
      stay_from = 1 + stream.below(length - 1);
    }
    const std::int32_t whole = length + stay;
    std::int32_t before = 0, behind = 0, first = c;
    for (std::int32_t b = next_[c]; behind < whole - 1 && !is_start(b); b = next_[b]) ++behind;
    for (std::int32_t a = prev_[c]; before < whole - 1 && !is_start(a); a = prev_[a]) ++before;
    const std::int32_t least = whole - 1 - behind;  // customers of the string before c
    const std::int32_t offset = least + stream.below(before - least + 1);
    for (std::int32_t i = 0; i < offset; ++i) first = prev_[first];
    for (std::int32_t i = 0; i < whole; ++i) {
      const std::int32_t one = first;
      first = next_[first];
      if (i >= stay_from && i < stay_from + stay) continue;
      remove(warp, one);
      const std::int32_t number = removed_count_++;
      warp.once([&] { removed_[number] = static_cast<Node>(one); });
    }
  }

  // --- insertion

  template <class Warp>
  VICINITY_HD void recreate(const Warp& warp, Stream& stream) {
    const Order order = order_of(stream.bits());
    const std::uint64_t random = stream.bits();
    const std::int32_t count = removed_count_;
    warp.each(count, [&](std::int32_t i) { ranks_[i] = rank_of(order, vrp_, removed_[i], random); });
    warp.each(count, [&](std::int32_t i) {
      std::int32_t less = 0;
      for (std::int32_t j = 0; j < count; ++j)
        less += ranks_[j] < ranks_[i] || (ranks_[j] == ranks_[i] && removed_[j] < removed_[i]) ? 1 : 0;
      sorted_[less] = removed_[i];
    });
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t c = sorted_[i];
      insert(warp, c, position_for(warp, c, static_cast<std::uint32_t>(stream.bits())));
    }
  }

  /// The node behind which `c` goes.
  template <class Warp>
  VICINITY_HD std::int32_t position_for(const Warp& warp, std::int32_t c, std::uint32_t blink) {
    const std::int32_t demand = vrp_.demand[c], service = vrp_.service[c];
    const auto key_at = [&](std::int32_t before) {
      const std::int32_t r = route_[before];
      const std::int32_t delta = vrp_(c, place(before)) + vrp_(c, place(next_[before])) - to_next_[before];
      const std::int64_t after = penalty(vrp_, penalties_, load_[r] + demand, duration_[r] + delta + service);
      return WideKey{ordered(insertion_price(delta, penalty_[r], after)), static_cast<std::uint64_t>(before)};
    };
    const Node* const nearest = problem_.nearest + c * problem_.k;
    WideKey best = warp.least(2 * problem_.k, [&](std::int32_t i) {
      const std::int32_t neighbor = nearest[i / 2];
      if (next_[neighbor] == 0) return WideKey{};
      const std::int32_t before = i % 2 == 0 ? neighbor : static_cast<std::int32_t>(prev_[neighbor]);
      return blinks(blink, before) ? WideKey{} : key_at(before);
    });
    evaluations_ += 2 * problem_.k;
    if (empty_ >= 0)
      if (const WideKey empty = key_at(start_of(empty_)); empty.before(best)) best = empty;
    if (best.low == WideKey{}.low) {
      best = warp.least(n_ + m_, [&](std::int32_t i) { return next_[i + 1] == 0 ? WideKey{} : key_at(i + 1); });
      for (std::int32_t r = 0; r < m_; ++r) evaluations_ += size_[r] + 1;
    }
    return static_cast<std::int32_t>(best.low);
  }

  // --- the rings

  template <class Warp>
  VICINITY_HD void take_back(const Warp& warp) {
    for (std::int32_t i = count_ - 1; i >= 0; --i) {
      const Done last = done_[i];
      if (last.inserted)
        remove(warp, last.customer);
      else
        insert(warp, last.customer, last.before);
      count_ = i;  // what was just done is noted, too
    }
  }

  template <class Warp>
  VICINITY_HD void note(const Warp& warp, std::int32_t customer, std::int32_t before, bool inserted) {
    const std::int32_t number = count_++;
    warp.once([&] { done_[number] = {static_cast<Node>(customer), static_cast<Node>(before), inserted}; });
  }

  /// Route r has so much more, and so many customers.
  template <class Warp>
  VICINITY_HD void change(const Warp& warp, std::int32_t r, std::int32_t customers, std::int32_t more_load, std::int32_t distance,
                          std::int32_t service) {
    const std::int32_t load = load_[r] + more_load, duration = duration_[r] + distance + service, size = size_[r] + customers;
    const std::int64_t now = penalty(vrp_, penalties_, load, duration);
    cost_ += distance + now - penalty_[r];
    overloaded_ += (load > vrp_.capacity ? 1 : 0) - (load_[r] > vrp_.capacity ? 1 : 0);
    late_ += (duration > vrp_.limit ? 1 : 0) - (duration_[r] > vrp_.limit ? 1 : 0);
    warp.once([&] {
      load_[r] = load;
      duration_[r] = duration;
      size_[r] = static_cast<Node>(size);
      penalty_[r] = now;
    });
  }

  template <class Warp>
  VICINITY_HD void remove(const Warp& warp, std::int32_t c) {
    const std::int32_t a = prev_[c], b = next_[c], r = route_[c], joined = vrp_(place(a), place(b));
    note(warp, c, a, false);
    change(warp, r, -1, -vrp_.demand[c], joined - to_next_[a] - to_next_[c], -vrp_.service[c]);
    warp.once([&] {
      next_[a] = static_cast<Node>(b);
      to_next_[a] = joined;
      prev_[b] = static_cast<Node>(a);
      next_[c] = 0;
    });
    if (size_[r] != 0) return;
    --used_;
    if (empty_ < 0 || r < empty_) empty_ = r;
  }

  template <class Warp>
  VICINITY_HD void insert(const Warp& warp, std::int32_t c, std::int32_t a) {
    const std::int32_t b = next_[a], r = route_[a], to_a = vrp_(place(a), c), to_b = vrp_(c, place(b));
    note(warp, c, a, true);
    change(warp, r, 1, vrp_.demand[c], to_a + to_b - to_next_[a], vrp_.service[c]);
    warp.once([&] {
      next_[c] = static_cast<Node>(b);
      prev_[c] = static_cast<Node>(a);
      route_[c] = static_cast<Node>(r);
      to_next_[c] = to_b;
      prev_[b] = static_cast<Node>(c);
      next_[a] = static_cast<Node>(c);
      to_next_[a] = to_a;
    });
    if (size_[r] != 1) return;
    ++used_;
    if (r != empty_) return;
    empty_ = -1;
    for (std::int32_t other = r + 1; other < m_; ++other)
      if (size_[other] == 0) {
        empty_ = other;
        return;
      }
  }

  const Problem& problem_;
  const vrp::View& vrp_;
  std::int32_t n_, m_;
  Penalties penalties_{};
  Node *next_, *prev_, *route_;               ///< [node] next is 0 where a customer is removed
  std::int32_t* to_next_;                     ///< [node] the length of the edge behind it
  std::int32_t *load_, *duration_, *ruined_;  ///< [r] ruined_: the step in which it last lost a string, from 1 on
  std::int64_t* penalty_;                     ///< [r]
  Node *size_, *ends_;                        ///< [r]
  Node *removed_, *sorted_;
  std::int32_t* ranks_;
  Done* done_;
  std::int32_t count_ = 0, removed_count_ = 0;  ///< of done_ and removed_
  std::int32_t used_ = 0, empty_ = -1;          ///< routes with customers; the empty one of least number
  std::int32_t overloaded_ = 0, late_ = 0;      ///< routes beyond the capacity, and the limit
  std::int64_t cost_ = 0;                       ///< distance and penalties
  std::int64_t evaluations_ = 0;
};

}  // namespace vicinity::alns::hybrid::block
