// cpu-recompute, the reference: adaptive large neighbourhood search as section 3 prints it, on one core. The solution is the paper's doubly
// linked list (core/methods/alns/giant_tour.hpp); every repair step evaluates every insertion again (Algorithms 2 and 3), every removal
// by comparison scans all requests.
//
// Data: the list, load and duration a tour, the distance matrix. Cost: an iteration that removes k of n requests takes O(k^2 n).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/methods/alns/giant_tour.hpp"
#include "core/problems/vrp/delta.hpp"
#include "cpu_ref/alns/implementations.hpp"
#include "cpu_ref/alns/run.hpp"

namespace vicinity::alns {
namespace {

/// The list and what is known of its tours.
struct ListedSolution {
  explicit ListedSolution(const vrp::View& vrp)
      : columns(static_cast<std::size_t>(vrp.n + vrp.vehicles + 1)),
        rows(3 * columns),
        load(static_cast<std::size_t>(vrp.vehicles)),
        duration(static_cast<std::size_t>(vrp.vehicles)) {}

  std::size_t columns;
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> load, duration;  ///< [tour]; the duration has the service times
  std::int32_t cost = 0;
  std::int32_t used = 0;  ///< tours with requests
};

class Recompute {
 public:
  explicit Recompute(const vrp::View& vrp) : vrp_(vrp), n_(vrp.n), solution_(vrp), candidate_(vrp) {}

  void load(const Tours& tours) {
    list().clear();
    std::fill(candidate_.load.begin(), candidate_.load.end(), 0);
    std::fill(candidate_.duration.begin(), candidate_.duration.end(), 0);
    candidate_.cost = 0;
    candidate_.used = 0;
    removed_.clear();
    for (std::int32_t r = 1; r <= n_; ++r) removed_.push_back(r);
    for (std::size_t t = 0; t < tours.size(); ++t) list().open_tour();
    for (std::size_t t = 0; t < tours.size(); ++t) {
      std::int32_t at = list().start_of(static_cast<std::int32_t>(t));
      for (const std::int32_t request : tours[t]) {
        insert_after(at, request);
        at = request;
      }
    }
    keep_one_empty();
    commit();
  }
  void begin() {
    candidate_ = solution_;
    removed_.clear();
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
        remove_related(k, draws);
        break;
      case Destroy::historical:
        remove_historical(k, history);
        break;
      case Destroy::cluster:
        remove_clusters(k, draws);
        break;
    }
    keep_one_empty();
  }

  [[nodiscard]] bool repair(Repair operation, const Interruption& interruption) {
    std::sort(removed_.begin(), removed_.end());
    while (!removed_.empty()) {
      interruption.check();
      evaluations_ += static_cast<std::int64_t>(removed_.size()) * positions();
      const auto [key, request] = operation == Repair::greedy ? cheapest() : most_regretted();
      if (key == no_insertion) return false;
      insert_after(position_of(key), request);
      keep_one_empty();
    }
    return std::all_of(candidate_.duration.begin(), candidate_.duration.end(), [&](std::int32_t tour) { return tour <= vrp_.limit; });
  }

  [[nodiscard]] std::int64_t cost() const { return candidate_.cost; }
  [[nodiscard]] bool contains(std::int32_t request) const { return list().contains(request); }
  void insert_if_feasible(std::int32_t request, std::int32_t position) {
    if (insertion(request, position) == no_insertion) return;
    insert_after(position, request);
    keep_one_empty();
  }
  [[nodiscard]] std::int32_t open_position() const {
    for (std::int32_t t = 0; t < vrp_.vehicles; ++t)
      if (list().contains(list().start_of(t)) && list().empty(t)) return list().start_of(t);
    return -1;
  }
  [[nodiscard]] std::int32_t tours_used() const { return candidate_.used; }
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }

  [[nodiscard]] Tours tours() const {
    Tours tours;
    for (std::int32_t t = 0; t < vrp_.vehicles; ++t) {
      if (!list().contains(list().start_of(t)) || list().empty(t)) continue;
      tours.resize(static_cast<std::size_t>(t) + 1);
      for (std::int32_t at = list().next[list().start_of(t)]; !list().is_depot(at); at = list().next[at]) tours.back().push_back(at);
    }
    return tours;
  }
  template <class Visit>
  void for_each_edge(const Visit& visit) const {
    for (std::int32_t r = 1; r <= n_; ++r) {
      visit(list().place(list().prev[r]), r);
      if (list().is_depot(list().next[r])) visit(r, 0);
    }
  }

 private:
  [[nodiscard]] GiantTour<std::int32_t> list() const {
    auto* rows = const_cast<std::int32_t*>(candidate_.rows.data());  // NOLINT: a view
    return {rows, rows + candidate_.columns, rows + 2 * candidate_.columns, n_, vrp_.vehicles};
  }
  [[nodiscard]] std::int32_t distance(std::int32_t a, std::int32_t b) const { return vrp_(list().place(a), list().place(b)); }

  /// Of the empty tours, the one of least number stays in the list.
  void keep_one_empty() {
    for (std::int32_t t = 0; t < vrp_.vehicles; ++t)
      if (list().contains(list().start_of(t)) && list().empty(t)) list().close_tour(t);
    list().open_tour();
  }
  [[nodiscard]] std::int64_t positions() const {
    return n_ - static_cast<std::int64_t>(removed_.size()) + candidate_.used + static_cast<std::int64_t>(candidate_.used < vrp_.vehicles);
  }

  [[nodiscard]] std::int32_t insertion_delta(std::int32_t node, std::int32_t request) const {
    return vrp::insertion_delta(vrp_, list().place(node), request, list().place(list().next[node]));
  }
  void insert_after(std::int32_t node, std::int32_t request) {
    const auto t = static_cast<std::size_t>(list().tour[node]);
    if (list().empty(static_cast<std::int32_t>(t))) ++candidate_.used;
    const std::int32_t delta = insertion_delta(node, request);
    list().insert_after(node, request);
    candidate_.cost += delta;
    candidate_.load[t] += vrp_.demand[request];
    candidate_.duration[t] += delta + vrp_.service[request];
    removed_.erase(std::find(removed_.begin(), removed_.end(), request));
  }
  [[nodiscard]] std::int32_t saving(std::int32_t request) const {
    return -vrp::removal_delta(vrp_, list().place(list().prev[request]), request, list().place(list().next[request]));
  }
  void remove(std::int32_t request) {
    const auto t = static_cast<std::size_t>(list().tour[request]);
    const std::int32_t gain = saving(request);
    list().remove(request);
    if (list().empty(static_cast<std::int32_t>(t))) --candidate_.used;
    candidate_.cost -= gain;
    candidate_.load[t] -= vrp_.demand[request];
    candidate_.duration[t] -= gain + vrp_.service[request];
    removed_.push_back(request);
  }

  void remove_random(std::int32_t k, const Draws& draws) {
    for (std::uint32_t a = 0; static_cast<std::int32_t>(removed_.size()) < k; ++a)
      if (const std::int32_t request = draws.request(a); contains(request)) remove(request);
  }
  void remove_worst(std::int32_t k) {
    while (static_cast<std::int32_t>(removed_.size()) < k) {
      std::pair<std::int32_t, std::int32_t> worst{std::numeric_limits<std::int32_t>::max(), 0};  // (-saving, request)
      for (std::int32_t r = 1; r <= n_; ++r)
        if (contains(r)) worst = std::min(worst, {-saving(r), r});
      remove(worst.second);
    }
  }
  void remove_related(std::int32_t k, const Draws& draws) {
    const std::int32_t seed = draws.request(0);
    while (static_cast<std::int32_t>(removed_.size()) < k) {
      std::pair<std::int32_t, std::int32_t> nearest{std::numeric_limits<std::int32_t>::max(), 0};  // (distance, request)
      for (std::int32_t r = 1; r <= n_; ++r)
        if (contains(r)) nearest = std::min(nearest, {vrp_(seed, r), r});
      remove(nearest.second);
    }
  }
  void remove_historical(std::int32_t k, const History& history) {
    std::vector<std::pair<std::int64_t, std::int32_t>> sums;  // (-sum, request)
    for (std::int32_t r = 1; r <= n_; ++r) {
      const std::int32_t before = list().place(list().prev[r]), after = list().place(list().next[r]);
      sums.emplace_back(
          -(std::int64_t{remembered(history.kept(before, r), candidate_.cost)} + remembered(history.kept(r, after), candidate_.cost)), r);
    }
    std::sort(sums.begin(), sums.end());
    for (std::int32_t j = 0; j < k; ++j) remove(sums[static_cast<std::size_t>(j)].second);
  }
  void remove_clusters(std::int32_t k, const Draws& draws) {
    const auto fleet = static_cast<std::size_t>(vrp_.vehicles);
    std::vector<std::int64_t> sum(fleet);
    std::vector<std::int32_t> count(fleet), length(fleet);
    for (std::int32_t r = 1; r <= n_; ++r) {
      const auto t = static_cast<std::size_t>(list().tour[r]);
      ++length[t];
      if (list().is_depot(list().next[r])) continue;
      sum[t] += distance(r, list().next[r]);
      ++count[t];
    }
    std::vector<bool> cut(static_cast<std::size_t>(n_) + 1);  // [request] the edge behind it
    for (std::int32_t r = 1; r <= n_; ++r) {
      const auto t = static_cast<std::size_t>(list().tour[r]);
      cut[static_cast<std::size_t>(r)] = list().is_depot(list().next[r]) || cuts(distance(r, list().next[r]), sum[t], count[t]);
    }
    for (std::uint32_t a = 0; a < cluster_draws && static_cast<std::int32_t>(removed_.size()) < k; ++a) {
      const std::int32_t drawn = draws.request(a);
      if (!contains(drawn)) continue;
      std::int32_t at = drawn;
      while (!list().is_depot(list().prev[at]) && !cut[static_cast<std::size_t>(list().prev[at])]) at = list().prev[at];
      std::vector<std::int32_t> cluster{at};
      while (!cut[static_cast<std::size_t>(at)]) cluster.push_back(at = list().next[at]);
      const auto t = static_cast<std::size_t>(list().tour[drawn]);
      if (static_cast<std::int32_t>(cluster.size()) == length[t]) continue;
      for (const std::int32_t request : cluster) {
        if (static_cast<std::int32_t>(removed_.size()) == k) break;
        remove(request);
        --length[t];
      }
    }
  }

  /// Algorithm 3: the key of an insertion, no_insertion where it is not feasible.
  [[nodiscard]] std::int64_t insertion(std::int32_t request, std::int32_t position) const {
    const auto t = static_cast<std::size_t>(list().tour[position]);
    const std::int32_t delta = insertion_delta(position, request);
    return vrp::fits(vrp_, candidate_.load[t], candidate_.duration[t], request, delta) ? insertion_key(delta, position) : no_insertion;
  }
  /// visit(position) for each.
  template <class Visit>
  void for_each_position(const Visit& visit) const {
    for (std::int32_t node = 1; node <= n_ + vrp_.vehicles; ++node)
      if (list().contains(node)) visit(node);
  }
  using Chosen = std::pair<std::int64_t, std::int32_t>;  ///< key, request

  [[nodiscard]] Chosen cheapest() const {
    Chosen best{no_insertion, 0};
    for_each_position([&](std::int32_t position) {
      for (const std::int32_t request : removed_) best = std::min(best, {insertion(request, position), request});
    });
    return best;
  }
  [[nodiscard]] Chosen most_regretted() const {
    Chosen best{no_insertion, 0};
    std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
    for (const std::int32_t request : removed_) {
      std::int64_t first = no_insertion, second = no_insertion;  // of two tours
      std::int32_t tour = -1;
      for_each_position([&](std::int32_t position) { first = std::min(first, insertion(request, position)); });
      if (first == no_insertion) return {no_insertion, 0};
      tour = list().tour[position_of(first)];
      for_each_position([&](std::int32_t position) {
        if (list().tour[position] != tour) second = std::min(second, insertion(request, position));
      });
      const std::int64_t regret = regret_of(first, second);
      if (regret > greatest || (regret == greatest && Chosen{first, request} < best)) {
        greatest = regret;
        best = {first, request};
      }
    }
    return best;
  }

  vrp::View vrp_;
  std::int32_t n_;
  ListedSolution solution_, candidate_;
  std::vector<std::int32_t> removed_;
  std::int64_t evaluations_ = 0;
};

}  // namespace

std::unique_ptr<Run> prepare_recompute(const Task& task, const Instance& instance) { return cpu_run<Recompute>(instance, task, 1); }

}  // namespace vicinity::alns
