// cpu-serial and cpu-openmp: adaptive large neighbourhood search as a good CPU program does it. The best insertion of each removed request
// into each tour is kept; a repair step looks at those alone, and brings the tour that it changed up to date.
//
// Data: tours as arrays of requests; between them and the destroy operators prev, next and tour of each request. In a repair each request
// has its least (delta, position) in each tour, whether feasible or not: all positions of a tour have the same room, so the least delta
// decides feasibility; and the two least of them. Cost: an iteration that removes k of n requests takes O(k n) for the first evaluation, a
// gather each, then O(k) a step and the length of the changed tour; a tour is evaluated again for those requests alone whose best position
// was broken, tours are compared again for those alone whose two best changed.
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/problems/vrp/delta.hpp"
#include "cpu_ref/alns/implementations.hpp"
#include "cpu_ref/alns/run.hpp"

namespace vicinity::alns {
namespace {

/// A tour: its requests in order.
struct Tour {
  std::vector<std::int32_t> requests;
  std::int32_t load = 0, duration = 0;  ///< the duration has the service times
};

/// The least (delta, position) of a request in a tour, and the same where there is room, else no_insertion.
struct InTour {
  std::int64_t best = no_insertion, usable = no_insertion;
};

/// Where a request may go.
struct Places {
  std::int32_t request = 0;
  std::vector<InTour> in_tour;
  std::int64_t first = no_insertion, second = no_insertion;  ///< the least usable keys, of two tours
  std::size_t first_tour = 0, second_tour = 0;

  void find_least_two() {
    first = second = no_insertion;
    first_tour = second_tour = in_tour.size();
    for (std::size_t t = 0; t < in_tour.size(); ++t) consider(t);
  }
  void consider(std::size_t t) {
    const std::int64_t key = in_tour[t].usable;
    if (key < first) {
      second = first;
      second_tour = first_tour;
      first = key;
      first_tour = t;
    } else if (key < second) {
      second = key;
      second_tour = t;
    }
  }
  /// Tour t has another key.
  void changed(std::size_t t) {
    if (t == first_tour || t == second_tour)
      find_least_two();
    else
      consider(t);
  }
};

class Cached {
 public:
  explicit Cached(const vrp::View& vrp)
      : vrp_(vrp),
        n_(static_cast<std::size_t>(vrp.n)),
        tour_of_(n_ + 1, -1),
        prev_(n_ + 1),
        next_(n_ + 1),
        saving_(n_ + 1),
        order_(n_),
        gathered_(n_) {}

  void load(const Tours& tours) {
    candidate_ = {};
    removed_.clear();
    std::fill(tour_of_.begin(), tour_of_.end(), -1);
    for (const auto& requests : tours) {
      candidate_.tours.push_back({requests, 0, 0});
      Tour& tour = candidate_.tours.back();
      std::int32_t before = 0;
      for (const std::int32_t request : requests) {
        tour.load += vrp_.demand[request];
        tour.duration += vrp_(before, request) + vrp_.service[request];
        candidate_.cost += vrp_(before, request);
        tour_of_[index(request)] = static_cast<std::int32_t>(candidate_.tours.size()) - 1;
        before = request;
      }
      tour.duration += vrp_(before, 0);
      candidate_.cost += vrp_(before, 0);
    }
    for (std::int32_t r = 1; r <= vrp_.n; ++r)
      if (tour_of_[index(r)] < 0) removed_.push_back(r);
    offer_one_empty();
    solution_ = candidate_;
  }
  void begin() {
    candidate_ = solution_;
    removed_.clear();
    for (std::size_t t = 0; t < candidate_.tours.size(); ++t) link(static_cast<std::int32_t>(t));
  }
  void commit() { solution_ = candidate_; }

  void destroy(Destroy operation, std::int32_t k, const Draws& draws, const History& history) {
    switch (operation) {
      case Destroy::random:
        remove_random(k, draws);
        break;
      case Destroy::worst:
        remove_worst(k);
        break;
      case Destroy::related:
        remove_least(k, [row = vrp_.distance + index(draws.request(0)) * (n_ + 1)](std::int32_t r) { return row[r]; });
        break;
      case Destroy::historical:
        remove_least(k, [&](std::int32_t r) {
          return -(std::int64_t{remembered(history.kept(prev_[index(r)], r), candidate_.cost)} +
                   remembered(history.kept(r, next_[index(r)]), candidate_.cost));
        });
        break;
      case Destroy::cluster:
        remove_clusters(k, draws);
        break;
    }
    for (Tour& tour : candidate_.tours) {
      const auto gone = [&](std::int32_t r) { return tour_of_[index(r)] < 0; };
      tour.requests.erase(std::remove_if(tour.requests.begin(), tour.requests.end(), gone), tour.requests.end());
    }
    offer_one_empty();
  }

  [[nodiscard]] bool repair(Repair operation, const Interruption& interruption) {
    std::sort(removed_.begin(), removed_.end());
    if (places_.size() < removed_.size()) places_.resize(removed_.size());
    for (std::size_t j = 0; j < removed_.size(); ++j) places_[j].request = removed_[j];
    for (std::size_t t = 0; t < candidate_.tours.size(); ++t) {
      interruption.check();
      evaluate(t);
    }
    for (Places& place : unplaced()) place.find_least_two();
    while (!removed_.empty()) {
      interruption.check();
      evaluations_ += static_cast<std::int64_t>(removed_.size()) * positions();
      const std::size_t j = operation == Repair::greedy ? cheapest() : most_regretted();
      if (places_[j].first == no_insertion) return false;
      insert_place(j);
    }
    return std::all_of(candidate_.tours.begin(), candidate_.tours.end(), [&](const Tour& tour) { return tour.duration <= vrp_.limit; });
  }

  [[nodiscard]] std::int64_t cost() const { return candidate_.cost; }
  [[nodiscard]] bool contains(std::int32_t request) const { return tour_of_[index(request)] >= 0; }
  void insert_if_feasible(std::int32_t request, std::int32_t position) {
    const auto t = static_cast<std::size_t>(tour_at(position));
    const std::vector<std::int32_t>& requests = candidate_.tours[t].requests;
    const auto at = position > vrp_.n ? requests.begin() : std::find(requests.begin(), requests.end(), position) + 1;
    const std::int32_t delta = vrp::insertion_delta(vrp_, position > vrp_.n ? 0 : position, request, at == requests.end() ? 0 : *at);
    if (!vrp::fits(vrp_, candidate_.tours[t].load, candidate_.tours[t].duration, request, delta)) return;
    insert_at(t, at - requests.begin(), request, delta);
  }
  [[nodiscard]] std::int32_t open_position() const { return candidate_.open < 0 ? -1 : start_of(candidate_.open); }
  [[nodiscard]] std::int32_t tours_used() const { return candidate_.used; }
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }

  [[nodiscard]] Tours tours() const {
    Tours tours;
    for (const Tour& tour : candidate_.tours) tours.push_back(tour.requests);
    while (!tours.empty() && tours.back().empty()) tours.pop_back();
    return tours;
  }
  template <class Visit>
  void for_each_edge(const Visit& visit) const {
    for (const Tour& tour : candidate_.tours) {
      std::int32_t before = 0;
      for (const std::int32_t request : tour.requests) {
        visit(before, request);
        before = request;
      }
      if (before != 0) visit(before, 0);
    }
  }

 private:
  struct State {
    std::vector<Tour> tours;
    std::int32_t open = -1;  ///< the empty tour of least number; -1: none
    std::int32_t used = 0;   ///< tours with requests
    std::int32_t cost = 0;
  };

  [[nodiscard]] static std::size_t index(std::int32_t node) { return static_cast<std::size_t>(node); }
  [[nodiscard]] std::int32_t start_of(std::int32_t t) const { return vrp_.n + 1 + t; }
  [[nodiscard]] std::int32_t tour_at(std::int32_t position) const {
    return position > vrp_.n ? position - vrp_.n - 1 : tour_of_[index(position)];
  }
  [[nodiscard]] std::int64_t positions() const {
    return vrp_.n - static_cast<std::int64_t>(removed_.size()) + candidate_.used + static_cast<std::int64_t>(candidate_.open >= 0);
  }

  void offer_one_empty() {
    candidate_.open = -1;
    candidate_.used = 0;
    for (std::size_t t = candidate_.tours.size(); t-- > 0;) {
      if (candidate_.tours[t].requests.empty())
        candidate_.open = static_cast<std::int32_t>(t);
      else
        ++candidate_.used;
    }
    if (candidate_.open >= 0 || static_cast<std::int32_t>(candidate_.tours.size()) == vrp_.vehicles) return;
    candidate_.open = static_cast<std::int32_t>(candidate_.tours.size());
    candidate_.tours.emplace_back();
  }

  /// prev, next and tour of the requests of a tour.
  void link(std::int32_t t) {
    std::int32_t before = 0;
    for (const std::int32_t request : candidate_.tours[index(t)].requests) {
      tour_of_[index(request)] = t;
      prev_[index(request)] = before;
      if (before != 0) next_[index(before)] = request;
      before = request;
    }
    if (before != 0) next_[index(before)] = 0;
  }
  [[nodiscard]] std::int32_t saving(std::int32_t r) const { return -vrp::removal_delta(vrp_, prev_[index(r)], r, next_[index(r)]); }
  void remove(std::int32_t r) {
    Tour& tour = candidate_.tours[index(tour_of_[index(r)])];
    const std::int32_t gain = saving(r), before = prev_[index(r)], after = next_[index(r)];
    tour.load -= vrp_.demand[r];
    tour.duration -= gain + vrp_.service[r];
    candidate_.cost -= gain;
    if (before != 0) next_[index(before)] = after;
    if (after != 0) prev_[index(after)] = before;
    tour_of_[index(r)] = -1;
    removed_.push_back(r);
  }

  void remove_random(std::int32_t k, const Draws& draws) {
    for (std::uint32_t a = 0; static_cast<std::int32_t>(removed_.size()) < k; ++a)
      if (const std::int32_t request = draws.request(a); contains(request)) remove(request);
  }
  void remove_worst(std::int32_t k) {
    constexpr std::int32_t gone = std::numeric_limits<std::int32_t>::min();
    saving_[0] = gone;
    for (std::int32_t r = 1; r <= vrp_.n; ++r) saving_[index(r)] = saving(r);
    while (static_cast<std::int32_t>(removed_.size()) < k) {
      const auto worst = static_cast<std::int32_t>(std::max_element(saving_.begin(), saving_.end()) - saving_.begin());
      const std::int32_t before = prev_[index(worst)], after = next_[index(worst)];
      remove(worst);
      saving_[index(worst)] = gone;
      if (before != 0) saving_[index(before)] = saving(before);
      if (after != 0) saving_[index(after)] = saving(after);
    }
  }
  /// The k requests of least (value, request), where removals change no value.
  template <class Value>
  void remove_least(std::int32_t k, const Value& value) {
    for (std::int32_t r = 1; r <= vrp_.n; ++r) order_[index(r) - 1] = {static_cast<std::int64_t>(value(r)), r};
    std::nth_element(order_.begin(), order_.begin() + k, order_.end());
    for (std::int32_t j = 0; j < k; ++j) remove(order_[index(j)].second);
  }
  void remove_clusters(std::int32_t k, const Draws& draws) {
    for (std::uint32_t a = 0; a < cluster_draws && static_cast<std::int32_t>(removed_.size()) < k; ++a) {
      const std::int32_t drawn = draws.request(a);
      if (!contains(drawn)) continue;
      const std::vector<std::int32_t>& requests = candidate_.tours[index(tour_of_[index(drawn)])].requests;  // as the iteration began
      std::int64_t sum = 0;
      for (std::size_t i = 1; i < requests.size(); ++i) sum += vrp_(requests[i - 1], requests[i]);
      const auto cut = [&](std::size_t i) {  // before request i
        return i == 0 || i == requests.size() ||
               cuts(vrp_(requests[i - 1], requests[i]), sum, static_cast<std::int32_t>(requests.size()) - 1);
      };
      const auto place = static_cast<std::size_t>(std::find(requests.begin(), requests.end(), drawn) - requests.begin());
      std::size_t first = place, last = place + 1;
      while (!cut(first)) --first;
      while (!cut(last)) ++last;
      const auto left = std::count_if(requests.begin(), requests.end(), [&](std::int32_t r) { return contains(r); });
      if (static_cast<std::ptrdiff_t>(last - first) == left) continue;
      for (std::size_t i = first; i < last && static_cast<std::int32_t>(removed_.size()) < k; ++i) remove(requests[i]);
    }
  }

  /// The best position of a request in tour t, whose edges are measured.
  [[nodiscard]] std::int64_t best_in(std::size_t t, std::int32_t request) {
    const std::vector<std::int32_t>& requests = candidate_.tours[t].requests;
    const std::int32_t* row = vrp_.distance + index(request) * (n_ + 1);
    const std::size_t length = requests.size();
    if (length == 0) return insertion_key(2 * row[0], start_of(static_cast<std::int32_t>(t)));
    for (std::size_t i = 0; i < length; ++i) gathered_[i] = row[requests[i]];
    const std::int32_t* edges = edges_.data();
    std::int64_t best = insertion_key(row[0] + gathered_[0] - edges[0], start_of(static_cast<std::int32_t>(t)));
    for (std::size_t i = 1; i < length; ++i)
      best = std::min(best, insertion_key(gathered_[i - 1] + gathered_[i] - edges[i], requests[i - 1]));
    return std::min(best, insertion_key(gathered_[length - 1] + row[0] - edges[length], requests[length - 1]));
  }
  /// The edges of tour t, before each request and after the last.
  void measure_edges(std::size_t t) {
    const std::vector<std::int32_t>& requests = candidate_.tours[t].requests;
    edges_.resize(requests.size() + 1);
    std::int32_t before = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      edges_[i] = vrp_(before, requests[i]);
      before = requests[i];
    }
    edges_[requests.size()] = vrp_(before, 0);
  }
  [[nodiscard]] bool offered(std::size_t t) const {
    return !candidate_.tours[t].requests.empty() || static_cast<std::int32_t>(t) == candidate_.open;
  }
  [[nodiscard]] std::span<Places> unplaced() { return {places_.data(), removed_.size()}; }
  void evaluate(std::size_t t) {
    if (offered(t)) measure_edges(t);
    for (Places& place : unplaced()) {
      place.in_tour.resize(candidate_.tours.size());
      place.in_tour[t] = offered(t) ? with_room(t, place.request, best_in(t, place.request)) : InTour{};
    }
  }
  [[nodiscard]] InTour with_room(std::size_t t, std::int32_t request, std::int64_t best) const {
    const Tour& tour = candidate_.tours[t];
    return {best, vrp::fits(vrp_, tour.load, tour.duration, request, delta_of(best)) ? best : no_insertion};
  }

  [[nodiscard]] std::size_t cheapest() {  // the first of equals: the least request
    const auto places = unplaced();
    const auto least = std::min_element(places.begin(), places.end(), [](const Places& a, const Places& b) { return a.first < b.first; });
    return static_cast<std::size_t>(least - places.begin());
  }
  [[nodiscard]] std::size_t most_regretted() const {
    std::size_t best = 0;
    std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
    for (std::size_t j = 0; j < removed_.size(); ++j) {
      const Places& place = places_[j];
      if (place.first == no_insertion) return j;
      const std::int64_t regret = regret_of(place.first, place.second);
      if (regret < greatest || (regret == greatest && place.first >= places_[best].first)) continue;
      greatest = regret;
      best = j;
    }
    return best;
  }

  void insert_at(std::size_t t, std::ptrdiff_t at, std::int32_t request, std::int32_t delta) {
    Tour& tour = candidate_.tours[t];
    tour.requests.insert(tour.requests.begin() + at, request);
    tour.load += vrp_.demand[request];
    tour.duration += delta + vrp_.service[request];
    candidate_.cost += delta;
    tour_of_[index(request)] = static_cast<std::int32_t>(t);
    removed_.erase(std::find(removed_.begin(), removed_.end(), request));
    if (static_cast<std::int32_t>(t) == candidate_.open) offer_one_empty();
  }
  /// The request of places_[j] goes to its best position; what is kept follows.
  void insert_place(std::size_t j) {
    const std::int64_t key = places_[j].first;
    const std::int32_t position = position_of(key), open = candidate_.open;
    const auto t = static_cast<std::size_t>(tour_at(position));
    const std::vector<std::int32_t>& requests = candidate_.tours[t].requests;
    const std::ptrdiff_t at = position > vrp_.n ? 0 : std::find(requests.begin(), requests.end(), position) + 1 - requests.begin();
    const std::int32_t request = places_[j].request;
    const auto from = places_.begin() + static_cast<std::ptrdiff_t>(j);
    std::rotate(from, from + 1, places_.begin() + static_cast<std::ptrdiff_t>(removed_.size()));
    insert_at(t, at, request, delta_of(key));
    follow(t, static_cast<std::size_t>(at), position);
    if (candidate_.open == open || candidate_.open < 0) return;
    const auto opened = static_cast<std::size_t>(candidate_.open);
    evaluate(opened);
    for (Places& place : unplaced()) place.changed(opened);
  }
  /// Tour t has a new request at place `at`, after `position`: two positions for one.
  void follow(std::size_t t, std::size_t at, std::int32_t position) {
    const std::vector<std::int32_t>& requests = candidate_.tours[t].requests;
    const std::int32_t before = position > vrp_.n ? 0 : position, request = requests[at];
    const std::int32_t after = at + 1 < requests.size() ? requests[at + 1] : 0;
    measure_edges(t);
    for (Places& place : unplaced()) {
      std::int64_t best = place.in_tour[t].best;
      if (position_of(best) == position)
        best = best_in(t, place.request);
      else
        best = std::min({best, insertion_key(vrp::insertion_delta(vrp_, before, place.request, request), position),
                         insertion_key(vrp::insertion_delta(vrp_, request, place.request, after), request)});
      place.in_tour[t] = with_room(t, place.request, best);
      place.changed(t);
    }
  }

  vrp::View vrp_;
  std::size_t n_;
  State solution_, candidate_;
  std::vector<std::int32_t> removed_;
  std::vector<std::int32_t> tour_of_, prev_, next_;  ///< [request] of the candidate; tour_of_ -1: removed
  std::vector<std::int32_t> saving_;
  std::vector<std::pair<std::int64_t, std::int32_t>> order_;
  std::vector<std::int32_t> gathered_, edges_;
  std::vector<Places> places_;  ///< of the removed requests, ascending; more are room for others
  std::int64_t evaluations_ = 0;
};

}  // namespace

std::unique_ptr<Run> prepare_serial(const Task& task, const Instance& instance) { return cpu_run<Cached>(instance, task, 1); }

std::unique_ptr<Run> prepare_openmp(const Task& task, const Instance& instance) {
  const int most = task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads();
  return cpu_run<Cached>(instance, task, std::min(most, static_cast<int>(task.processes)));
}

}  // namespace vicinity::alns
