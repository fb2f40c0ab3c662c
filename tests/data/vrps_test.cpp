// Vehicle routing problems of the catalogue: generated, from files, users' own, random.
#include "data/vrps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/util/error.hpp"
#include "data/formats/cvrplib.hpp"
#include "data/search_path.hpp"
#include "data/sha256.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

using vrp::Rounding;

std::vector<CatalogueEntry> vrps(const std::string& family = "") {
  std::vector<CatalogueEntry> found;
  for (const CatalogueEntry& entry : catalogue().entries())
    if (entry.format == "cvrplib" && (family.empty() || entry.family == family)) found.push_back(entry);
  return found;
}

/// Calls check(entry, file) for each whose file is on the search path of this machine. Were there any?
bool for_files(const std::function<void(const CatalogueEntry&, const std::filesystem::path&)>& check) {
  int seen = 0;
  for (const CatalogueEntry& entry : vrps()) try {
      check(entry, instance_file(entry));
      ++seen;
    } catch (const MissingInput&) {
      continue;
    }
  return seen > 0;
}

TEST(Vrps, CatalogueHasThoseOfTheExperiments) {
  const std::map<std::string, std::size_t> families{{"cmt", 14}, {"golden", 20}, {"li", 12}, {"x", 10}, {"bhs-like", 10}};
  for (const auto& [family, count] : families) {
    EXPECT_EQ(vrps(family).size(), count) << family;
    for (const CatalogueEntry& entry : vrps(family)) {
      EXPECT_EQ(entry.rounding, family == "x" ? "nearest" : "none");
      EXPECT_EQ(entry.best_known.has_value(), family != "bhs-like") << entry.name;
      EXPECT_TRUE(!entry.best_known || (entry.best_known->of == "cost" && !entry.best_known->source.empty())) << entry.name;
      EXPECT_EQ(entry.origin.has_value(), family != "bhs-like");
    }
  }
  // The paper prints 16668.51 and 17372.64.
  EXPECT_DOUBLE_EQ(catalogue().at("Li_25").best_known->value, 16665.74878);
  EXPECT_DOUBLE_EQ(catalogue().at("Li_27").best_known->value, 17319.98196);
}

TEST(Vrps, LiAndBhsLikeAreGeneratedWithoutFiles) {
  const TemporaryFolder empty;
  const ScopedEnvironment nowhere("VICINITY_INSTANCES", empty.path().string());
  for (const std::string family : {"li", "bhs-like"})
    for (const CatalogueEntry& entry : vrps(family)) {
      const auto vrp = load_vrp(entry.name);  // throws unless the content has the catalogue's checksum
      EXPECT_EQ(vrp->name(), entry.name);
      EXPECT_EQ(vrp->size(), entry.size.at("customers"));
      EXPECT_EQ(vrp::unservable(*vrp), "");
      EXPECT_TRUE(family == "li" || sha256(cvrplib_text(*vrp)) == entry.sha256) << entry.name;
    }
}

/// Customers, capacity, limit (0: none), service time as published: Christofides, Mingozzi and Toth 1979; Golden et al. 1998; Li et al.
/// 2005.
TEST(Vrps, RealFilesAreAsPublished) {
  using Known = std::tuple<int, int, double, double>;
  const std::map<std::string, Known> known{
      {"CMT1", {50, 160, 0, 0}},         {"CMT2", {75, 140, 0, 0}},         {"CMT3", {100, 200, 0, 0}},
      {"CMT4", {150, 200, 0, 0}},        {"CMT5", {199, 200, 0, 0}},        {"CMT6", {50, 160, 200, 10}},
      {"CMT7", {75, 140, 160, 10}},      {"CMT8", {100, 200, 230, 10}},     {"CMT9", {150, 200, 200, 10}},
      {"CMT10", {199, 200, 200, 10}},    {"CMT11", {120, 200, 0, 0}},       {"CMT12", {100, 200, 0, 0}},
      {"CMT13", {120, 200, 720, 50}},    {"CMT14", {100, 200, 1040, 90}},   {"Golden_1", {240, 550, 650, 0}},
      {"Golden_2", {320, 700, 900, 0}},  {"Golden_3", {400, 900, 1200, 0}}, {"Golden_4", {480, 1000, 1600, 0}},
      {"Golden_5", {200, 900, 1800, 0}}, {"Golden_6", {280, 900, 1500, 0}}, {"Golden_7", {360, 900, 1300, 0}},
      {"Golden_8", {440, 900, 1200, 0}}, {"Golden_9", {255, 1000, 0, 0}},   {"Golden_10", {323, 1000, 0, 0}},
      {"Golden_11", {399, 1000, 0, 0}},  {"Golden_12", {483, 1000, 0, 0}},  {"Golden_13", {252, 1000, 0, 0}},
      {"Golden_14", {320, 1000, 0, 0}},  {"Golden_15", {396, 1000, 0, 0}},  {"Golden_16", {480, 1000, 0, 0}},
      {"Golden_17", {240, 200, 0, 0}},   {"Golden_18", {300, 200, 0, 0}},   {"Golden_19", {360, 200, 0, 0}},
      {"Golden_20", {420, 200, 0, 0}},   {"Li_21", {560, 1200, 1800, 0}},   {"Li_22", {600, 900, 1000, 0}},
      {"Li_23", {640, 1400, 2200, 0}},   {"Li_24", {720, 1500, 2400, 0}},   {"Li_25", {760, 900, 900, 0}},
      {"Li_26", {800, 1700, 2500, 0}},   {"Li_27", {840, 900, 900, 0}},     {"Li_28", {880, 1800, 2800, 0}},
      {"Li_29", {960, 2000, 3000, 0}},   {"Li_30", {1040, 2100, 3200, 0}},  {"Li_31", {1120, 2300, 3500, 0}},
      {"Li_32", {1200, 2500, 3600, 0}}};
  const bool any = for_files([&](const CatalogueEntry& entry, const std::filesystem::path& file) {
    const auto vrp = read_vrp(file.string());
    EXPECT_EQ(sha256(vrp_content(*vrp)), entry.content_sha256) << entry.name;
    EXPECT_EQ(vrp->size(), entry.size.at("customers"));
    EXPECT_EQ(vrp->data().rounding, entry.rounding == "none" ? Rounding::none : Rounding::nearest) << entry.name;  // known by content
    EXPECT_EQ(vrp->scale(), entry.rounding == "none" ? 1000 : 1) << entry.name;
    EXPECT_EQ(best_known_of(*vrp), std::llround(entry.best_known->value * vrp->scale())) << entry.name;
    EXPECT_EQ(load_vrp(entry)->hash(), vrp->hash()) << entry.name;  // of Li, the generated one
    if (!known.contains(entry.name)) return;
    const auto& data = vrp->data();
    EXPECT_EQ(known.at(entry.name), (Known{vrp->size(), data.capacity, data.limit.value_or(0), vrp->service(1)})) << entry.name;
    EXPECT_EQ(vrp::unservable(*vrp), "");
  });
  if (!any) GTEST_SKIP() << "no .vrp file is on the search path; set VICINITY_INSTANCES";
}

/// Each costs what it says, to the digits it has, and is feasible; service times do not count.
TEST(Vrps, SolutionFilesBesideThemCostWhatTheySay) {
  int seen = 0;
  (void)for_files([&](const CatalogueEntry& entry, const std::filesystem::path& file) {
    const auto beside = std::filesystem::path(file).replace_extension(".sol");
    if (!std::filesystem::is_regular_file(beside)) return;
    const auto vrp = load_vrp(entry);
    const CvrplibSolution solution = read_cvrplib_solution(beside, *vrp);
    const double length = vrp::length(*vrp, solution.routes);
    EXPECT_EQ(vrp::complaint(*vrp, solution.routes), "") << entry.name;
    EXPECT_NEAR(length, solution.cost.value(), 0.06) << entry.name;  // CVRPLIB gives some with one decimal
    EXPECT_NEAR(length, entry.best_known->value, 6e-6) << entry.name;
    const auto edges = static_cast<double>(solution.routes.size() + 1);
    EXPECT_NEAR(static_cast<double>(vrp::cost(*vrp, solution.routes)), length * vrp->scale(), edges / 2) << entry.name;
    std::istringstream written(cvrplib_solution_text(*vrp, solution.routes));
    EXPECT_EQ(read_cvrplib_solution(written, "again.sol", *vrp).routes, solution.routes);
    ++seen;
  });
  if (seen == 0) GTEST_SKIP() << "no .sol file is on the search path; set VICINITY_INSTANCES";
}

/// A solution of ours costs less than the best known one that the catalogue names.
TEST(Vrps, SolutionsOfOurs) {
  const auto vrp = load_vrp("Li_27");
  const CvrplibSolution solution = read_cvrplib_solution(data_folder() / "solutions/Li_27.sol", *vrp);
  EXPECT_EQ(vrp::complaint(*vrp, solution.routes), "");
  EXPECT_NEAR(vrp::length(*vrp, solution.routes), solution.cost.value(), 1e-5);
  EXPECT_LT(solution.cost.value(), catalogue().at("Li_27").best_known->value - 3);
}

/// A solution that LKH-3 found, which also counts in thousandths, and its cost there. With service times it would cost 500 more.
TEST(Vrps, ServiceTimesCountTowardsTheLimitOnly) {
  const Solution found{14, 25, 13, 41, 40, 19, 42, 17, 0, 18, 4,  47, 46, 0,  6,  23, 24, 43, 7, 26, 8,  48, 27, 0,  12, 37, 44, 15,
                       45, 33, 39, 10, 49, 5,  0,  38, 9, 30, 34, 50, 21, 29, 16, 11, 32, 0,  1, 22, 31, 28, 3,  36, 35, 20, 2};
  std::shared_ptr<const vrp::Vrp> vrp;
  try {
    vrp = load_vrp("CMT6");
  } catch (const MissingInput&) {
    GTEST_SKIP() << "CMT6.vrp is not on the search path; set VICINITY_INSTANCES";
  }
  EXPECT_EQ(vrp::cost(*vrp, found), 555429);
  EXPECT_NEAR(vrp::length(*vrp, found), catalogue().at("CMT6").best_known->value, 6e-6);
  EXPECT_EQ(vrp::complaint(*vrp, found), "");
  vrp::Data longer = vrp->data();
  longer.service[1] = 200;
  EXPECT_NE(vrp::complaint(vrp::Vrp(longer), found), "");
}

TEST(Vrps, RoundingMayBeAsked) {
  EXPECT_EQ(load_vrp("Li_21")->data().rounding, Rounding::none);
  const auto rounded = load_vrp("Li_21", Rounding::nearest);
  EXPECT_EQ(rounded->scale(), 1);
  EXPECT_EQ(best_known_of(*rounded), std::nullopt);  // what is known is of the other rounding
  const Case c{"vrp", "Li_21", {{"rounding", std::string("nearest")}}};
  EXPECT_EQ(make_vrp(c)->hash(), rounded->hash());
  EXPECT_EQ(make_vrp({"vrp", "Li_21", {}})->hash(), load_vrp("Li_21")->hash());
  EXPECT_EQ(complaint<InputError>([] {
              (void)make_vrp({"vrp", "Li_21", {{"rounding", std::string("up")}}});
            }),
            "vrp: rounding = up is none of none, nearest");
}

TEST(Vrps, FilesOfUsersAreRoundedAsTsplibSays) {
  const TemporaryFolder folder;
  vrp::Data data = load_vrp("Li_21")->data();
  data.name = "mine";
  const auto known = folder.write("known.vrp", cvrplib_text(vrp::Vrp(data)));
  EXPECT_EQ(read_vrp(known.string())->data().rounding, Rounding::none);
  EXPECT_EQ(best_known_of(*read_vrp(known.string())), 16212826);
  EXPECT_EQ(read_vrp(known.string(), Rounding::nearest)->data().rounding, Rounding::nearest);
  ++data.capacity;
  const auto own = folder.write("own.vrp", cvrplib_text(vrp::Vrp(data)));
  EXPECT_EQ(read_vrp(own.string())->data().rounding, Rounding::nearest);
  EXPECT_EQ(read_vrp(own.string(), Rounding::none)->data().rounding, Rounding::none);
  EXPECT_EQ(best_known_of(*read_vrp(own.string(), Rounding::none)), std::nullopt);
  // CVRPLIB's sets say by their names what their costs are of.
  const auto rounded = folder.write("E-n561-k10.vrp", cvrplib_text(*load_vrp("Li_21"))),
             exact = folder.write("tai75a.vrp", cvrplib_text(vrp::Vrp(data)));
  EXPECT_EQ(read_vrp(rounded.string())->data().rounding, Rounding::nearest);
  EXPECT_EQ(best_known_of(*read_vrp(rounded.string())), std::nullopt);
  EXPECT_EQ(read_vrp(exact.string())->data().rounding, Rounding::none);
}

TEST(Vrps, WhatIsNoneAndWhatTheGeneratorDoesNotReproduceIsRefused) {
  EXPECT_EQ(complaint<InputError>([] { (void)load_vrp("tai30a"); }),
            "instance 'tai30a' is no vehicle routing problem: its format is qaplib");
  CatalogueEntry entry = catalogue().at("Li_21");
  entry.generator->parameters["rings"] = 15;
  EXPECT_NE(complaint<InputError>([&] { (void)load_vrp(entry); }).find("content_sha256"), std::string::npos);
  entry.generator->parameters.erase("limit");
  EXPECT_NE(complaint<InputError>([&] { (void)load_vrp(entry); }).find("'limit' is missing"), std::string::npos);
  entry.generator->name = "dice";
  EXPECT_NE(complaint<InputError>([&] { (void)load_vrp(entry); }).find("unknown generator 'dice' of format cvrplib"), std::string::npos);
  entry.rounding.clear();
  EXPECT_EQ(complaint<InputError>([&] { (void)load_vrp(entry); }), "the catalogue does not say how distances of family 'li' are rounded");
}

TEST(Vrps, SizeInWords) {
  EXPECT_EQ(size_text(*load_vrp("Li_21")), "560 customers, capacity 1200, route limit 1800");
  vrp::Data data;
  data.x = data.y = {0, 1};
  data.demand = {0, 1};
  data.capacity = 3;
  data.vehicles = 1;
  EXPECT_EQ(size_text(vrp::Vrp(data)), "1 customer, capacity 3, 1 vehicle");
}

Case random_case(std::map<std::string, Value> more) {
  more.try_emplace("size", std::int64_t{20});
  return {"vrp", "", std::move(more)};
}

std::vector<std::pair<double, double>> places(const vrp::Vrp& vrp) {
  std::set<std::pair<double, double>> all;
  for (std::size_t i = 1; i < vrp.data().x.size(); ++i) all.emplace(vrp.data().x[i], vrp.data().y[i]);
  return {all.begin(), all.end()};
}

TEST(MakeVrp, IsAsTheAxesSay) {
  using I = std::int64_t;
  const auto usual = make_vrp(random_case({}));
  EXPECT_EQ(usual->size(), 20);
  EXPECT_EQ(usual->scale(), 1000);
  EXPECT_EQ(usual->view().limit, vrp::no_limit);
  EXPECT_EQ(usual->view().vehicles, 20);
  EXPECT_EQ(make_vrp(random_case({}))->hash(), usual->hash());
  EXPECT_NE(make_vrp(random_case({{"instance_seed", I{2}}}))->hash(), usual->hash());
  EXPECT_EQ(make_vrp(random_case({{"rounding", std::string("nearest")}}))->scale(), 1);
  EXPECT_LE(places(*make_vrp(random_case({{"sites", I{3}}}))).size(), 3u);
  EXPECT_EQ(places(*make_vrp(random_case({{"extent", I{0}}}))).size(), 1u);
  const auto full = make_vrp(random_case({{"demand_range", I{1}}, {"route_size", I{1}}}));  // demands equal the capacity
  EXPECT_EQ(full->data().capacity, 1);
  EXPECT_EQ(*std::min_element(full->data().demand.begin() + 1, full->data().demand.end()), 1);
  const auto single = make_vrp(random_case({{"size", I{1}}, {"service", I{7}}, {"limit_percent", I{100}}, {"vehicles", I{1}}}));
  EXPECT_EQ(single->service(1), 7);
  EXPECT_EQ(vrp::complaint(*single, Solution{1}), "");
  const auto one_vehicle = make_vrp(random_case({{"vehicles", I{1}}, {"route_size", I{20}}}));
  Solution all;
  for (std::int32_t i = 1; i <= 20; ++i) all.push_back(i);
  EXPECT_EQ(vrp::complaint(*one_vehicle, all), "");
}

/// Wherever a limit is 100 or more, each customer can be served alone.
TEST(MakeVrp, LimitsBindAndLeaveEveryCustomerServable) {
  using I = std::int64_t;
  int binding = 0;
  for (I seed = 0; seed < 100; ++seed) {
    const auto vrp = make_vrp(random_case({{"instance_seed", seed},
                                           {"limit_percent", I{100} + seed % 50},
                                           {"service", I{13} * (seed % 3)},
                                           {"route_size", I{20}},
                                           {"rounding", std::string(seed % 2 == 0 ? "none" : "nearest")}}));
    Solution all;
    for (std::int32_t i = 1; i <= 20; ++i) all.push_back(i);
    binding += vrp::complaint(*vrp, all).find("the limit is") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(binding, 90);
}

TEST(MakeVrp, DetoursMayBeShorterThanTheWayItself) {
  using I = std::int64_t;
  const auto shorter = [](const vrp::Vrp& vrp) {
    int count = 0;
    for (std::int32_t a = 0; a <= vrp.size(); ++a)
      for (std::int32_t b = 0; b < a; ++b)
        for (std::int32_t over = 0; over <= vrp.size(); ++over)
          count += vrp.distance(a, over) + vrp.distance(over, b) < vrp.distance(a, b) - 1e-6 ? 1 : 0;
    return count;
  };
  EXPECT_EQ(shorter(*make_vrp(random_case({}))), 0);
  for (const I detours : {20, 60, 100}) {
    const auto vrp = make_vrp(random_case({{"detours", detours}, {"sites", I{7}}, {"limit_percent", I{100}}}));
    EXPECT_GT(shorter(*vrp), 0) << detours;
    EXPECT_EQ(vrp->distance(3, 10), 0) << "they stand at the same place";
    EXPECT_EQ(vrp->distance(3, 5), vrp->distance(10, 12)) << "so do these";
  }
  EXPECT_EQ(make_vrp(random_case({{"detours", I{0}}}))->hash(), make_vrp(random_case({}))->hash());
}

TEST(MakeVrp, RefusesWhatCannotBeServed) {
  using I = std::int64_t;
  EXPECT_NE(complaint<InputError>([] {
              (void)make_vrp(random_case({{"limit_percent", I{50}}}));
            }).find("cannot be served"),
            std::string::npos);
  EXPECT_NE(complaint<InputError>([] {
              (void)make_vrp(random_case({{"vehicles", I{1}}}));
            }).find("1 vehicles of capacity"),
            std::string::npos);
  EXPECT_THROW((void)make_vrp(random_case({{"size", I{0}}})), InputError);
  EXPECT_THROW((void)make_vrp(random_case({{"sites", I{21}}})), InputError);
  EXPECT_THROW((void)make_vrp(random_case({{"detours", I{5}}, {"rounding", std::string("nearest")}})), InputError);
  EXPECT_THROW((void)make_vrp(random_case({{"rounding", I{1}}})), InputError);
}

TEST(MakeVrp, EveryAxisIsListed) {
  std::set<std::string> names;
  for (const Axis& axis : vrp_axes()) names.insert(axis.name);
  EXPECT_EQ(names, (std::set<std::string>{"size", "instance_seed", "extent", "sites", "detours", "demand_range", "route_size",
                                          "limit_percent", "service", "vehicles", "rounding"}));
}

}  // namespace
}  // namespace vicinity
