#include "core/methods/alns/hybrid/islands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "core/methods/alns/hybrid/crossover.hpp"
#include "tests/support/vrps.hpp"

namespace vicinity::alns::hybrid {
namespace {

vrp::Vrp at(const std::vector<double>& x, const std::vector<double>& y) {
  vrp::Data data;
  data.x = x;
  data.y = y;
  data.demand.assign(x.size(), 1);
  data.demand.front() = 0;
  data.capacity = 100;
  return vrp::Vrp(data);
}

TEST(HybridGranular, RanksFollowTheAngleAroundTheDepot) {
  // the depot's own place, east (twice, the farther one last), north-east, north, west, south-west, south
  const vrp::Vrp vrp = at({5, 5, 9, 7, 8, 5, 1, 2, 5}, {5, 5, 5, 5, 8, 9, 5, 2, 1});
  EXPECT_EQ(Granular(vrp).rank, (std::vector<std::int32_t>{-1, 0, 2, 1, 3, 4, 5, 6, 7}));
}

/// Angles that differ in the last bit of a double's arc tangent.
TEST(HybridGranular, AnglesAreExact) {
  const vrp::Vrp vrp = at({0, 100003, 100002, 100001}, {0, 100002, 100001, 100000});
  // y / x grows with both: 100000/100001 < 100001/100002 < 100002/100003
  EXPECT_EQ(Granular(vrp).rank, (std::vector<std::int32_t>{-1, 2, 1, 0}));
}

/// A grid, seen from a corner: the next customer around the depot is far.
TEST(HybridGranular, TheFirstSolutionOfLongRoutesFollowsATour) {
  std::vector<double> x{0}, y{0};
  for (int i = 1; i <= 90; ++i) {
    x.push_back((i % 10) * 10 + 1);
    y.push_back((i / 10) * 10 + 1 + i % 2);
  }
  const vrp::Vrp vrp = at(x, y);
  const vrp::View view = vrp.view();
  std::vector<std::int32_t> polar(91);
  const Granular granular(vrp);
  for (std::int32_t c = 1; c <= 90; ++c) polar[static_cast<std::size_t>(granular.rank[static_cast<std::size_t>(c)])] = c;
  std::int64_t around = view(0, polar[0]) + view(polar[89], 0);  // one route takes all
  for (std::size_t i = 1; i < 90; ++i) around += view(polar[i - 1], polar[i]);
  ASSERT_EQ(granular.first.size(), 1u);
  const vrp::Route& route = granular.first[0];
  std::int64_t first = view(0, route.front()) + view(route.back(), 0);
  for (std::size_t i = 1; i < route.size(); ++i) first += view(route[i - 1], route[i]);
  EXPECT_EQ(std::set<std::int32_t>(route.begin(), route.end()).size(), 90u);
  EXPECT_LT(3 * first, 2 * around);
}

TEST(HybridCrossover, KeepsTheSegmentAndTheOtherOrder) {
  const std::vector<std::int32_t> a{1, 2, 3, 4, 5, 6, 7, 8}, b{8, 6, 4, 2, 7, 5, 3, 1};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Stream stream(seed, 0, 0), same(seed, 0, 0);
    const std::int32_t from = same.below(8), to = same.below(8);
    const std::vector<std::int32_t> child = order_crossover(a, b, stream);
    ASSERT_EQ(std::set<std::int32_t>(child.begin(), child.end()).size(), 8u);
    const std::int32_t kept = (to - from + 8) % 8 + 1;
    for (std::int32_t i = 0; i < kept; ++i)
      EXPECT_EQ(child[static_cast<std::size_t>((from + i) % 8)], a[static_cast<std::size_t>((from + i) % 8)]);
    std::vector<std::int32_t> rest, expected;
    for (std::int32_t i = kept; i < 8; ++i) rest.push_back(child[static_cast<std::size_t>((from + i) % 8)]);
    for (std::int32_t i = 1; i <= 8; ++i) {
      const std::int32_t c = b[static_cast<std::size_t>((to + i) % 8)];
      if (std::find(rest.begin(), rest.end(), c) != rest.end()) expected.push_back(c);
    }
    EXPECT_EQ(rest, expected) << seed;
  }
}

Schedule schedule_of(std::int32_t n, std::int32_t removals) { return {n, Pace(n, lines_of_island, removals)}; }

std::vector<std::int64_t> lengths_of(Schedule schedule) {
  std::vector<std::int64_t> lengths;
  std::int64_t length = 0;
  while (lengths.size() < 6) {
    schedule.next();
    EXPECT_EQ(schedule.begins(), length == 0);
    ++length;
    if (!schedule.ends()) continue;
    lengths.push_back(length);
    length = 0;
  }
  return lengths;
}

TEST(HybridSchedule, CyclesDoubleEverySecondTime) {
  EXPECT_EQ(lengths_of(schedule_of(10, 200)), (std::vector<std::int64_t>{100, 100, 200, 200, 400, 400}));
}

TEST(HybridSchedule, CyclesOfShortGenerationsHaveMoreOfThem) {
  EXPECT_EQ(schedule_of(10, 50).steps(), 5);
  EXPECT_EQ(lengths_of(schedule_of(10, 50)), (std::vector<std::int64_t>{400, 400, 800, 800, 1600, 1600}));
  EXPECT_EQ(schedule_of(1, 1).steps(), 1);
  EXPECT_EQ(lengths_of(schedule_of(10, 10'000)), (std::vector<std::int64_t>{2, 2, 4, 4, 8, 8}));
}

TEST(HybridSchedule, FewLinesHastenWithManyCustomers) {
  const auto pace = [](std::int32_t n, std::int32_t lines, std::int32_t wanted) {
    const Pace chosen(n, lines, wanted);
    return std::vector<std::int64_t>{static_cast<std::int64_t>(chosen.hastens), chosen.removals, chosen.first_steps};
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(pace(1000, 16, 0), (Numbers{0, 20, 200}));
  EXPECT_EQ(pace(400, 4, 0), (Numbers{0, 20, 200}));
  EXPECT_EQ(pace(401, 4, 0), (Numbers{1, 21, 199}));
  EXPECT_EQ(pace(1000, 4, 0), (Numbers{1, 620, 80}));
  EXPECT_EQ(pace(10'000, 4, 0), (Numbers{1, 2000, 20}));
  EXPECT_EQ(pace(10'000, 4, 30), (Numbers{1, 30, 20}));
}

TEST(HybridSchedule, SaysHowManyGenerationsAreLeft) {
  Schedule schedule = schedule_of(10, 10'000);
  std::vector<std::int64_t> left;
  for (int g = 0; g < 8; ++g) {
    left.push_back(schedule.left());
    schedule.next();
  }
  EXPECT_EQ(left, (std::vector<std::int64_t>{2, 1, 2, 1, 4, 3, 2, 1}));
}

/// A cut of the order into routes of three: what a line might hand back.
Handed cut(const vrp::View& vrp, const std::vector<std::int32_t>& order, std::int32_t routes) {
  Handed handed;
  handed.routes.resize(static_cast<std::size_t>(routes));
  for (std::size_t i = 0; i < order.size(); ++i) handed.routes[std::min(i / 3, handed.routes.size() - 1)].push_back(order[i]);
  const Individual individual = individual_of(vrp, handed.routes);
  handed.load_feasible = individual.excess_load == 0;
  handed.duration_feasible = individual.excess_duration == 0;
  return handed;
}

/// All that jobs say of so many generations.
std::vector<std::int64_t> jobs_of(const vrp::Vrp& vrp, std::int32_t lines, std::int64_t generations, bool turned) {
  Islands islands(vrp, lines, 200, 3, std::nullopt, turned);
  std::vector<std::int64_t> said;
  std::vector<std::int32_t> whole(static_cast<std::size_t>(vrp.size()));
  std::iota(whole.begin(), whole.end(), 1);
  for (std::int64_t g = 0; g < generations; ++g) {
    for (Island& island : islands.here()) island.next();
    std::vector<Handed> handed(static_cast<std::size_t>(lines));
    for (std::int32_t i = 0; i < lines; ++i) {
      const std::int32_t b = turned ? lines - 1 - i : i;  // lines may ask in any order
      const Job job = islands.of(b).job(b);
      EXPECT_EQ(job.begins(), !anneals(b) || g % 100 == 0);
      if (!job.order.empty()) {
        std::vector<std::int32_t> sorted = job.order;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(sorted, whole);
      }
      handed[static_cast<std::size_t>(b)] = cut(vrp.view(), job.order.empty() ? whole : job.order, islands.granular().routes);
    }
    for (std::int32_t b = 0; b < lines; ++b)
      for (const std::int32_t c : islands.of(b).job(b).order) said.push_back(c);
    for (Island& island : islands.here())
      island.merge([&](std::size_t k) { return handed[static_cast<std::size_t>(island.first()) + k]; },
                   [&](std::size_t count, const auto& f) {
                     for (std::size_t i = 0; i < count; ++i) f(turned ? count - 1 - i : i);
                   });
    islands.end(1, 0);
  }
  return said;
}

TEST(HybridIslands, OrdersOfAskingChangeNothing) {
  const vrp::Vrp vrp = in_a_square(20, 1, 30);
  EXPECT_EQ(jobs_of(vrp, lines_of_island + 6, 120, false), jobs_of(vrp, lines_of_island + 6, 120, true));
}

/// The least distance, of equals the one of the earliest generation and of the first line, whoever offers first.
TEST(HybridIslands, TheBestIsKept) {
  const vrp::Vrp vrp = in_a_square(6, 2, 30);
  Islands islands(vrp, lines_of_island + 4, 200, 1, std::nullopt, false);
  Routes first = islands.granular().first;
  first.resize(static_cast<std::size_t>(islands.granular().routes));
  EXPECT_EQ(islands.best(), first);
  const std::int64_t least = islands.best_distance().value_or(0) - 100;
  const auto expect_best = [&](std::int64_t distance, const Routes& routes) {
    islands.agree_on_best(7);
    EXPECT_EQ(islands.best_distance(), distance);
    EXPECT_EQ(islands.best(), routes);
    EXPECT_EQ(islands.evaluations(), 7);
  };
  const Routes a{{1, 2, 3}, {4, 5, 6}}, b{{6, 5, 4}, {1, 2, 3}};
  islands.of(lines_of_island).offer(lines_of_island, true, least, b);
  expect_best(least, b);
  islands.of(4).offer(4, true, least, a);
  EXPECT_FALSE(islands.of(5).improves(5, true, least));
  islands.of(lines_of_island).offer(lines_of_island + 1, true, least, b);
  expect_best(least, a);
  islands.of(5).offer(5, true, least - 100, b);
  expect_best(least - 100, b);
  EXPECT_FALSE(islands.of(lines_of_island).improves(lines_of_island, true, no_distance));
}

/// Customers in a circle, numbered around it.
TEST(HybridIslands, FewLinesBeginNearASolution) {
  std::vector<double> x{0}, y{0};
  for (int i = 0; i < 401; ++i) {
    x.push_back(1000 * std::cos(i * 2 * M_PI / 401));
    y.push_back(1000 * std::sin(i * 2 * M_PI / 401));
  }
  const vrp::Vrp vrp = at(x, y);
  for (const std::int32_t lines : {4, 16}) {
    Islands islands(vrp, lines, 0, 1, std::nullopt, false);
    islands.here().front().next();
    const auto job = [&](std::int32_t b) { return islands.of(b).job(b); };
    const auto around = [&](std::int32_t b) {  // each but one is followed by its neighbour
      const std::vector<std::int32_t> order = job(b).order;
      int neighbours = 0;
      for (std::size_t i = 1; i < order.size(); ++i) neighbours += static_cast<int>(order[i] == order[i - 1] % 401 + 1);
      return neighbours == 400;
    };
    const bool few = lines == 4;
    EXPECT_EQ(around(0), few);
    EXPECT_FALSE(around(1));
    EXPECT_EQ(job(3).order.empty(), few);
    EXPECT_EQ(job(3).routes.empty(), !few);
    if (few) {
      EXPECT_EQ(job(3).routes.front(), islands.granular().first.front());
      EXPECT_EQ(job(3).routes.size(), static_cast<std::size_t>(islands.granular().routes));
    }
    EXPECT_EQ(job(3).steps, few ? 84 : 80);
  }
}

/// Lines that always hand back the same: a start ends when its patience does, and joins the one before of the same patience.
TEST(HybridIslands, StartsAreJoinedAsABinaryCounterCounts) {
  const vrp::Vrp vrp = in_a_square(6, 2, 30);
  const Granular granular(vrp);
  constexpr std::int32_t lines = 4, genetic = 3;
  Island island(vrp, granular, Pace(6, lines, 200), 1, 0, lines);
  const Individual stranger = individual_of(vrp.view(), cut(vrp.view(), {6, 1, 5, 2, 4, 3}, granular.routes).routes);
  const auto same = [&](std::size_t) { return cut(vrp.view(), {1, 2, 3, 4, 5, 6}, granular.routes); };
  const auto each = [](std::size_t count, const std::function<void(std::size_t)>& f) {
    for (std::size_t i = 0; i < count; ++i) f(i);
  };
  constexpr std::int64_t patience = most_idle_children / genetic;
  std::vector<std::int64_t> anew;
  const auto is_taken = [&] {  // by a copy of the island's population
    const std::size_t before = island.population().size();
    Island copy = island;
    copy.welcome(stranger);
    return copy.population().size() > before;
  };
  std::vector<int> taken;
  for (std::int64_t g = 1; g < 12 * patience; ++g) {
    island.next();
    island.merge(same, each);
    if (island.population().empty()) anew.push_back(g / patience);
    if (g % patience == patience / 2) taken.push_back(is_taken() ? 1 : 0);
  }
  EXPECT_EQ(anew, (std::vector<std::int64_t>{1, 4, 5}));
  EXPECT_EQ(taken, (std::vector<int>{1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1}));  // but by those alone: 1, 1, 2, 1, 1, 2 and 4 of joined ones
}

/// Of a rank that makes nothing.
class Watcher final : public Team {
 public:
  Watcher(std::int32_t rank, std::int32_t size) : rank_(rank), size_(size) {}
  [[nodiscard]] std::int32_t rank() const override { return rank_; }
  [[nodiscard]] std::int32_t size() const override { return size_; }
  [[nodiscard]] std::int32_t host_rank() const override { return rank_; }
  [[nodiscard]] std::int32_t host_size() const override { return size_; }
  [[nodiscard]] std::int32_t cores() const override { return 1; }
  [[nodiscard]] std::optional<Offer> least(const std::optional<Offer>& mine) override { return mine; }
  [[nodiscard]] std::vector<std::vector<std::int64_t>> gathered(const std::vector<std::int64_t>&) override { return {}; }
  [[nodiscard]] const std::atomic<bool>* stop() const override { return nullptr; }

 private:
  std::int32_t rank_, size_;
};

/// Whole islands where there are as many as ranks; each line once.
TEST(HybridIslands, RanksHaveTheirShare) {
  const vrp::Vrp vrp = in_a_square(6, 2, 30);
  for (const std::int32_t lines : {1, 6, lines_of_island, lines_of_island + 1, 5 * lines_of_island - 3, 16 * lines_of_island})
    for (const std::int32_t ranks : {1, 2, 3, 4, 7, 16}) {
      std::int32_t next = 0;
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        Watcher team(rank, ranks);
        Islands islands(vrp, lines, 200, 1, std::nullopt, false, &team);
        EXPECT_EQ(islands.first_line(), next);
        next = islands.end_line();
        const bool whole = (lines + lines_of_island - 1) / lines_of_island >= ranks;
        EXPECT_EQ(islands.here().empty(), islands.first_line() == next);
        for (const Island& island : islands.here()) {
          EXPECT_LT(island.first(), next);
          EXPECT_GT(island.first() + island.lines(), islands.first_line());
          EXPECT_TRUE(!whole || (island.first() >= islands.first_line() && island.first() + island.lines() <= next));
        }
        EXPECT_FALSE(whole && islands.shared());
      }
      EXPECT_EQ(next, lines);
    }
}

/// Penalties rise where no child is feasible, and fall where all are.
TEST(HybridPopulation, PenaltiesFollowFeasibility) {
  const vrp::Vrp vrp = in_a_square(20, 3, 30);
  Population population(vrp, Granular(vrp));
  const Penalties before = population.penalties();
  population.adapt(10, 0, 10);
  EXPECT_GT(population.penalties().load, before.load);
  EXPECT_LT(population.penalties().duration, before.duration);
}

/// Where all children are feasible whatever they are.
TEST(HybridPopulation, PenaltiesDoNotVanish) {
  const vrp::Vrp vrp = in_a_square(20, 3, 30);
  Population population(vrp, Granular(vrp));
  const Penalties before = population.penalties();
  for (int i = 0; i < 500; ++i) population.adapt(10, 10, 10);
  EXPECT_EQ(population.penalties().load, before.load / least_load_part);
  EXPECT_EQ(population.penalties().duration, before.duration / least_duration_part);
}

TEST(HybridPopulation, CopiesLeaveFirstAndTheCheapestStays) {
  const vrp::Vrp vrp = in_a_square(12, 4, 30);
  const Granular granular(vrp);
  Population population(vrp, granular);
  std::vector<std::int32_t> order(12);
  std::iota(order.begin(), order.end(), 1);
  std::int64_t cheapest = INT64_MAX;
  Stream stream(8, 0, 0);
  for (int i = 0; i < 300; ++i) {
    for (std::size_t k = order.size() - 1; k > 0; --k)
      std::swap(order[k], order[static_cast<std::size_t>(stream.below(static_cast<std::int32_t>(k) + 1))]);
    const Individual individual = individual_of(vrp.view(), cut(vrp.view(), order, granular.routes).routes);
    if (individual.feasible()) cheapest = std::min(cheapest, individual.distance);
    population.add(individual);
    if (individual.feasible()) population.add(individual);
    EXPECT_LE(population.size(), 2 * (least_kept + most_new));
  }
  ASSERT_TRUE(population.cheapest());
  EXPECT_EQ(population.cheapest()->distance, cheapest);
  population.clear();
  EXPECT_TRUE(population.empty());
  EXPECT_FALSE(population.cheapest());
}

}  // namespace
}  // namespace vicinity::alns::hybrid
