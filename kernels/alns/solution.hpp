#pragma once
// A solution on the device: the paper's doubly linked list (core/methods/alns/giant_tour.hpp), or the array it is compared with
// (array_tour.hpp), in 16 bits a node, load and duration of each tour, and the sums over all tours; in one piece of memory, so that it is
// copied as words. Host and device read it alike.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/methods/alns/array_tour.hpp"
#include "core/methods/alns/giant_tour.hpp"
#include "core/methods/alns/task.hpp"
#include "core/problems/vrp/delta.hpp"
#include "core/util/hd.hpp"

namespace vicinity::alns {

/// Nodes: 0 to n + m, and no fleet is larger than n.
using Index = std::int16_t;
static_assert(2 * vrp::most_customers <= std::numeric_limits<Index>::max());

/// Of all tours.
struct Totals {
  std::int32_t cost;
  std::int32_t used;   ///< tours with requests
  std::int32_t open;   ///< the empty tour of least number, the only one in the list or array; -1: all vehicles have requests
  std::int32_t bound;  ///< the artificial depots of tours from here on are unused (section 3.2)
};

/// A view of `ints(n, m)` words: the totals, load and duration a tour, the rows of the list. Changes are serial work of one thread but
/// where they say otherwise.
template <class List>
struct DeviceSolution {
  Totals* totals;
  std::int32_t* load;      ///< [tour]
  std::int32_t* duration;  ///< [tour], with the service times
  List list;

  /// A multiple of four: 16 bytes are copied at a time.
  [[nodiscard]] VICINITY_HD static std::size_t ints(std::int32_t n, std::int32_t m) {
    return (4 + 2 * static_cast<std::size_t>(m) + (List::elements(n, m) + 1) / 2 + 3) / 4 * 4;
  }
  VICINITY_HD DeviceSolution(std::int32_t* words, std::int32_t n, std::int32_t m)
      : totals(reinterpret_cast<Totals*>(words)),
        load(words + 4),
        duration(load + m),
        list(List::at(reinterpret_cast<Index*>(duration + m), n, m)) {}

  /// No request in it, one empty tour.
  VICINITY_HD void clear() const {
    list.clear();
    for (std::int32_t t = 0; t < list.m; ++t) load[t] = duration[t] = 0;
    *totals = {0, 0, -1, 0};
    open_next();
  }
  /// The unused tour of least number joins, when no empty one is left.
  VICINITY_HD void open_next() const {
    const std::int32_t start = list.open_tour();
    totals->open = start < 0 ? -1 : start - list.start_of(0);
    if (totals->open >= totals->bound) totals->bound = totals->open + 1;
  }
  /// Of the empty tours, the one of least number stays; those that became empty are among the tours of the `count` requests of(j).
  template <class Requests>
  VICINITY_HD void keep_one_empty(const Requests& of, std::int32_t count) const {
    if (totals->open >= 0) list.close_tour(totals->open);
    for (std::int32_t j = 0; j < count; ++j)
      if (const std::int32_t t = list.tour[of(j)]; list.contains(list.start_of(t)) && list.empty(t)) list.close_tour(t);
    open_next();
  }
  /// Inserts after `position`, which makes the tour longer by `delta`.
  VICINITY_HD void insert(std::int32_t position, std::int32_t request, std::int32_t delta, std::int32_t demand,
                          std::int32_t service) const {
    const std::int32_t t = list.tour[position];
    list.insert_after(position, request);
    totals->cost += delta;
    load[t] += demand;
    duration[t] += delta + service;
    if (t != totals->open) return;
    ++totals->used;
    open_next();
  }
  /// Takes a request out, which makes its tour shorter by `saving`. An empty tour stays until keep_one_empty().
  VICINITY_HD void remove(std::int32_t request, std::int32_t saving, std::int32_t demand, std::int32_t service) const {
    const std::int32_t t = list.tour[request];
    list.remove(request);
    totals->cost -= saving;
    load[t] -= demand;
    duration[t] -= saving + service;
    if (list.empty(t)) --totals->used;
  }
  /// Positions that the empty tour and those with requests offer, when `out` requests are not in the solution.
  [[nodiscard]] VICINITY_HD std::int64_t positions(std::int32_t out) const {
    return list.n - std::int64_t{out} + totals->used + static_cast<std::int64_t>(totals->open >= 0);
  }

  /// What the removal of a request in the solution saves.
  template <class Distance>
  [[nodiscard]] VICINITY_HD std::int32_t saving(const Distance& d, std::int32_t request) const {
    return -vrp::removal_delta(d, list.place(list.before(request)), request, list.place(list.after(request)));
  }
};
using ListedSolution = DeviceSolution<GiantTour<Index>>;
using ArraySolution = DeviceSolution<ArrayTour<Index>>;

/// Order of numbers of either sign as that of unsigned ones.
[[nodiscard]] VICINITY_HD std::uint32_t ordered(std::int32_t number) { return static_cast<std::uint32_t>(number) ^ 0x80000000u; }
[[nodiscard]] VICINITY_HD std::int32_t number_of(std::uint32_t ordered) { return static_cast<std::int32_t>(ordered ^ 0x80000000u); }

/// On the host: tour t's requests in order.
template <class List>
[[nodiscard]] Tours tours_of(const DeviceSolution<List>& solution) {
  Tours tours;
  const auto& list = solution.list;
  for (std::int32_t t = 0; t < list.m; ++t) {
    if (!list.contains(list.start_of(t)) || list.empty(t)) continue;
    tours.resize(static_cast<std::size_t>(t) + 1);
    for (std::int32_t at = list.after(list.start_of(t)); !list.is_depot(at); at = list.after(at)) tours.back().push_back(at);
  }
  return tours;
}

/// On the host: the words of a solution of tours, none of which is empty.
template <class Solution>
[[nodiscard]] std::vector<std::int32_t> words_of(const vrp::View& vrp, const Tours& tours) {
  std::vector<std::int32_t> words(Solution::ints(vrp.n, vrp.vehicles));
  const Solution solution(words.data(), vrp.n, vrp.vehicles);
  solution.clear();
  for (const std::vector<std::int32_t>& tour : tours) {
    std::int32_t before = 0, at = solution.list.start_of(solution.totals->open);
    for (const std::int32_t request : tour) {
      solution.insert(at, request, vrp::insertion_delta(vrp, before, request, 0), vrp.demand[request], vrp.service[request]);
      before = at = request;
    }
  }
  return words;
}

}  // namespace vicinity::alns
