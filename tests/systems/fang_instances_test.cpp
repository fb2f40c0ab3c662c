#include "systems/fang_instances.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "core/util/error.hpp"
#include "systems/list.hpp"

namespace vicinity::fang {
namespace {

Case grid_case(std::int64_t possibilities) {
  return {"grid-path",
          "",
          {{"states", std::int64_t{2}}, {"variables", std::int64_t{3}}, {"possibilities", possibilities}, {"load", std::int64_t{1}}}};
}

TEST(WindowOffsets, AreTheWindowWithoutItsCentreRowByRow) {
  const auto offsets = window_offsets(8);
  const std::vector<std::int32_t> expected{pack_halves({-1, -1}), pack_halves({0, -1}), pack_halves({1, -1}), pack_halves({-1, 0}),
                                           pack_halves({1, 0}),   pack_halves({-1, 1}), pack_halves({0, 1}),  pack_halves({1, 1})};
  EXPECT_EQ(offsets, expected);
  for (const std::uint32_t count : {1u, 1224u, 4488u, 9800u, 98304u}) {
    const auto cells = window_offsets(count);
    EXPECT_EQ(cells.size(), count);
    EXPECT_EQ(std::set<std::int32_t>(cells.begin(), cells.end()).size(), count);
    EXPECT_EQ(std::count(cells.begin(), cells.end(), 0), 0);
  }
}

TEST(MakeInstance, IsAFunctionOfTheCase) {
  EXPECT_EQ(make_instance(grid_case(80))->hash(), make_instance(grid_case(80))->hash());
  EXPECT_NE(make_instance(grid_case(80))->hash(), make_instance(grid_case(81))->hash());
}

TEST(MakeInstance, ColouringIsOneInsertionsFour) {
  const auto instance = make_instance({"colouring", "", {{"states", std::int64_t{1}}, {"colours", std::int64_t{5}}}});
  const auto& domain = std::get<Colouring>(instance->domain);
  EXPECT_EQ(domain.vertices, 67u);
  EXPECT_EQ(domain.edges.size(), 232u);
  EXPECT_EQ(domain.types().size(), 2u);
}

TEST(MakeInstance, RefusesWhatItCannotBuild) {
  EXPECT_THROW(static_cast<void>(make_instance(grid_case(0))), InputError);
  EXPECT_THROW(static_cast<void>(make_instance(grid_case(98305))), InputError);
  EXPECT_THROW(static_cast<void>(make_instance({"no-such-problem", "", {{"states", std::int64_t{1}}}})), InputError);
  Case bad_order = grid_case(8);
  bad_order.values["order"] = std::string("sideways");
  EXPECT_THROW(static_cast<void>(make_instance(bad_order)), InputError);
}

TEST(RandomCase, AlwaysBuilds) {
  const System fang = systems::fang();
  std::set<std::string> problems;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case c = fang.random_case(seed);
    EXPECT_NO_THROW(static_cast<void>(make_instance(c))) << c.key();
    problems.insert(c.problem);
  }
  EXPECT_EQ(problems.size(), fang.problems.size()) << "random cases reach every problem";
}

}  // namespace
}  // namespace vicinity::fang
