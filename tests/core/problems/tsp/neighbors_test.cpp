#include "core/problems/tsp/neighbors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace vicinity::tsp {
namespace {

const std::function<void()> nothing = [] {};

const std::set<std::int32_t> few{0, 1, 8};  // the first two and the last of nine

std::vector<std::int32_t> all(std::int32_t n) {
  std::vector<std::int32_t> cities(static_cast<std::size_t>(n));
  std::iota(cities.begin(), cities.end(), 0);
  return cities;
}

/// Dense ones have many cities at one place, and many as far away.
TEST(Neighbors, TheNearestAreTheNearest) {
  for (const auto& [n, extent] : {std::pair(3, 10), std::pair(9, 3), std::pair(200, 1), std::pair(300, 12), std::pair(500, 100'000)}) {
    const Tsp tsp = uniform("u", n, extent, 7);
    for (const std::int32_t k : {1, 5, 12}) {
      std::vector<std::int32_t> cities = all(n);
      std::erase_if(cities, [](std::int32_t city) { return city % 7 == 6; });
      const std::vector<std::int32_t> lists = nearest(tsp, cities, k, nothing);
      const std::size_t width = std::min(static_cast<std::size_t>(k), cities.size() - 1);
      ASSERT_EQ(lists.size(), cities.size() * width);
      for (std::size_t i = 0; i < cities.size(); ++i) {
        std::vector<std::pair<double, std::int32_t>> others;
        for (const std::int32_t other : cities) {
          const double dx = tsp.view().x[cities[i]] - tsp.view().x[other], dy = tsp.view().y[cities[i]] - tsp.view().y[other];
          if (other != cities[i]) others.emplace_back(dx * dx + dy * dy, other);
        }
        std::sort(others.begin(), others.end());
        for (std::size_t j = 0; j < width; ++j) EXPECT_EQ(lists[i * width + j], others[j].second);
      }
    }
  }
}

TEST(Neighbors, ListsReachIntoEveryQuadrant) {
  std::vector<double> x, y;  // a cluster, and a city in each direction from it
  for (int i = 0; i < 40; ++i) {
    x.push_back(i % 7);
    y.push_back(i / 7);
  }
  for (const auto& [dx, dy] : {std::pair(1000, 10), std::pair(-10, 1000), std::pair(-1000, -10), std::pair(10, -1000)}) {
    x.push_back(dx);
    y.push_back(dy);
  }
  const Tsp tsp("c", x, y);
  const std::vector<std::int32_t> lists = neighbor_lists(tsp, 10, nothing);
  for (std::int32_t city = 0; city < 44; ++city) {
    const std::set<std::int32_t> list(lists.begin() + city * 10, lists.begin() + (city + 1) * 10);
    EXPECT_EQ(list.size(), 10u);
    EXPECT_FALSE(list.contains(city));
    std::array<int, 4> within{}, listed{};
    for (std::int32_t other = 0; other < 44; ++other) {
      const double dx = x[static_cast<std::size_t>(other)] - x[static_cast<std::size_t>(city)],
                   dy = y[static_cast<std::size_t>(other)] - y[static_cast<std::size_t>(city)];
      const int quadrant = dx > 0 && dy >= 0 ? 0 : dx <= 0 && dy > 0 ? 1 : dx < 0 && dy <= 0 ? 2 : dx >= 0 && dy < 0 ? 3 : -1;
      if (quadrant < 0) continue;
      ++within[static_cast<std::size_t>(quadrant)];
      if (list.contains(other)) ++listed[static_cast<std::size_t>(quadrant)];
    }
    for (std::size_t quadrant = 0; quadrant < 4; ++quadrant) EXPECT_GE(listed[quadrant], std::min(within[quadrant], 2));
  }
}

TEST(Neighbors, TheGreedyTourIsATour) {
  for (const std::int64_t extent : {1, 3, 1000})
    for (const std::int32_t n : {3, 4, 5, 11, 400}) {
      const Tsp tsp = uniform("u", n, extent, 7);
      EXPECT_EQ(complaint(tsp, greedy_tour(tsp, neighbor_lists(tsp, 10, nothing), nothing)), "") << n;
    }
}

/// How often a greedy tour of the cities asks whether it is to go on: for many at one place, or at one distance, not more often than else.
int checks_of(const Tsp& tsp) {
  int checks = 0;
  const std::vector<std::int32_t> lists = neighbor_lists(tsp, 10, nothing);
  EXPECT_EQ(complaint(tsp, greedy_tour(tsp, lists, [&] { ++checks; })), "");
  return checks;
}

TEST(Neighbors, AGreedyTourOfCoincidentCitiesTakesFewRounds) {
  const Tsp uniform = tsp::uniform("u", 3000, 100'000, 7);
  std::vector<double> x(uniform.view().x, uniform.view().x + 3000), y(uniform.view().y, uniform.view().y + 3000);
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] = y[i] = 0;
  EXPECT_LE(checks_of(Tsp("third", x, y)), 4 * checks_of(uniform));
  EXPECT_LE(checks_of(Tsp("all", std::vector<double>(3000, 5), std::vector<double>(3000, 5))), 1);
}

/// With a matrix each city of a round asks once.
TEST(Neighbors, AGreedyTourOfEqualDistancesTakesFewRounds) {
  constexpr std::int32_t n = 400;
  EXPECT_LE(checks_of(Tsp("one", n, std::vector<std::int32_t>(n * n, 1))), n);
  std::vector<std::int32_t> distances(n * n);
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) distances[static_cast<std::size_t>(i * n + j)] = 1 + (i + j) * (i + j) % 7 % 2;
  EXPECT_LE(checks_of(Tsp("two", n, distances)), n);
}

TEST(Neighbors, ListsHaveThreeOfAPlace) {
  std::vector<double> x, y;  // 9 cities at each of 20 places
  for (int i = 0; i < 180; ++i) {
    x.push_back(i % 20 * (i % 20));
    y.push_back(i % 20);
  }
  const Tsp tsp("c", x, y);
  const std::vector<std::int32_t> lists = neighbor_lists(tsp, 10, nothing);
  for (std::size_t i = 0; i < 1800; i += 10) {
    std::map<std::int32_t, std::set<std::int32_t>> of_place;
    for (std::size_t j = i; j < i + 10; ++j) of_place[lists[j] % 20].insert(lists[j] / 20);
    for (const auto& [place, copies] : of_place) EXPECT_TRUE(std::includes(few.begin(), few.end(), copies.begin(), copies.end()));
    EXPECT_GE(of_place.size(), 4u);
  }
}

/// Dense ones have most cities at places that others have, too.
TEST(Neighbors, TheThreadsDoNotMatter) {
  for (const std::int64_t extent : {40, 1'000'000}) {
    const Tsp tsp = uniform("u", 10'000, extent, 7);
    const std::vector<std::int32_t> lists = neighbor_lists(tsp, 10, nothing), nearest_of_all = nearest(tsp, all(10'000), 6, nothing);
    const Tour tour = greedy_tour(tsp, lists, nothing);
    for (const int threads : {2, 5}) {
      EXPECT_EQ(neighbor_lists(tsp, 10, nothing, threads), lists);
      EXPECT_EQ(nearest(tsp, all(10'000), 6, nothing, threads), nearest_of_all);
      EXPECT_EQ(greedy_tour(tsp, lists, nothing, threads), tour);
    }
  }
}

TEST(Neighbors, WhatACheckThrowsEndsAllThreads) {
  const Tsp tsp = uniform("u", 60'000, 1'000'000, 7);
  for (const int threads : {1, 3}) {
    std::atomic<int> checks = 0;
    const auto third = [&] {
      if (++checks >= 3) throw std::out_of_range("third");
    };
    EXPECT_THROW(static_cast<void>(neighbor_lists(tsp, 10, third, threads)), std::out_of_range);
  }
}

TEST(Neighbors, EqualEntriesOfAMatrixGoRound) {
  const Tsp tsp("m", 6, std::vector<std::int32_t>(36, 1));
  EXPECT_EQ(nearest(tsp, std::vector<std::int32_t>{0, 2, 3, 5}, 2, nothing), (std::vector<std::int32_t>{2, 3, 3, 5, 5, 0, 0, 2}));
}

/// On a line the shortest edges lead from each city to the next.
TEST(Neighbors, TheGreedyTourOfALine) {
  std::vector<double> x, y(30, 0);
  for (int i = 0; i < 30; ++i) x.push_back(i * i);
  const Tsp tsp("line", x, y);
  EXPECT_EQ(length(tsp, greedy_tour(tsp, neighbor_lists(tsp, 10, nothing), nothing)), 2 * 29 * 29);
}

}  // namespace
}  // namespace vicinity::tsp
