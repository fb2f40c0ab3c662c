#include "core/problems/tsp/neighbors.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <exception>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/util/parallel.hpp"

namespace vicinity::tsp {
namespace {

using Place = std::array<double, 3>;

constexpr std::size_t between_checks = 4096;  // cities, or what takes as long

double squared(const Place& a, const Place& b) {
  const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
  return dx * dx + dy * dy + dz * dz;
}

/// The k nearest so far: a heap, the farthest on top.
class Nearest {
 public:
  explicit Nearest(std::size_t k) : k_(k) { heap_.reserve(k + 1); }

  void offer(double distance, std::int32_t city) {
    const std::pair candidate(distance, city);
    if (heap_.size() == k_ && !(candidate < heap_.front())) return;
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() <= k_) return;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  /// May something as far as this still be nearer? Ties go to lower cities.
  [[nodiscard]] bool wants(double distance) const { return heap_.size() < k_ || distance <= heap_.front().first; }
  /// In order; empties it. Returns the end.
  template <class Output>
  Output move_to(Output cities) {
    std::sort_heap(heap_.begin(), heap_.end());
    for (const auto& [distance, city] : heap_) *cities++ = city;
    heap_.clear();
    return cities;
  }

 private:
  std::size_t k_;
  std::vector<std::pair<double, std::int32_t>> heap_;
};

/// A k-d tree over the places of some cities: ranges of one array, split at the middle of their widest extent.
class Tree {
 public:
  Tree(const std::vector<Place>& places, std::span<const std::int32_t> cities, const std::function<void()>& check)
      : places_(places), cities_(cities.begin(), cities.end()) {
    nodes_.reserve(2 * cities_.size() / leaf + 2);
    build(0, cities_.size(), check);
  }

  /// Offers the cities that may be wanted; with a quadrant, 0 to 3, only those of it.
  void search(std::int32_t city, Nearest& nearest, int quadrant = everywhere) const { search(0, city, nearest, quadrant); }

  /// Leaf by leaf: cities that follow each other lie near each other.
  [[nodiscard]] std::span<const std::int32_t> cities() const noexcept { return cities_; }

 private:
  static constexpr std::size_t leaf = 8;
  static constexpr int everywhere = -1;
  struct Node {
    std::size_t first, last;
    Place low, high;                  ///< the box around its cities
    std::size_t left = 0, right = 0;  ///< 0: a leaf
  };

  std::size_t build(std::size_t first, std::size_t last, const std::function<void()>& check) {
    if (last - first >= between_checks) check();
    Place low = place(first), high = low;
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], place(i)[axis]);
        high[axis] = std::max(high[axis], place(i)[axis]);
      }
    const std::size_t node = nodes_.size();
    nodes_.push_back({first, last, low, high});
    if (last - first <= leaf) return node;
    std::size_t widest = 0;
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (high[axis] - low[axis] > high[widest] - low[widest]) widest = axis;
    const std::size_t middle = first + (last - first) / 2;
    const auto at = [&](std::size_t i) { return cities_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(first), at(middle), at(last), [&](std::int32_t a, std::int32_t b) {
      return std::pair(places_[static_cast<std::size_t>(a)][widest], a) < std::pair(places_[static_cast<std::size_t>(b)][widest], b);
    });
    const std::size_t left = build(first, middle, check), right = build(middle, last, check);
    nodes_[node].left = left;
    nodes_[node].right = right;
    return node;
  }

  void search(std::size_t index, std::int32_t city, Nearest& nearest, int quadrant) const {
    const Node& node = nodes_[index];
    const Place& here = places_[static_cast<std::size_t>(city)];
    if (node.left == 0) {
      for (std::size_t i = node.first; i < node.last; ++i)
        if (cities_[i] != city && (quadrant == everywhere || quadrant_of(here, place(i)) == quadrant))
          nearest.offer(squared(here, place(i)), cities_[i]);
      return;
    }
    std::size_t near = node.left, far = node.right;
    double to_near = distance_to(nodes_[near], here), to_far = distance_to(nodes_[far], here);
    if (to_far < to_near) {
      std::swap(near, far);
      std::swap(to_near, to_far);
    }
    if (reaches(nodes_[near], here, quadrant) && nearest.wants(to_near)) search(near, city, nearest, quadrant);
    if (reaches(nodes_[far], here, quadrant) && nearest.wants(to_far)) search(far, city, nearest, quadrant);
  }
  /// Counted against the clock, each with the axis it begins at; the same place is in none.
  static int quadrant_of(const Place& here, const Place& there) {
    const double dx = there[0] - here[0], dy = there[1] - here[1];
    if (dx > 0 && dy >= 0) return 0;
    if (dx <= 0 && dy > 0) return 1;
    if (dx < 0 && dy <= 0) return 2;
    return dx >= 0 && dy < 0 ? 3 : -2;
  }
  /// May the node have something of the quadrant?
  static bool reaches(const Node& node, const Place& here, int quadrant) {
    switch (quadrant) {
      case 0:
        return node.high[0] > here[0] && node.high[1] >= here[1];
      case 1:
        return node.low[0] <= here[0] && node.high[1] > here[1];
      case 2:
        return node.low[0] < here[0] && node.low[1] <= here[1];
      case 3:
        return node.high[0] >= here[0] && node.low[1] < here[1];
      default:
        return true;
    }
  }
  static double distance_to(const Node& node, const Place& here) {
    Place nearest{};
    for (std::size_t axis = 0; axis < 3; ++axis) nearest[axis] = std::clamp(here[axis], node.low[axis], node.high[axis]);
    return squared(here, nearest);
  }
  [[nodiscard]] const Place& place(std::size_t i) const { return places_[static_cast<std::size_t>(cities_[i])]; }

  const std::vector<Place>& places_;
  std::vector<std::int32_t> cities_;
  std::vector<Node> nodes_;
};

/// f(part) for parts of `cities`, shared among threads, each of which takes the next. Each part begins with a call of `check`; what one
/// throws is thrown here.
template <class F>
void for_parts(std::span<const std::int32_t> cities, int threads, const std::function<void()>& check, const F& f) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> ended = false;
  std::exception_ptr thrown;
  in_parallel(static_cast<std::size_t>(std::max(threads, 1)), [&](std::size_t) {
    try {
      for (std::size_t first; !ended && (first = next.fetch_add(between_checks)) < cities.size();) {
        check();
        f(cities.subspan(first, std::min(between_checks, cities.size() - first)));
      }
    } catch (...) {
      if (!ended.exchange(true)) thrown = std::current_exception();
    }
  });
  if (thrown) std::rethrow_exception(thrown);
}

/// All cities, those at one place next to each other, in the order of their numbers.
std::vector<std::int32_t> by_place(const std::vector<Place>& where) {
  std::vector<std::int32_t> cities(where.size());
  std::iota(cities.begin(), cities.end(), 0);
  const auto place = [&](std::int32_t city) { return std::pair(where[static_cast<std::size_t>(city)], city); };
  std::sort(cities.begin(), cities.end(), [&](std::int32_t a, std::int32_t b) { return place(a) < place(b); });
  return cities;
}

/// All cities, but of those at one place the first two and the last alone.
std::vector<std::int32_t> few_of_a_place(const std::vector<Place>& where) {
  const std::vector<std::int32_t> all = by_place(where);
  const auto same = [&](std::size_t i, std::size_t j) {
    return where[static_cast<std::size_t>(all[i])] == where[static_cast<std::size_t>(all[j])];
  };
  std::vector<std::int32_t> few;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < 2 || !same(i - 2, i) || i + 1 == all.size() || !same(i, i + 1)) few.push_back(all[i]);
  std::sort(few.begin(), few.end());
  return few;
}

/// The two nearest of each quadrant take the places of the farthest in `list` that are of no quadrant. `found` takes two.
void reach_into_quadrants(const Tree& tree, const std::vector<Place>& where, std::int32_t city, Nearest& found,
                          std::span<std::int32_t> list) {
  std::array<std::int32_t, 8> of_quadrants{};
  auto end = of_quadrants.begin();
  for (int quadrant = 0; quadrant < 4; ++quadrant) {
    tree.search(city, found, quadrant);
    end = found.move_to(end);
  }
  const auto quarters = std::span(of_quadrants.begin(), end);
  std::size_t last = list.size();
  for (const std::int32_t other : quarters) {
    if (std::find(list.begin(), list.end(), other) != list.end()) continue;
    do --last;
    while (std::find(quarters.begin(), quarters.end(), list[last]) != quarters.end());
    list[last] = other;
  }
  const auto key = [&](std::int32_t other) {
    return std::pair(squared(where[static_cast<std::size_t>(city)], where[static_cast<std::size_t>(other)]), other);
  };
  std::sort(list.begin(), list.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
}

/// The path that each city is in; joins two of them.
class Paths {
 public:
  explicit Paths(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  std::int32_t of(std::int32_t city) {
    for (auto& parent = parent_; parent[static_cast<std::size_t>(city)] != city; city = parent[static_cast<std::size_t>(city)])
      parent[static_cast<std::size_t>(city)] = parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(city)])];
    return city;
  }
  void join(std::int32_t a, std::int32_t b) { parent_[static_cast<std::size_t>(of(a))] = of(b); }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace

std::vector<Place> places(const Tsp& tsp) {
  std::vector<Place> places;
  if (tsp.metric() == Metric::matrix) return places;
  const View view = tsp.view();
  for (std::int32_t i = 0; i < view.n; ++i) {
    if (tsp.metric() != Metric::geo) {
      places.push_back({view.x[i], view.y[i], 0});
      continue;
    }
    const double latitude = geo_radians(view.x[i]), longitude = geo_radians(view.y[i]);
    places.push_back({std::cos(latitude) * std::cos(longitude), std::cos(latitude) * std::sin(longitude), std::sin(latitude)});
  }
  return places;
}

std::vector<std::int32_t> nearest(const Tsp& tsp, std::span<const std::int32_t> cities, std::int32_t k, const std::function<void()>& check,
                                  int threads) {
  const std::vector<Place> where = places(tsp);
  const std::size_t width = std::min(static_cast<std::size_t>(k), cities.size() - 1);
  std::vector<std::int32_t> lists;
  if (!where.empty()) {
    const Tree tree(where, cities, check);
    std::vector<std::size_t> place(where.size());
    for (std::size_t i = 0; i < cities.size(); ++i) place[static_cast<std::size_t>(cities[i])] = i;
    lists.resize(cities.size() * width);
    for_parts(tree.cities(), threads, check, [&](std::span<const std::int32_t> part) {
      Nearest found(width);
      for (const std::int32_t city : part) {
        tree.search(city, found);
        found.move_to(&lists[place[static_cast<std::size_t>(city)] * width]);
      }
    });
    return lists;
  }
  Nearest found(width);
  const std::int32_t n = tsp.size();
  for (const std::int32_t city : cities) {
    check();
    for (const std::int32_t other : cities)
      if (other != city) found.offer(static_cast<double>(distance_of(tsp, city, other)), (other - city + n) % n);
    lists.resize(lists.size() + width);
    const auto list = lists.end() - static_cast<std::ptrdiff_t>(width);
    found.move_to(list);
    for (auto behind = list; behind != lists.end(); ++behind) *behind = (*behind + city) % n;
  }
  return lists;
}

std::vector<std::int32_t> neighbor_lists(const Tsp& tsp, std::int32_t k, const std::function<void()>& check, int threads) {
  const auto n = static_cast<std::size_t>(tsp.size());
  if (tsp.metric() == Metric::matrix) {
    std::vector<std::int32_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    return nearest(tsp, all, k, check);
  }
  const std::vector<Place> where = places(tsp);
  const std::vector<std::int32_t> few = few_of_a_place(where);
  const Tree tree(where, few, check);
  const std::size_t width = std::min(static_cast<std::size_t>(k), few.size() - 1);
  const bool by_quadrant = tsp.metric() != Metric::geo && width == static_cast<std::size_t>(k);
  std::vector<std::int32_t> lists(n * width);
  const auto list_part = [&](std::span<const std::int32_t> part) {
    Nearest found(width), found_of_quadrant(2);
    for (const std::int32_t city : part) {
      const auto list = std::span(lists).subspan(static_cast<std::size_t>(city) * width, width);
      tree.search(city, found);
      found.move_to(list.begin());
      if (by_quadrant) reach_into_quadrants(tree, where, city, found_of_quadrant, list);
    }
  };
  for_parts(tree.cities(), threads, check, list_part);
  if (few.size() == n) return lists;
  std::vector<std::int32_t> others = by_place(where);
  std::erase_if(others, [&](std::int32_t city) { return std::binary_search(few.begin(), few.end(), city); });
  for_parts(others, threads, check, list_part);
  return lists;
}

Tour greedy_tour(const Tsp& tsp, std::vector<std::int32_t> lists, const std::function<void()>& check, int threads) {
  const auto n = static_cast<std::size_t>(tsp.size());
  const auto k = static_cast<std::int32_t>(lists.size() / n);
  std::vector<std::array<std::int32_t, 2>> beside(n, {-1, -1});  // the neighbours in the path
  const auto degree = [&](std::int32_t city) {
    const auto& [first, second] = beside[static_cast<std::size_t>(city)];
    return (first >= 0 ? 1 : 0) + (second >= 0 ? 1 : 0);
  };
  const auto link = [&](std::int32_t a, std::int32_t b) {
    beside[static_cast<std::size_t>(a)][static_cast<std::size_t>(degree(a))] = b;
    beside[static_cast<std::size_t>(b)][static_cast<std::size_t>(degree(b))] = a;
  };
  Paths paths(n);
  std::size_t edges = 0;
  std::vector<std::int32_t> ends(n);
  std::iota(ends.begin(), ends.end(), 0);
  // Cities at one place: a path. All of them at one place: it begins with city 0.
  const std::vector<Place> where = places(tsp);
  const std::vector<std::int32_t> sorted = by_place(where);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (where[static_cast<std::size_t>(sorted[i - 1])] != where[static_cast<std::size_t>(sorted[i])]) continue;
    link(sorted[i - 1], sorted[i]);
    paths.join(sorted[i - 1], sorted[i]);
    ++edges;
  }
  while (edges + 1 < n) {
    std::vector<std::tuple<std::int64_t, std::int32_t, std::int32_t>> candidates;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::int32_t a = ends[i / (lists.size() / ends.size())], b = lists[i];
      if (paths.of(a) != paths.of(b)) candidates.emplace_back(distance_of(tsp, a, b), std::min(a, b), std::max(a, b));
    }
    std::size_t compared = 0;
    std::sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
      if (++compared % (64 * between_checks) == 0) check();
      return a < b;
    });
    for (const auto& [distance, a, b] : candidates) {
      if (degree(a) == 2 || degree(b) == 2 || paths.of(a) == paths.of(b)) continue;
      link(a, b);
      paths.join(a, b);
      ++edges;
    }
    std::erase_if(ends, [&](std::int32_t city) { return degree(city) == 2; });
    if (edges + 1 < n) lists = nearest(tsp, ends, k, check, threads);
  }
  Tour tour{ends.front()};
  for (std::int32_t before = -1; tour.size() < n;) {
    const auto& [first, second] = beside[static_cast<std::size_t>(tour.back())];
    const std::int32_t next = first != before && first >= 0 ? first : second;
    before = tour.back();
    tour.push_back(next);
  }
  return tour;
}

}  // namespace vicinity::tsp
