#include "core/methods/lsm/task.hpp"
#include "systems/list.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity::lsm {
namespace {

Value whole(std::int64_t value) { return value; }
Value text(const char* value) { return std::string(value); }

std::string rejection(const std::string& problem, std::map<std::string, Value> values, const std::string& instance = "") {
  return complaint<InputError>([&] {
    const Case c{problem, instance, std::move(values)};
    static_cast<void>(task_of(c));
    const auto made = systems::lsm().instance(c);
    with_neighborhood(c, *made, [](const auto&) { return 0; });
  });
}

TEST(LsmSystem, RandomCasesAreValid) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case c = systems::lsm().random_case(seed);
    EXPECT_EQ(rejection(c.problem, c.values), "") << c.key();
    EXPECT_EQ(problem_of(*systems::lsm().instance(c)), c.problem);
  }
}

TEST(LsmSystem, TasksAreWhatTheAxesSay) {
  const local_search::Task tabu = task_of({"qap", "", {{"iterations", whole(10)}, {"tenure", whole(3)}}});
  EXPECT_EQ(tabu.method, local_search::Method::tabu);
  EXPECT_EQ(tabu.limit(), 10);
  EXPECT_EQ(tabu.tenure, 3);
  EXPECT_EQ(tabu.seed(7, 2), 9u);
  const local_search::Task hill = task_of({"qap", "", {{"method", text("hill")}, {"restarts", whole(100)}}});
  EXPECT_EQ(hill.method, local_search::Method::hill);
  EXPECT_EQ(hill.limit(), local_search::most_iterations);
  EXPECT_EQ(hill.restarts, 100);
}

TEST(LsmSystem, RefusesWhatMakesNoSense) {
  EXPECT_EQ(rejection("qap", {{"size", whole(5)}}), "qap: axis 'iterations' is missing");
  EXPECT_EQ(rejection("qap", {{"size", whole(5)}, {"method", text("walk")}}), "qap: method = walk is none of tabu, hill");
  const std::pair<const std::string, Value> iterations{"iterations", whole(1)};
  EXPECT_EQ(rejection("qap", {{"size", whole(5)}, {"neighborhood", text("hamming2")}, iterations}),
            "qap: neighborhood = hamming2 is none of swap, exchange3");
  EXPECT_EQ(rejection("qap", {{"size", whole(2)}, {"neighborhood", text("exchange3")}, iterations}),
            "qap: the neighbourhood is empty; the instance is too small for it");
  EXPECT_EQ(rejection("ppp", {{"m", whole(2)}, {"n", whole(3000)}, {"neighborhood", text("hamming3")}, iterations}),
            "ppp: 4495501000 moves; a neighbourhood has at most 2147483647");
  EXPECT_EQ(rejection("ppp", {{"m", whole(20000)}, {"n", whole(20000)}, iterations}), "ppp: size 20000 x 20000: costs could leave 32 bits");
  EXPECT_EQ(rejection("ppp", {iterations}, "tai30a"), "ppp: there are no instances with names, but instance = tai30a");
  EXPECT_EQ(rejection("tsp", {iterations}, "tai30a"), "instance 'tai30a' is no TSP: its format is qaplib");
  EXPECT_EQ(rejection("tsp", {{"size", whole(2)}, iterations}), "tsp: size = 2 is not a whole number from 3 to 1000000");
  EXPECT_EQ(rejection("tsp", {{"size", whole(60001)}, iterations}), "tsp: 60001 cities; searches by swaps take 60000 at most");
  EXPECT_EQ(complaint<InputError>([] {
              check_swaps(tsp::Tsp("c", {0, 1, 2}, {0, 0, 1}, tsp::Metric::ceil_2d));
            }),
            "tsp: searches by swaps take EUC_2D distances, not CEIL_2D");
  EXPECT_EQ(rejection("weierstrass", {{"dimension", whole(2)}, {"precision", text("half")}, iterations}),
            "weierstrass: precision = half is none of float, double");
}

}  // namespace
}  // namespace vicinity::lsm
