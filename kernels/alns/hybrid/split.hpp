#pragma once
// Split of gpu-hybrid (Prins 2004: the shortest path through all cuts), the rule that cpu_ref's has.
//
// Data: the order, from which sums up to each customer are made, and distances from the depot; costs and predecessors of all ends. Phases:
// customer after customer, the lanes of one warp try as many routes that begin there, until the first that is too long; then the cuts are
// read back. Where there are too many routes, one after the other is dissolved, and its customers inserted, each by the warp.
// Synchronisation: within the warp alone. Cost: n steps of l / 32 rounds for routes of up to l customers.
#include <cstdint>

#include "kernels/alns/hybrid/memory.hpp"

namespace vicinity::alns::hybrid::block {

template <class Team>
class Split {
 public:
  VICINITY_HD Split(const Problem& problem, Packed solution, Pieces& pieces)
      : vrp_(problem.vrp),
        m_(problem.routes),
        solution_(solution),
        cost_(pieces.template take<std::int64_t>(problem.vrp.n + 1)),
        load_(pieces.template take<std::int32_t>(problem.vrp.n + 1)),
        distance_(pieces.template take<std::int32_t>(problem.vrp.n + 1)),
        served_(pieces.template take<std::int32_t>(problem.vrp.n + 1)),
        depot_(pieces.template take<std::int32_t>(problem.vrp.n)),
        order_(pieces.template take<Node>(problem.vrp.n)),
        left_(pieces.template take<Node>(problem.vrp.n)),
        starts_(pieces.template take<Node>(problem.vrp.n + 1)),
        before_(pieces.template take<Node>(problem.vrp.n + 1)) {}

  /// Cuts `order`; the result is the block's solution.
  template <class TeamRef>
  VICINITY_HD void operator()(TeamRef& team, const Node* order, const Penalties& penalties) {
    team.first_warp([&](const auto& warp) {
      const std::int32_t n = vrp_.n;
      warp.each(n, [&](std::int32_t i) {
        order_[i] = order[i];
        depot_[i] = vrp_(0, order[i]);
      });
      warp.scan(
          n, [&](std::int32_t i) { return vrp_.demand[order_[i]]; }, [&](std::int32_t i, std::int32_t sum) { load_[i + 1] = sum; });
      warp.scan(
          n, [&](std::int32_t i) { return vrp_.service[order_[i]]; }, [&](std::int32_t i, std::int32_t sum) { served_[i + 1] = sum; });
      warp.scan(
          n, [&](std::int32_t i) { return i == 0 ? 0 : vrp_(order_[i - 1], order_[i]); },
          [&](std::int32_t i, std::int32_t sum) { distance_[i] = sum; });
      warp.once([&] { load_[0] = served_[0] = 0; });
      warp.each(n + 1, [&](std::int32_t i) { cost_[i] = i == 0 ? 0 : no_distance; });
      for (std::int32_t i = 0; i < n; ++i) cut_from(warp, i, penalties);
      std::int32_t routes = 0;
      for (std::int32_t end = n; end > 0; end = before_[end]) ++routes;
      std::int32_t r = routes;
      for (std::int32_t end = n; end > 0; end = before_[end]) {
        --r;
        warp.once([&] {
          starts_[r] = before_[end];
          starts_[r + 1] = static_cast<Node>(end);
        });
      }
      if (routes > m_) routes = dissolve(warp, routes, penalties);
      warp.each(n, [&](std::int32_t i) { solution_.customers[i] = order_[i]; });
      warp.each(m_, [&](std::int32_t route) { solution_.ends[route] = route < routes ? starts_[route + 1] : static_cast<Node>(n); });
    });
  }

 private:
  /// Routes whose first customer stands at i.
  template <class Warp>
  VICINITY_HD void cut_from(const Warp& warp, std::int32_t i, const Penalties& penalties) const {
    const std::int64_t most_load = vrp_.capacity + std::int64_t{vrp_.capacity} / 2,
                       most_duration = vrp_.limit + std::int64_t{vrp_.limit} / 2;
    const std::int64_t before = cost_[i];
    const std::int32_t out = depot_[i] - distance_[i], load_before = load_[i], served_before = served_[i];
    const auto length = [&](std::int32_t j) { return out + distance_[j] + depot_[j]; };
    warp.until(
        vrp_.n - i,
        [&](std::int32_t a) {
          const std::int32_t j = i + a;
          return a > 0 &&
                 (load_[j + 1] - load_before > most_load || std::int64_t{length(j)} + served_[j + 1] - served_before > most_duration);
        },
        [&](std::int32_t a) {
          const std::int32_t j = i + a, distance = length(j);
          const std::int64_t cost =
              before + distance + penalty(vrp_, penalties, load_[j + 1] - load_before, distance + served_[j + 1] - served_before);
          if (cost >= cost_[j + 1]) return;
          cost_[j + 1] = cost;
          before_[j + 1] = static_cast<Node>(i);
        });
  }

  /// Load and duration of route r.
  VICINITY_HD void measure(std::int32_t r, std::int32_t& load, std::int32_t& duration) const {
    load = duration = 0;
    std::int32_t at = 0;
    for (std::int32_t i = starts_[r]; i < starts_[r + 1]; ++i) {
      const std::int32_t c = order_[i];
      load += vrp_.demand[c];
      duration += vrp_(at, c) + vrp_.service[c];
      at = c;
    }
    duration += vrp_(at, 0);
  }

  /// Takes away the route of least (load, -number) until there are m, then inserts their customers. Returns m.
  template <class Warp>
  VICINITY_HD std::int32_t dissolve(const Warp& warp, std::int32_t routes, const Penalties& penalties) const {
    std::int32_t gone = 0;
    for (; routes > m_; --routes) {
      const WideKey least = warp.least(routes, [&](std::int32_t r) {
        std::int32_t load, duration;
        measure(r, load, duration);
        return WideKey{ordered(load), ~static_cast<std::uint64_t>(r)};
      });
      const auto r = static_cast<std::int32_t>(~least.low);
      const std::int32_t from = starts_[r], size = starts_[r + 1] - from;
      warp.each(size, [&](std::int32_t i) { left_[gone + i] = order_[from + i]; });
      gone += size;
      warp.once([&] {
        for (std::int32_t i = from + size; i < starts_[routes]; ++i) order_[i - size] = order_[i];
        for (std::int32_t s = r + 1; s <= routes; ++s) starts_[s - 1] = static_cast<Node>(starts_[s] - size);
        starts_[r] = static_cast<Node>(from);
      });
    }
    for (std::int32_t i = 0; i < gone; ++i) insert(warp, left_[i], penalties);
    return routes;
  }

  /// Where it costs least: least (change, route, position).
  template <class Warp>
  VICINITY_HD void insert(const Warp& warp, std::int32_t c, const Penalties& penalties) const {
    const WideKey best = warp.least(m_, [&](std::int32_t r) {
      std::int32_t load, duration;
      measure(r, load, duration);
      const std::int64_t before = penalty(vrp_, penalties, load, duration);
      const std::int32_t from = starts_[r], size = starts_[r + 1] - from;
      WideKey least;
      std::int32_t a = 0;
      for (std::int32_t i = 0; i <= size; ++i) {
        const std::int32_t b = i == size ? 0 : order_[from + i];
        const std::int32_t delta = vrp_(a, c) + vrp_(c, b) - vrp_(a, b);
        const std::int64_t after = penalty(vrp_, penalties, load + vrp_.demand[c], duration + delta + vrp_.service[c]);
        const WideKey key{ordered(delta + after - before), static_cast<std::uint64_t>(r) << 32 | static_cast<std::uint32_t>(i)};
        if (key.before(least)) least = key;
        a = b;
      }
      return least;
    });
    const auto r = static_cast<std::int32_t>(best.low >> 32), place = starts_[r] + static_cast<std::int32_t>(best.low & 0xFFFFFFFFu);
    warp.once([&] {
      for (std::int32_t i = starts_[m_]; i > place; --i) order_[i] = order_[i - 1];
      order_[place] = static_cast<Node>(c);
      for (std::int32_t s = r + 1; s <= m_; ++s) ++starts_[s];
    });
  }

  const vrp::View& vrp_;
  std::int32_t m_;
  Packed solution_;
  std::int64_t* cost_;                        ///< [customers in front] of the cheapest cut of these
  std::int32_t *load_, *distance_, *served_;  ///< sums: of the first i customers; distance_[i] from the first one to that at i
  std::int32_t* depot_;                       ///< [i] distance from the depot
  Node *order_, *left_, *starts_, *before_;   ///< starts_[r]: where route r begins; before_: where the last route of a cut does
};

}  // namespace vicinity::alns::hybrid::block
