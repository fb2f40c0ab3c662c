// cpu-ils-recompute: the contract of core/methods/lsm/tour_search.hpp word by word, for the twins of cpu-ils. Tours are turned and searched
// in O(n) for every look and every exchange, lengths are the sums of all edges, and a kick is undone by going back to a copy.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/methods/lsm/tour_search.hpp"
#include "core/problems/tsp/neighbors.hpp"
#include "core/util/error.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/tour_run.hpp"
#include "cpu_ref/run/interruption.hpp"

namespace vicinity::tour_search {
namespace {

constexpr std::size_t of(std::int32_t i) { return static_cast<std::size_t>(i); }

/// The tour as it reads from `first` on, next to `second`; empty when they are no neighbours.
tsp::Tour read_from(tsp::Tour tour, std::int32_t first, std::int32_t second) {
  std::rotate(tour.begin(), std::find(tour.begin(), tour.end(), first), tour.end());
  if (tour[1] != second) std::reverse(tour.begin() + 1, tour.end());
  if (tour[1] != second) tour.clear();
  return tour;
}

/// The tour after an exchange; empty when it cannot be made.
tsp::Tour exchanged(const tsp::Tour& before, const Exchange& e) {
  tsp::Tour tour = read_from(before, e.a, e.b);
  if (tour.empty()) return tour;
  const auto c = std::find(tour.begin(), tour.end(), e.c);
  const std::int32_t behind = c + 1 == tour.end() ? tour.front() : *(c + 1);
  if (behind != e.d) return {};
  std::reverse(tour.begin() + 1, c + 1);
  return tour;
}

class PlainSearch {
 public:
  PlainSearch(const tsp::Tsp& tsp, const Task& task, const Start& start, std::int64_t k, int)
      : tsp_(tsp),
        task_(task),
        seed_(start.seed + static_cast<std::uint64_t>(k)),
        has_tour_(start.solution.has_value()),
        city_(of(tsp.size())) {
    std::iota(city_.begin(), city_.end(), 0);
    tour_ = city_;
    if (has_tour_) city_ = *start.solution;
    if (const std::string what = tsp::complaint(tsp, city_); !what.empty()) throw InputError("the start is no solution: " + what);
    base_ = tour_;
  }

  void set_up(const Interruption& interruption) {
    const auto check = [&] { interruption.check(); };
    const std::vector<std::int32_t> lists = tsp::neighbor_lists(tsp_, list_length, check);
    if (!has_tour_) city_ = tsp::greedy_tour(tsp_, lists, check);
    has_tour_ = true;
    const std::size_t n = city_.size(), width = lists.size() / n;
    std::vector<std::int32_t> number(n);
    for (std::size_t i = 0; i < n; ++i) number[of(city_[i])] = static_cast<std::int32_t>(i);
    for (const std::int32_t city : city_) {
      const auto first = lists.begin() + static_cast<std::ptrdiff_t>(of(city) * width);
      lists_.emplace_back(first, first + static_cast<std::ptrdiff_t>(width));
      for (std::int32_t& near : lists_.back()) near = number[of(near)];
    }
    std::deque<std::int32_t> waiting(tour_.begin(), tour_.end());
    std::vector<Exchange> unused;
    descend(tour_, waiting, unused, interruption);
    digest_.add(static_cast<std::uint64_t>(length(tour_)));
    best_ = base_ = tour_;
    cooling_ = Cooling(task_, tsp_.size(), length(tour_));
  }

  /// A walker where `briefly`, else the rest of the round.
  void advance(bool briefly, const Interruption& interruption) {
    do {
      walk(next_walker_, interruption);
      ++next_walker_;
    } while (next_walker_ < task_.walkers && !briefly);
    if (next_walker_ < task_.walkers) return;
    next_walker_ = 0;
    ++result_.rounds;
    digest_.add(static_cast<std::uint64_t>(length(tour_)));
    best_ = shortest();
    if (cooling_.advance()) tour_ = best_;
    base_ = tour_;
  }

  [[nodiscard]] bool done() const { return result_.rounds >= task_.rounds || tsp_.size() < fewest_cities; }
  [[nodiscard]] TracePoint progress() const {
    return {.iterations = result_.rounds, .objective = has_tour_ ? Objective(length(shortest())) : Objective(), .digest = digest_.value()};
  }
  [[nodiscard]] Result result() const {
    Result result = result_;
    if (!has_tour_) return result;
    const tsp::Tour& tour = shortest();
    for (const std::int32_t city : tour) result.tour.push_back(city_[of(city)]);
    result.tour = canonical(std::move(result.tour));
    result.length = length(tour);
    result.digest = digest_;
    return result;
  }

 private:
  [[nodiscard]] std::int32_t d(std::int32_t a, std::int32_t b) const {
    return static_cast<std::int32_t>(tsp::distance_of(tsp_, city_[of(a)], city_[of(b)]));
  }
  [[nodiscard]] std::int64_t length(const tsp::Tour& tour) const {
    std::int64_t sum = d(tour.back(), tour.front());
    for (std::size_t i = 1; i < tour.size(); ++i) sum += d(tour[i - 1], tour[i]);
    return sum;
  }

  /// Of the tours at the ends of rounds, and the one that the round under way has led to.
  [[nodiscard]] const tsp::Tour& shortest() const { return !best_.empty() && length(best_) <= length(tour_) ? best_ : tour_; }

  /// Cities that wait, until none does.
  void descend(tsp::Tour& tour, std::deque<std::int32_t>& waiting, std::vector<Exchange>& journal, const Interruption& interruption) {
    while (!waiting.empty()) {
      interruption.check();
      const std::int32_t t1 = waiting.front();
      waiting.pop_front();
      const std::optional<Move> move = move_of(tour, t1);
      if (!move) continue;
      const tsp::Tour path = read_from(tour, move->t1, move->t2);  // t1, t2, ... in the direction of the move
      const auto place = [&](std::int32_t city) { return std::find(path.begin() + 1, path.end(), city) - path.begin(); };
      const auto cities = [&](std::int32_t first, std::int32_t last) {
        return static_cast<std::int32_t>((last == t1 ? static_cast<std::ptrdiff_t>(path.size()) : place(last)) -
                                         (first == t1 ? static_cast<std::ptrdiff_t>(path.size()) : place(first)) + 1);
      };
      exchanges_of(*move, cities, [&](const Exchange& e) {
        tour = exchanged(tour, e);
        journal.push_back(e);
      });
      for (const std::int32_t city : {move->t1, move->t2, move->t3, move->t4, move->t5, move->t6})
        if (city >= 0 && std::find(waiting.begin(), waiting.end(), city) == waiting.end()) waiting.push_back(city);
    }
  }

  std::optional<Move> move_of(const tsp::Tour& tour, std::int32_t t1) {
    const auto at = std::find(tour.begin(), tour.end(), t1);
    const std::int32_t next = at + 1 == tour.end() ? tour.front() : *(at + 1), before = at == tour.begin() ? tour.back() : *(at - 1);
    for (const std::int32_t t2 : {std::min(next, before), std::max(next, before)}) {
      tsp::Tour path = read_from(tour, t1, t2);
      std::rotate(path.begin(), path.begin() + 1, path.end());  // t2 ... t1
      for (const std::int32_t t3 : lists_[of(t2)]) {
        if (d(t1, t2) - d(t2, t3) <= 0) break;
        if (const std::optional<Move> move = move_of(path, t1, t2, t3)) return move;
      }
    }
    return std::nullopt;
  }
  /// The best with this t3, if it shortens the tour; the path leads from t2 to t1.
  std::optional<Move> move_of(const tsp::Tour& path, std::int32_t t1, std::int32_t t2, std::int32_t t3) {
    const auto n = static_cast<std::int32_t>(path.size());
    const auto place = [&](std::int32_t city) {
      return static_cast<std::int32_t>(std::find(path.begin(), path.end(), city) - path.begin());
    };
    const auto city = [&](std::int32_t place_of_it) { return path[of((place_of_it + n) % n)]; };
    std::optional<Move> best;
    const auto offer = [&](std::int32_t t4, std::int32_t t5, std::int32_t t6, bool behind, bool swaps) {
      ++result_.evaluations;
      const std::int32_t removed = d(t1, t2) + d(t3, t4) + (t5 < 0 ? 0 : d(t5, t6));
      const std::int32_t added = d(t2, t3) + (t5 < 0 ? d(t4, t1) : d(t4, t5) + d(t6, t1));
      if (removed - added > (best ? best->gain : 0)) best = Move{removed - added, t1, t2, t3, t4, t5, t6, behind, swaps};
    };
    const std::int32_t at3 = place(t3);
    if (at3 == 1 || at3 == n - 1) return best;
    for (const bool behind : {false, true}) {
      const std::int32_t t4 = city(behind ? at3 + 1 : at3 - 1), at4 = place(t4);
      if (!behind) offer(t4, -1, -1, false, false);
      for (const std::int32_t t5 : lists_[of(t4)]) {
        if (d(t1, t2) - d(t2, t3) + d(t3, t4) - d(t4, t5) <= 0) break;
        const std::int32_t at5 = place(t5);
        if (t5 == t1 || city(at4 + 1) == t5 || city(at4 - 1) == t5) continue;
        if (!behind) offer(t4, t5, city(at5 < at4 ? at5 + 1 : at5 - 1), false, false);
        if (!behind || at5 > at3) continue;
        offer(t4, t5, city(at5 + 1), true, true);
        if (t5 != t2) offer(t4, t5, city(at5 - 1), true, false);
      }
    }
    return best;
  }

  void walk(std::int32_t walker, const Interruption& interruption) {
    tsp::Tour tour = base_;
    const tsp::Tour places = canonical(base_);
    for (std::int32_t k = 0; k < task_.kicks; ++k) {
      const Kick kick = kick_of(task_, seed_, result_.rounds, walker, k, tsp_.size());
      const tsp::Tour before = tour;
      std::rotate(tour.begin(), std::find(tour.begin(), tour.end(), places[of(kick.place)]), tour.end());
      if ((tour[1] > tour.back()) != kick.up) std::reverse(tour.begin() + 1, tour.end());
      const Ends e = ends_of(kick, [&](std::int32_t i) { return tour[of(i) % tour.size()]; });
      std::vector<Exchange> journal;
      exchanges_of(e, [&](const Exchange& one) {
        tour = exchanged(tour, one);
        journal.push_back(one);
      });
      std::deque<std::int32_t> waiting;
      for (const std::int32_t city : {e.p, e.x1, e.x2, e.y1, e.y2, e.z1, e.z2, e.q})
        if (std::find(waiting.begin(), waiting.end(), city) == waiting.end()) waiting.push_back(city);
      descend(tour, waiting, journal, interruption);
      if (keeps(cooling_.temperature(), length(tour) - length(before), seed_, result_.rounds, walker, k))
        kept_.push_back(std::move(journal));
      else
        tour = before;
    }
    for (const std::vector<Exchange>& journal : std::exchange(kept_, {})) join(journal);
  }
  void join(const std::vector<Exchange>& journal) {
    ++result_.kept;
    tsp::Tour tour = tour_;
    for (const Exchange& e : journal)
      if (!tour.empty()) tour = exchanged(tour, e);
    if (tour.empty())
      ++result_.dropped;
    else
      tour_ = tour;
  }

  const tsp::Tsp& tsp_;
  Task task_;
  std::uint64_t seed_;
  bool has_tour_;   ///< a start was given, or the greedy tour is made
  tsp::Tour city_;  ///< the instance's number of each
  std::vector<std::vector<std::int32_t>> lists_;
  tsp::Tour base_, tour_;  ///< the tour that the round began with; the one it leads to
  tsp::Tour best_;         ///< the shortest that a round ended with
  Cooling cooling_;
  std::int32_t next_walker_ = 0;
  std::vector<std::vector<Exchange>> kept_;  ///< by the walker under way
  Result result_;
  Digest digest_;
};

}  // namespace
}  // namespace vicinity::tour_search

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_ils_recompute(const Case& c, const Instance& instance) {
  return tour_search::prepare<tour_search::PlainSearch>(c, instance, 1);
}

}  // namespace vicinity::lsm
