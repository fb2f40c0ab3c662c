// cpu-ils: iterated local search on tours (2-opt and sequential 3-opt with lists of neighbours and a queue of waiting cities, kicked by
// short double bridges). core/methods/lsm/tour_search.hpp says which tours it goes through.
//
// Data. Cities are numbered as they stand in the start, so that what is near in the tour is near in memory. A tour is an array with the
// position of each city; an exchange reverses a path or, where that is shorter, the rest of the tour. On uniform cities the mean path is
// O(sqrt n). A walker works on a copy of its own and keeps a journal of exchanges: it is undone backwards, and joined by repeating it.
//
// Threads take whole walkers, one after the other; nothing is shared but the tour they start from. Joining is serial and costs a few
// exchanges a kick that was kept. A round costs W copies of the tour and W K kicks, of some microseconds each, whatever n is.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
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

// --- the tour ------------------------------------------------------------------------------------------------------------

class Cycle {
 public:
  Cycle() = default;
  explicit Cycle(std::int32_t n) : n_(n), order_(of(n)), position_(of(n)) {
    std::iota(order_.begin(), order_.end(), 0);
    std::iota(position_.begin(), position_.end(), 0);
  }

  [[nodiscard]] std::int32_t next(std::int32_t city) const {
    const std::int32_t i = position_[of(city)] + 1;
    return order_[of(i == n_ ? 0 : i)];
  }
  [[nodiscard]] std::int32_t before(std::int32_t city) const {
    const std::int32_t i = position_[of(city)];
    return order_[of(i == 0 ? n_ - 1 : i - 1)];
  }
  /// From `from` on to `to`.
  [[nodiscard]] std::int32_t steps(std::int32_t from, std::int32_t to) const {
    const std::int32_t d = position_[of(to)] - position_[of(from)];
    return d < 0 ? d + n_ : d;
  }
  /// The city `steps` behind, or before where it is negative; at most n.
  [[nodiscard]] std::int32_t at(std::int32_t city, std::int32_t steps) const {
    std::int32_t i = position_[of(city)] + steps;
    i += i < 0 ? n_ : i >= n_ ? -n_ : 0;
    return order_[of(i)];
  }
  /// Does it have both edges, in directions that fit?
  [[nodiscard]] bool can(const Exchange& e) const { return next(e.a) == e.b ? next(e.c) == e.d : next(e.b) == e.a && next(e.d) == e.c; }
  void exchange(const Exchange& e) {
    if (next(e.a) == e.b)
      reverse(position_[of(e.b)], position_[of(e.c)]);
    else
      reverse(position_[of(e.c)], position_[of(e.b)]);
  }
  [[nodiscard]] const std::vector<std::int32_t>& order() const noexcept { return order_; }

 private:
  void reverse(std::int32_t first, std::int32_t last) {
    std::int32_t length = last - first + 1;
    if (length <= 0) length += n_;
    if (2 * length > n_) {
      std::swap(first, last);
      first = first + 1 == n_ ? 0 : first + 1;
      last = last == 0 ? n_ - 1 : last - 1;
      length = n_ - length;
    }
    for (std::int32_t pairs = length / 2; pairs > 0; --pairs) {
      const std::int32_t a = order_[of(first)], b = order_[of(last)];
      order_[of(first)] = b;
      position_[of(b)] = first;
      order_[of(last)] = a;
      position_[of(a)] = last;
      if (++first == n_) first = 0;
      if (--last < 0) last = n_ - 1;
    }
  }

  std::int32_t n_ = 0;
  std::vector<std::int32_t> order_, position_;
};

// --- the problem, its cities numbered by the start --------------------------------------------------------------------------

struct Problem {
  std::int32_t n = 0, width = 0;        ///< cities; cities in a list
  std::vector<std::int32_t> city;       ///< the instance's number of each
  std::vector<double> x, y;             ///< coordinates, of GEO in radians
  std::vector<std::int32_t> near, far;  ///< the lists, and how far each of them is away
};

/// EXPLICIT, with the matrix where it is.
struct Renumbered {
  tsp::MatrixDistance matrix;
  const std::int32_t* city;
  std::int32_t operator()(std::int32_t a, std::int32_t b) const { return matrix(city[a], city[b]); }
};

/// visit(d), with d(a, b) the distance of cities of `problem`.
template <class Visit>
void with_distance(const tsp::Tsp& tsp, const Problem& problem, const Visit& visit) {
  const tsp::View view{problem.x.data(), problem.y.data(), problem.n};
  switch (tsp.metric()) {
    case tsp::Metric::euc_2d:
      return visit(tsp::Distance{view});
    case tsp::Metric::ceil_2d:
      return visit(tsp::CeilDistance{view});
    case tsp::Metric::att:
      return visit(tsp::AttDistance{view});
    case tsp::Metric::geo:
      return visit(tsp::GeoDistance{view});
    case tsp::Metric::matrix:
      return visit(Renumbered{{tsp.matrix().data(), problem.n}, problem.city.data()});
  }
}

// --- a walker ------------------------------------------------------------------------------------------------------------

/// A kick that was kept: its exchanges are those of the journal from the last one's end on.
struct Kept {
  std::size_t end;
  std::int64_t gain;
};

/// What one thread works with.
struct Walker {
  explicit Walker(std::int32_t n) : waiting(of(n)), is_waiting(of(n)) {}

  void wait(std::int32_t city) {
    if (is_waiting[of(city)] != 0) return;
    is_waiting[of(city)] = 1;
    waiting[tail] = city;
    if (++tail == waiting.size()) tail = 0;
    ++count;
  }
  std::int32_t take() {
    const std::int32_t city = waiting[head];
    if (++head == waiting.size()) head = 0;
    --count;
    is_waiting[of(city)] = 0;
    return city;
  }

  Cycle tour;
  std::vector<std::int32_t> waiting;  ///< a ring
  std::vector<char> is_waiting;
  std::size_t head = 0, tail = 0, count = 0;
};

/// What a walker hands over.
struct Journal {
  std::vector<Exchange> exchanges;
  std::vector<Kept> kept;
  std::int64_t evaluations = 0;
};

template <class Distance>
class LocalSearch {
 public:
  LocalSearch(const Problem& problem, Distance d, Walker& walker, Journal& journal)
      : problem_(problem), d_(d), walker_(walker), tour_(walker.tour), journal_(journal) {}

  /// Until no city waits. Returns how much shorter the tour is.
  std::int64_t descend() {
    std::int64_t gain = 0;
    while (walker_.count > 0) gain += improve(walker_.take());
    return gain;
  }
  /// Makes a move of `t1`, if one shortens the tour. Returns by how much.
  std::int32_t improve(std::int32_t t1) {
    best_ = {};
    std::int32_t low = tour_.next(t1), high = tour_.before(t1);
    const bool next_is_low = low < high;
    if (!next_is_low) std::swap(low, high);
    if (next_is_low) {
      scan<true>(t1, low);
      scan<false>(t1, high);
    } else {
      scan<false>(t1, low);
      scan<true>(t1, high);
    }
    if (best_.gain > 0) make(best_);
    return best_.gain;
  }
  void kick(const Kick& k, std::int32_t p) {
    const bool forward = (tour_.next(p) > tour_.before(p)) == k.up;
    const auto ahead = [&](std::int32_t steps) { return tour_.at(p, forward ? steps : -steps); };
    const Ends e = ends_of(k, ahead);
    kick_loss_ =
        d_(e.p, e.z1) + d_(e.z2, e.y1) - d_(e.p, e.x1) - d_(e.x2, e.y1) + (d_(e.y2, e.x1) + d_(e.x2, e.q) - d_(e.y2, e.z1) - d_(e.z2, e.q));
    exchanges_of(e, [&](const Exchange& one) { exchange(one); });
    for (const std::int32_t city : {e.p, e.x1, e.x2, e.y1, e.y2, e.z1, e.z2, e.q}) walker_.wait(city);
  }
  [[nodiscard]] std::int64_t kick_loss() const noexcept { return kick_loss_; }

 private:
  /// The moves with this t1 and t2, up to the first t3 that shortens the tour; Forward: t2 is next(t1).
  template <bool Forward>
  void scan(const std::int32_t t1, const std::int32_t t2) {
    const auto behind = [&](std::int32_t city) { return Forward ? tour_.next(city) : tour_.before(city); };
    const auto ahead = [&](std::int32_t city) { return Forward ? tour_.before(city) : tour_.next(city); };
    const auto steps = [&](std::int32_t from, std::int32_t to) { return Forward ? tour_.steps(from, to) : tour_.steps(to, from); };
    const std::int32_t removed = d_(t1, t2), behind_t2 = behind(t2);
    const std::int32_t* list2 = &problem_.near[of(t2) * of(problem_.width)];
    const std::int32_t* far2 = &problem_.far[of(t2) * of(problem_.width)];
    for (std::int32_t i = 0; best_.gain == 0 && i < problem_.width && removed > far2[i]; ++i) {
      const std::int32_t t3 = list2[i], g1 = removed - far2[i];
      if (t3 == t1 || t3 == behind_t2) continue;
      const std::int32_t to_t3 = steps(t2, t3);
      for (const bool is_behind : {false, true}) {
        const std::int32_t t4 = is_behind ? behind(t3) : ahead(t3), g2 = g1 + d_(t3, t4);
        if (!is_behind) offer({g2 - d_(t4, t1), t1, t2, t3, t4});
        const std::int32_t* list4 = &problem_.near[of(t4) * of(problem_.width)];
        const std::int32_t* far4 = &problem_.far[of(t4) * of(problem_.width)];
        for (std::int32_t j = 0; j < problem_.width && g2 > far4[j]; ++j) {
          const std::int32_t t5 = list4[j], g3 = g2 - far4[j];
          if (t5 == t1 || t5 == t3) continue;
          const std::int32_t after = behind(t5), prior = ahead(t5);
          if (after == t4 || prior == t4) continue;
          const bool within = steps(t2, t5) <= to_t3;
          if (!is_behind) {
            const std::int32_t t6 = within ? after : prior;
            offer({g3 + d_(t5, t6) - d_(t6, t1), t1, t2, t3, t4, t5, t6});
          } else if (within) {
            offer({g3 + d_(t5, after) - d_(after, t1), t1, t2, t3, t4, t5, after, true, true});
            if (t5 != t2) offer({g3 + d_(t5, prior) - d_(prior, t1), t1, t2, t3, t4, t5, prior, true, false});
          }
        }
      }
    }
  }
  void offer(const Move& move) {
    ++journal_.evaluations;
    if (move.gain > best_.gain) best_ = move;
  }

  void exchange(const Exchange& e) {
    tour_.exchange(e);
    journal_.exchanges.push_back(e);
  }
  void make(const Move& m) {
    const bool forward = tour_.next(m.t1) == m.t2;
    const auto cities = [&](std::int32_t first, std::int32_t last) {
      return 1 + (forward ? tour_.steps(first, last) : tour_.steps(last, first));
    };
    exchanges_of(m, cities, [&](const Exchange& one) { exchange(one); });
    for (const std::int32_t city : {m.t1, m.t2, m.t3, m.t4}) walker_.wait(city);
    if (m.t5 < 0) return;
    walker_.wait(m.t5);
    walker_.wait(m.t6);
  }

  const Problem& problem_;
  const Distance d_;
  Walker& walker_;
  Cycle& tour_;
  Journal& journal_;
  Move best_;
  std::int64_t kick_loss_ = 0;
};

// --- a search ------------------------------------------------------------------------------------------------------------

class Search {
 public:
  Search(const tsp::Tsp& tsp, const Task& task, const Start& start, std::int64_t k, int threads)
      : tsp_(tsp), task_(task), seed_(start.seed + static_cast<std::uint64_t>(k)), has_tour_(start.solution.has_value()) {
    problem_.n = tsp.size();
    problem_.city.resize(of(problem_.n));
    std::iota(problem_.city.begin(), problem_.city.end(), 0);
    if (has_tour_) problem_.city = *start.solution;
    if (const std::string what = tsp::complaint(tsp, problem_.city); !what.empty()) throw InputError("the start is no solution: " + what);
    length_ = tsp::length(tsp, problem_.city);
    next_ = Cycle(problem_.n);
    for (int i = 0; i < threads; ++i) walkers_.emplace_back(problem_.n);
    journals_.resize(of(threads));
  }

  /// Lists, the greedy tour unless a start was given, and the descent from it.
  void set_up(const Interruption& interruption) {
    const auto check = [&] { interruption.check(); };
    const std::vector<std::int32_t> lists = tsp::neighbor_lists(tsp_, list_length, check, threads());
    if (!has_tour_) {
      problem_.city = tsp::greedy_tour(tsp_, lists, check, threads());
      has_tour_ = true;
      length_ = tsp::length(tsp_, problem_.city);
    }
    renumber(lists);
    with_distance(tsp_, problem_, [&](const auto& d) {
      std::transform(problem_.near.begin(), problem_.near.end(), problem_.far.begin(), [&, i = std::size_t{0}](std::int32_t near) mutable {
        return d(static_cast<std::int32_t>(i++ / of(problem_.width)), near);
      });
      Walker& walker = walkers_.front();
      Journal& journal = journals_.front();
      walker.tour = next_;
      for (std::int32_t city = 0; city < problem_.n; ++city) walker.wait(city);
      LocalSearch search(problem_, d, walker, journal);
      while (walker.count > 0) {
        if (interruption.wanted()) break;
        for (int i = 0; i < 100 && walker.count > 0; ++i) length_ -= search.improve(walker.take());
        journal.exchanges.clear();
      }
      next_ = walker.tour;  // what an interruption leaves is a tour
      interruption.check();
      evaluations_ += journal.evaluations;
    });
    digest_.add(static_cast<std::uint64_t>(length_));
    best_ = base_ = next_;
    best_length_ = length_;
    cooling_ = Cooling(task_, problem_.n, length_);
  }

  /// The rest of the round; where `briefly`, one walker a thread of it.
  void advance(bool briefly, const Interruption& interruption) {
    do {
      const auto together = std::min(static_cast<std::int32_t>(walkers_.size()), task_.walkers - next_walker_);
      with_distance(tsp_, problem_, [&](const auto& d) {
        for_each_in_parallel(together, static_cast<int>(together),
                             [&](std::int64_t i) { walk(static_cast<std::int32_t>(i), d, interruption); });
      });
      for (std::int32_t i = 0; i < together; ++i) join(journals_[of(i)]);
      next_walker_ += together;
    } while (next_walker_ < task_.walkers && !briefly);
    if (next_walker_ < task_.walkers) return;
    next_walker_ = 0;
    ++rounds_;
    digest_.add(static_cast<std::uint64_t>(length_));
    if (length_ < best_length_) {
      best_ = next_;
      best_length_ = length_;
    }
    if (cooling_.advance()) {
      next_ = best_;
      length_ = best_length_;
    }
    base_ = next_;
  }

  [[nodiscard]] bool done() const { return rounds_ >= task_.rounds || problem_.n < fewest_cities; }
  [[nodiscard]] std::int64_t rounds() const noexcept { return rounds_; }
  [[nodiscard]] TracePoint progress() const {
    return {.iterations = rounds_,
            .objective = has_tour_ ? Objective(std::min(length_, best_length_)) : Objective(),
            .digest = digest_.value()};
  }
  [[nodiscard]] Result result() const {
    Result result;
    if (!has_tour_) return result;
    const Cycle& shortest = best_length_ <= length_ ? best_ : next_;
    for (const std::int32_t city : shortest.order()) result.tour.push_back(problem_.city[of(city)]);
    result.tour = canonical(std::move(result.tour));
    result.length = std::min(length_, best_length_);
    result.rounds = rounds_;
    result.evaluations = evaluations_;
    result.kept = kept_;
    result.dropped = dropped_;
    result.digest = digest_;
    return result;
  }

 private:
  [[nodiscard]] int threads() const { return static_cast<int>(walkers_.size()); }
  void renumber(const std::vector<std::int32_t>& lists) {
    const auto n = of(problem_.n);
    problem_.width = static_cast<std::int32_t>(lists.size() / n);
    std::vector<std::int32_t> number(n);
    for (std::size_t i = 0; i < n; ++i) number[of(problem_.city[i])] = static_cast<std::int32_t>(i);
    problem_.near.resize(lists.size());
    problem_.far.resize(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i)
      problem_.near[of(number[i / of(problem_.width)]) * of(problem_.width) + i % of(problem_.width)] = number[of(lists[i])];
    if (tsp_.metric() == tsp::Metric::matrix) return;
    const bool geo = tsp_.metric() == tsp::Metric::geo;
    for (const std::int32_t city : problem_.city) {
      problem_.x.push_back(geo ? tsp::geo_radians(tsp_.view().x[city]) : tsp_.view().x[city]);
      problem_.y.push_back(geo ? tsp::geo_radians(tsp_.view().y[city]) : tsp_.view().y[city]);
    }
  }

  /// Walker `next_walker_` + i of the round.
  template <class Distance>
  void walk(std::int32_t i, const Distance& d, const Interruption& interruption) {
    constexpr std::int32_t between_checks = 64;
    Walker& walker = walkers_[of(i)];
    Journal& journal = journals_[of(i)];
    journal.exchanges.clear();
    journal.kept.clear();
    journal.evaluations = 0;
    walker.tour = base_;
    const bool up = base_.next(0) < base_.before(0);
    const float temperature = cooling_.temperature();
    LocalSearch search(problem_, d, walker, journal);
    for (std::int32_t k = 0; k < task_.kicks; ++k) {
      if (k % between_checks == 0) interruption.check();
      const std::size_t start = journal.exchanges.size();
      const Kick kick = kick_of(task_, seed_, rounds_, next_walker_ + i, k, problem_.n);
      search.kick(kick, base_.at(0, up ? kick.place : -kick.place));
      const std::int64_t gain = search.descend() - search.kick_loss();
      if (keeps(temperature, -gain, seed_, rounds_, next_walker_ + i, k)) {
        journal.kept.push_back({journal.exchanges.size(), gain});
        continue;
      }
      for (; journal.exchanges.size() > start; journal.exchanges.pop_back()) walker.tour.exchange(journal.exchanges.back().undone());
    }
  }

  /// Takes over what still fits.
  void join(const Journal& journal) {
    evaluations_ += journal.evaluations;
    std::size_t first = 0;
    for (const Kept& kept : journal.kept) {
      ++kept_;
      std::size_t at = first;
      for (; at < kept.end && next_.can(journal.exchanges[at]); ++at) next_.exchange(journal.exchanges[at]);
      if (at == kept.end) {
        length_ -= kept.gain;
      } else {
        ++dropped_;
        while (at > first) next_.exchange(journal.exchanges[--at].undone());
      }
      first = kept.end;
    }
  }

  const tsp::Tsp& tsp_;
  Task task_;
  std::uint64_t seed_;
  bool has_tour_;  ///< a start was given, or the greedy tour is made
  Problem problem_;
  Cycle base_, next_;        ///< the tour that the round began with; the one it leads to
  std::int64_t length_ = 0;  ///< of next_
  Cycle best_;               ///< the shortest that a round ended with
  std::int64_t best_length_ = std::numeric_limits<std::int64_t>::max();
  Cooling cooling_;
  std::vector<Walker> walkers_;
  std::vector<Journal> journals_;
  std::int32_t next_walker_ = 0;  ///< of the round under way
  std::int64_t rounds_ = 0, evaluations_ = 0, kept_ = 0, dropped_ = 0;
  Digest digest_;
};

}  // namespace
}  // namespace vicinity::tour_search

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_ils(const Case& c, const Instance& instance) {
  return tour_search::prepare<tour_search::Search>(c, instance, omp_get_max_threads());
}

}  // namespace vicinity::lsm
