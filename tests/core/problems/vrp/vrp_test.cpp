#include "core/problems/vrp/vrp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "tests/core/problems/vrp/random_instances.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity::vrp {
namespace {

using Numbers = std::vector<double>;

/// The depot at (0, 0), customers at (3, 0), (3, 4), (0, 4.5): distances 3, 5, 4.5; 4, 5.408..; 3.041..
Data square() {
  Data data;
  data.name = "square";
  data.x = {0, 3, 3, 0};
  data.y = {0, 0, 4, 4.5};
  data.demand = {0, 10, 20, 30};
  data.capacity = 50;
  return data;
}

Data with(Data data, const std::function<void(Data&)>& change) {
  change(data);
  return data;
}

TEST(Vrp, CostIsTheDefinition) {
  const Vrp vrp(square());
  const Solution one{1, 2, 3}, two{1, 2, 0, 3};
  EXPECT_EQ(vrp.scale(), 1000);
  EXPECT_EQ(cost(vrp, two), 3000 + 4000 + 5000 + 2 * 4500);
  EXPECT_EQ(cost(vrp, one), 3000 + 4000 + 3041 + 4500);  // sqrt(9.25) = 3.0413..
  EXPECT_DOUBLE_EQ(length(vrp, one), 3 + 4 + std::sqrt(9.25) + 4.5);
  EXPECT_EQ(vrp.view()(2, 3), 3041);
  EXPECT_EQ(vrp.view()(1, 3), 5408);
}

TEST(Vrp, RoundsAsTheInstanceSays) {
  const Vrp nearest(with(square(), [](Data& data) { data.rounding = Rounding::nearest; }));
  const Vrp up(with(square(), [](Data& data) { data.rounding = Rounding::up; }));
  EXPECT_EQ(nearest.scale(), 1);
  EXPECT_EQ(cost(nearest, Solution{1, 2, 3}), 3 + 4 + 3 + 5);  // 4.5 is rounded half up
  EXPECT_EQ(cost(up, Solution{1, 2, 3}), 3 + 4 + 4 + 5);
  EXPECT_DOUBLE_EQ(length(nearest, Solution{1, 2, 3}), 15);
}

Data matrix(Numbers distances, std::int32_t n) {
  Data data;
  data.matrix = std::move(distances);
  data.demand.assign(static_cast<std::size_t>(n) + 1, 1);
  data.demand[0] = 0;
  data.capacity = 10;
  return data;
}

TEST(Vrp, TakesAMatrix) {
  const Vrp vrp(matrix({9, 7, 2, 7, 9, 1, 2, 1, 9}, 2));
  EXPECT_EQ(vrp.scale(), 1);
  EXPECT_EQ(cost(vrp, Solution{1, 2}), 7 + 1 + 2);
  EXPECT_EQ(vrp.view()(1, 1), 0);  // whatever the file has there
  EXPECT_EQ(vrp.largest_cost(), 7 + 7 + 2 + 2);
  EXPECT_EQ(Vrp(matrix({0, 1.5, 1.5, 0}, 1)).scale(), 1000);
}

/// So many units of fixed point lie between the depot and the farthest customer, where distances are small, too.
TEST(Vrp, SmallDistancesHaveMoreDecimals) {
  EXPECT_EQ(Vrp(matrix({0, 0.5, 0.5, 0}, 1)).scale(), 10'000);
  EXPECT_EQ(Vrp(matrix({0, 0.003, 0.003, 0}, 1)).scale(), 1'000'000);
  EXPECT_EQ(Vrp(matrix({0, 3e-9, 3e-9, 0}, 1)).scale(), 1'000'000);
}

/// A unit of load too much costs more than a route of its own would, however far customers are.
TEST(Vrp, LoadsAreHeavyWhereWaysAreLong) {
  const auto view = [](const Vrp& vrp) { return std::pair(vrp.view().demand[1], vrp.view().capacity); };
  EXPECT_EQ(view(Vrp(matrix({0, 1000, 1000, 0}, 1))), std::pair(1, 10));
  const Vrp far(matrix({0, 1e7, 1e7, 0}, 1));
  const auto [demand, capacity] = view(far);
  EXPECT_EQ(capacity, 10 * demand);
  EXPECT_GT(demand * dearest_load, 2 * 10'000'000);
  EXPECT_LE(demand * dearest_load, 2 * 10'000'000 + dearest_load);
  Data most = matrix({0, 1e7, 1e7, 0}, 1);
  most.capacity = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(view(Vrp(most)), std::pair(1, most.capacity));
  EXPECT_EQ(far.hash(), Vrp(matrix({0, 1e7, 1e7, 0}, 1)).hash());
}

TEST(Vrp, ScaleIsTheLargestThatFits) {
  const auto far = [](double x) { return with(square(), [&](Data& data) { data.x[1] = x; }); };
  // 2 (x + 5 + 4.5) scale + 3 < 2^31 - 1
  EXPECT_EQ(Vrp(far(1'073'731)).scale(), 1000);
  EXPECT_EQ(Vrp(far(1'073'733)).scale(), 100);
  EXPECT_EQ(Vrp(far(10'737'500)).scale(), 10);
  EXPECT_EQ(Vrp(far(107'375'000)).scale(), 1);
  EXPECT_EQ(vicinity::complaint<InputError>([&] { (void)Vrp(far(1.1e9)); }),
            "distances or service times are so large that costs could leave 31 bits");
  EXPECT_THROW(Vrp(far(1e300)), InputError);
  const auto served = [](double service) { return with(square(), [&](Data& data) { data.service = {0, service, 0, 0}; }); };
  EXPECT_EQ(Vrp(served(3e6)).scale(), 100);
  EXPECT_THROW(Vrp(served(3e9)), InputError);
  // Whole distances need no decimals, unless service times have some.
  EXPECT_EQ(Vrp(with(served(7), [](Data& data) { data.rounding = Rounding::nearest; })).scale(), 1);
  EXPECT_EQ(Vrp(with(served(7.5), [](Data& data) { data.rounding = Rounding::nearest; })).scale(), 1000);
}

/// (1) of the header: no solution costs more than the bound, and all times together fit 31 bits.
TEST(Vrp, NoSolutionLeaves31Bits) {
  for_random_instances([](const Vrp& vrp, const std::vector<Route>& routes) {
    std::int64_t served = 0;
    for (std::int32_t i = 1; i <= vrp.size(); ++i) served += vrp.view().service[i];
    EXPECT_LT(vrp.largest_cost() + served, std::numeric_limits<std::int32_t>::max());
    Route all;
    std::vector<Route> alone;
    for (std::int32_t i = 1; i <= vrp.size(); ++i) {
      all.push_back(i);
      alone.push_back({i});
    }
    for (const auto& some : {routes, {all}, alone}) EXPECT_LE(cost(vrp, joined(some)), vrp.largest_cost());
  });
}

TEST(Vrp, FixedPointIsWithinHalfAUnitAnEdge) {
  for_random_instances([](const Vrp& vrp, const std::vector<Route>& routes) {
    const Solution solution = encoded(routes);
    const auto edges = static_cast<double>(solution.size() + 1);  // as many as customers and routes
    EXPECT_LE(std::abs(static_cast<double>(cost(vrp, solution)) - length(vrp, solution) * vrp.scale()), 0.5 * edges + 1e-3);
    EXPECT_EQ(cost(vrp, solution), cost(vrp, joined(routes)));
  });
}

TEST(Vrp, LimitIsTheLastThatIsNotAbove) {
  const auto limited = [](double limit, double service) {
    return Vrp(with(square(), [&](Data& data) {
      data.limit = limit;
      data.service = {0, service, 0, 0};
    }));
  };
  EXPECT_EQ(limited(12.001, 0).view().limit, 12001);
  EXPECT_EQ(limited(12.0019, 0).view().limit, 12001);
  EXPECT_EQ(limited(1e9, 0).view().limit, no_limit);
  EXPECT_EQ(Vrp(square()).view().limit, no_limit);
  const auto rounded = with(square(), [](Data& data) {
    data.rounding = Rounding::nearest;
    data.limit = 12.7;
  });
  EXPECT_EQ(Vrp(rounded).view().limit, 12);
}

/// Distances rounded to 1, further than the customers are from the depot: with fractions of service, a unit is less than 1.
TEST(Vrp, RoundedDistancesCountInTheBound) {
  Data data;
  data.x = {0, 0.4, -0.2, -0.2};
  data.y = {0, 0, 0.3464, -0.3464};
  data.demand = {0, 1, 1, 1};
  data.capacity = 10;
  data.rounding = Rounding::nearest;
  data.service = {0, 0.1, 0.1, 0.1};
  data.limit = 1.5;
  const Vrp vrp(data);
  EXPECT_GT(vrp.scale(), 1);
  EXPECT_EQ(complaint(vrp, Solution{1, 2, 3}), "route 1 takes 2.3, the limit is 1.5");
  EXPECT_EQ(cost(vrp, Solution{1, 2, 3}), 2 * std::int64_t{vrp.scale()});
  const std::size_t many = 3001;
  data.x.assign(many, 0);
  data.y.assign(many, 0);
  for (std::size_t i = 1; i < many; ++i) {
    data.x[i] = 0.45 * std::cos(static_cast<double>(i));
    data.y[i] = 0.45 * std::sin(static_cast<double>(i));
  }
  data.demand.assign(many, 0);
  data.service.assign(many, 0.1);
  data.service[0] = 0;
  data.limit.reset();
  const Vrp circle(data);
  EXPECT_LE(circle.scale(), 500'000);  // each edge may be 1 long
  EXPECT_EQ(circle.view().limit, no_limit);
}

TEST(Vrp, TheFinestUnitIsALength) {
  const auto finest = [](double stretch) {
    return Vrp(with(square(), [&](Data& data) {
      data.finest = true;
      for (double& x : data.x) x *= stretch;
      for (double& y : data.y) y *= stretch;
    }));
  };
  EXPECT_EQ(finest(1).scale(), 1'000'000);
  EXPECT_EQ(cost(finest(1), Solution{1, 2, 3}), 14'541'381);  // 3 + 4 + sqrt(9.25) + 4.5
  EXPECT_EQ(finest(1000).scale(), 10'000);                    // twice 12,500 from the depot, and what rounding adds, below 2^31
  EXPECT_EQ(Vrp(with(square(), [](Data& data) { data.rounding = Rounding::nearest, data.finest = true; })).scale(), 1);
}

TEST(Vrp, SaysWhatIsWrongWithASolution) {
  const Vrp vrp(with(square(), [](Data& data) {
    data.limit = 15;
    data.service = {0, 2.5, 1, 1};
    data.vehicles = 2;
  }));
  const auto wrong = [&](const Solution& solution) { return complaint(vrp, solution); };
  EXPECT_EQ(wrong({1, 0, 2, 3}), "");
  EXPECT_EQ(wrong({0, 3, 2, 0, 0, 1, 0}), "");  // as a giant tour has it
  EXPECT_EQ(wrong({1, 2, 0, 3}), "route 1 takes 15.5, the limit is 15");
  EXPECT_EQ(wrong({0, 2, 0, 1, 0, 3}), "routes: 3, vehicles of the fleet: 2");
  EXPECT_EQ(wrong({3, 0, 1, 0, 1, 2}), "customer 1 is in routes 2 and 3");
  EXPECT_EQ(wrong({3, 0, 2, 1, 2}), "customer 2 is twice in route 2");
  EXPECT_EQ(wrong({3, 0, 1}), "customer 2 is in no route");
  EXPECT_EQ(wrong({}), "customer 1 is in no route");
  EXPECT_EQ(wrong({3, 0, 1, 2, 4}), "customer 4 in route 2 is outside 1..3");
  EXPECT_EQ(wrong({-1}), "customer -1 in route 1 is outside 1..3");
  EXPECT_EQ(complaint(Vrp(square()), Solution{1, 0, 3, 2}), "");
  EXPECT_EQ(complaint(Vrp(square()), Solution{3, 1, 2}), "route 1 carries 60, the capacity is 50");
  EXPECT_EQ(vicinity::complaint<InputError>([&] { (void)cost(vrp, Solution{1, 2}); }), "not a solution: customer 3 is in no route");
  EXPECT_NO_THROW((void)length(vrp, Solution{1, 2, 3}));  // infeasible ones have a cost
}

TEST(Vrp, SaysWhoCannotBeServed) {
  const auto changed = [](const std::function<void(Data&)>& change) { return unservable(Vrp(with(square(), change))); };
  EXPECT_EQ(changed([](Data&) {}), "");
  EXPECT_EQ(changed([](Data& data) { data.capacity = 29; }), "customer 3 cannot be served: it demands 30, the capacity is 29");
  EXPECT_EQ(changed([](Data& data) { data.limit = 9.5; }), "customer 2 cannot be served: to it and back takes 10, the limit is 9.5");
  EXPECT_EQ(changed([](Data& data) { data.limit = 10; }), "");
  EXPECT_EQ(changed([](Data& data) {
              data.limit = 10;
              data.service = {0, 4.25, 0, 0};
            }),
            "customer 1 cannot be served: to it and back takes 10.25, the limit is 10");
  EXPECT_EQ(changed([](Data& data) { data.vehicles = 1; }), "the demands sum up to 60, 1 vehicles of capacity 50 carry 50");
  EXPECT_EQ(changed([](Data& data) { data.vehicles = 2; }), "");
  // Over customer 1 the way to 2 is shorter.
  const auto detour = [](double limit) {
    Data data = matrix({0, 1, 100, 1, 0, 1, 100, 1, 0}, 2);
    data.limit = limit;
    return unservable(Vrp(data));
  };
  EXPECT_EQ(detour(102), "");
  EXPECT_EQ(detour(4), "");
  EXPECT_EQ(detour(3), "customer 2 cannot be served: to it and back takes 4, the limit is 3");
}

TEST(Vrp, EncodingIsCanonical) {
  EXPECT_EQ(encoded({{5, 4}, {}, {2, 3, 1}, {6}}), (Solution{1, 3, 2, 0, 4, 5, 0, 6}));
  EXPECT_EQ(encoded({{6}, {4, 5}, {1, 3, 2}}), (Solution{1, 3, 2, 0, 4, 5, 0, 6}));
  EXPECT_EQ(encoded({}), Solution{});
  EXPECT_EQ(routes_of(Solution{0, 3, 1, 0, 0, 2, 0}), (std::vector<Route>{{3, 1}, {2}}));
  for_random_instances([](const Vrp&, const std::vector<Route>& routes) {
    const Solution solution = encoded(routes);
    EXPECT_EQ(encoded(routes_of(solution)), solution);
    EXPECT_EQ(encoded(routes_of(joined(routes))), solution);
  });
}

TEST(Vrp, RejectsWhatIsNoInstance) {
  const auto rejection = [](const std::function<void(Data&)>& change) {
    return vicinity::complaint<InputError>([&] { (void)Vrp(with(square(), change)); });
  };
  const double nan = std::nan("");
  EXPECT_EQ(rejection([](Data& data) { data.demand = {0}; }), "0 customers are outside 1..10000");
  EXPECT_EQ(rejection([](Data& data) { data.demand.resize(10'002); }), "10001 customers are outside 1..10000");
  EXPECT_EQ(rejection([](Data& data) { data.x.pop_back(); }), "as many x and y coordinates as places are needed");
  EXPECT_EQ(rejection([](Data& data) { data.demand.push_back(1); }), "as many x and y coordinates as places are needed");
  EXPECT_EQ(rejection([](Data& data) { data.x = data.y = {}; }), "there are neither coordinates nor a matrix of distances");
  EXPECT_EQ(rejection([](Data& data) { data.matrix = {0}; }), "the matrix does not have places x places distances");
  EXPECT_EQ(rejection([](Data& data) { data.service = {0}; }), "as many service times as places are needed");
  EXPECT_EQ(rejection([&](Data& data) { data.y[2] = nan; }), "a coordinate is not a finite number");
  EXPECT_EQ(rejection([](Data& data) { data.demand[2] = -1; }), "a demand is negative");
  EXPECT_EQ(rejection([](Data& data) { data.demand[0] = 1; }), "the depot has the demand 1; it must be 0");
  EXPECT_EQ(rejection([](Data& data) { data.service = {1, 0, 0, 0}; }), "the depot has the service time 1; it must be 0");
  EXPECT_EQ(rejection([](Data& data) { data.service = {0, -1, 0, 0}; }), "a service time is negative or not a finite number");
  EXPECT_EQ(rejection([](Data& data) { data.demand[1] = data.demand[2] = 2'000'000'000; }), "the sum of the demands leaves 32 bits");
  EXPECT_EQ(rejection([](Data& data) { data.capacity = 0; }), "the capacity 0 is below 1");
  EXPECT_EQ(rejection([&](Data& data) { data.limit = nan; }), "the route limit nan is not above 0");
  EXPECT_EQ(rejection([](Data& data) { data.vehicles = 0; }), "a fleet of 0 vehicles is below 1");
  EXPECT_EQ(vicinity::complaint<InputError>([] {
              (void)Vrp(matrix({0, 1, 2, 0}, 1));
            }),
            "the distance from node 1 to node 2 is 1, back it is 2: it must be symmetric");
  EXPECT_EQ(vicinity::complaint<InputError>([] { (void)Vrp(matrix({0, -1, -1, 0}, 1)); }), "a distance is negative or not a finite number");
}

TEST(Vrp, HashTellsInstancesApart) {
  const std::uint64_t hash = Vrp(square()).hash();
  EXPECT_EQ(Vrp(with(square(), [](Data& data) { data.name = "other"; })).hash(), hash);
  EXPECT_EQ(Vrp(with(square(), [](Data& data) { data.limit = 1e6; })).hash(), hash);  // binds nobody
  const std::vector<std::function<void(Data&)>> changes{[](Data& data) { data.x[1] = 3.5; },
                                                        [](Data& data) { data.y[1] = 0.5; },
                                                        [](Data& data) { data.demand[1] = 11; },
                                                        [](Data& data) { data.capacity = 51; },
                                                        [](Data& data) { data.limit = 15; },
                                                        [](Data& data) {
                                                          data.service = {0, 1, 0, 0};
                                                        },
                                                        [](Data& data) { data.vehicles = 2; },
                                                        [](Data& data) { data.rounding = Rounding::up; },
                                                        [](Data& data) { data.matrix = Numbers(16, 1); }};
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_NE(Vrp(with(square(), changes[i])).hash(), hash) << i;
}

}  // namespace
}  // namespace vicinity::vrp
