#include "data/formats/cvrplib.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"

namespace vicinity {
namespace {

using vrp::Rounding;

vrp::Vrp parse(const std::string& text, Rounding euclidean = Rounding::none) {
  std::istringstream in(text);
  return read_cvrplib(in, "folder/v.vrp", euclidean);
}

std::string rejection(const std::string& text) {
  const std::string what = complaint<InputError>([&] { (void)parse(text); });
  return what.starts_with("folder/v.vrp:") ? what.substr(13) : what;
}

/// With one part replaced.
std::string with(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

const std::string plain =
    "NAME : v\n"                      // 1
    "COMMENT : No of trucks: 7\n"     // 2
    "TYPE : CVRP\n"                   // 3
    "DIMENSION : 4\n"                 // 4
    "EDGE_WEIGHT_TYPE : EUC_2D\n"     // 5
    "CAPACITY : 50\n"                 // 6
    "NODE_COORD_SECTION\n"            // 7
    "1 0 0\n2 3 0\n3 3 4\n4 0 4.5\n"  // 8 to 11
    "DEMAND_SECTION\n"                // 12
    "1 0\n2 10\n3 20\n4 30\n"         // 13 to 16
    "DEPOT_SECTION\n"                 // 17
    "1\n-1\nEOF\n";                   // 18 to 20

std::string matrix(const std::string& format, const std::string& weights) {
  return "TYPE: CVRP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: " + format + "\nCAPACITY: 9\nEDGE_WEIGHT_SECTION\n" +
         weights + "DEMAND_SECTION\n1 0\n2 4\n3 5\nDEPOT_SECTION\n1\n-1\n";
}

TEST(Cvrplib, ReadsAFile) {
  const vrp::Vrp vrp = parse(plain);
  EXPECT_EQ(vrp.name(), "v");
  EXPECT_EQ(vrp.size(), 3);
  EXPECT_EQ(vrp.data().capacity, 50);
  EXPECT_EQ(vrp.data().demand, (std::vector<std::int32_t>{0, 10, 20, 30}));
  EXPECT_EQ(vrp.data().y, (std::vector<double>{0, 0, 4, 4.5}));
  EXPECT_FALSE(vrp.data().limit);
  EXPECT_FALSE(vrp.data().vehicles);  // whatever the comment says
  EXPECT_TRUE(vrp.data().service.empty());
}

TEST(Cvrplib, ReadsItHoweverItIsWritten) {
  const vrp::Vrp vrp = parse(
      "Capacity:\t50.0\r\nDistance : 2e1\nservice time: 1.5\nVEHICLES 2\n  edge-weight-type : CEIL_2D \nTYPE : \tDCVRP (by "
      "hand)\nDIMENSION : 4\n"
      "DEPOT_SECTION : \n 1 -1\nDEMAND_SECTION\t\t\n4 30\n3 20.0\n\n2 10\n1 0\nNODE_COORD_SECTION\n4 0 +4.5\n3\t3 4\r\n2 3.0 0\n1 0 0");
  EXPECT_EQ(vrp.data().x, (std::vector<double>{0, 3, 3, 0}));
  EXPECT_EQ(vrp.data().demand, (std::vector<std::int32_t>{0, 10, 20, 30}));
  EXPECT_EQ(vrp.data().service, (std::vector<double>{0, 1.5, 1.5, 1.5}));
  EXPECT_EQ(vrp.data().limit, 20);
  EXPECT_EQ(vrp.data().vehicles, 2);
  EXPECT_EQ(vrp.data().rounding, Rounding::up);
  EXPECT_EQ(parse(with(plain, "CAPACITY", "VEHICLES_MAX_DURATION : 8\nCAPACITY")).data().limit, 8);
}

TEST(Cvrplib, Euc2dIsRoundedAsAsked) {
  EXPECT_EQ(parse(plain).data().rounding, Rounding::none);
  EXPECT_EQ(parse(plain, Rounding::nearest).data().rounding, Rounding::nearest);
  EXPECT_EQ(parse(with(plain, "EUC", "CEIL"), Rounding::nearest).data().rounding, Rounding::up);
}

TEST(Cvrplib, TheDepotMayBeAnyNode) {
  std::string text = with(plain, "DEPOT_SECTION\n1", "SERVICE_TIME_SECTION\n1 5\n2 6\n3 0\n4 7\nDEPOT_SECTION\n3");
  text = with(with(text, "1 0\n2 10\n3 20", "1 1\n2 10\n3 0"), "4 30", "4 30");
  const vrp::Vrp vrp = parse(text);
  EXPECT_EQ(vrp.data().x, (std::vector<double>{3, 0, 3, 0}));
  EXPECT_EQ(vrp.data().demand, (std::vector<std::int32_t>{0, 1, 10, 30}));
  EXPECT_EQ(vrp.data().service, (std::vector<double>{0, 5, 6, 7}));
  const vrp::Vrp given = parse(with(with(matrix("LOWER_ROW", "7 2 1\n"), "1 0\n2 4", "1 4\n2 0"), "SECTION\n1\n-1", "SECTION\n2\n-1"));
  EXPECT_EQ(given.data().matrix, (std::vector<double>{0, 7, 1, 7, 0, 2, 1, 2, 0}));
}

TEST(Cvrplib, ReadsEveryFormOfAMatrix) {
  const std::vector<double> expected{0, 7, 2, 7, 0, 1, 2, 1, 0};
  for (const auto& [format, weights] : std::vector<std::pair<std::string, std::string>>{{"FULL_MATRIX", "0 7 2\n7 0\n1 2 1 9\n"},
                                                                                        {"LOWER_ROW", "7\n2 1\n"},
                                                                                        {"UPPER_ROW", "7 2\n1\n"},
                                                                                        {"LOWER_DIAG_ROW", "0\n7 0\n2 1 0\n"},
                                                                                        {"UPPER_DIAG_ROW", "0 7 2\n0 1\n0\n"},
                                                                                        {"LOWER_COL", "7 2\n1\n"},
                                                                                        {"UPPER_COL", "7\n2 1\n"},
                                                                                        {"LOWER_DIAG_COL", "0 7 2 0 1 0\n"},
                                                                                        {"UPPER_DIAG_COL", "0 7 0 2 1 0\n"}})
    EXPECT_EQ(parse(matrix(format, weights)).data().matrix, expected) << format;
}

TEST(Cvrplib, SaysWhatIsWrongInAFile) {
  struct Hostile {
    std::string text, what;
  };
  const auto changed = [](const std::string& part, const std::string& by) { return with(plain, part, by); };
  const std::string explicit3 = matrix("LOWER_ROW", "7 2 1\n");
  const std::vector<Hostile> files{
      {"", "1: the file has no TYPE"},
      {"\x01\x02", "1: unknown keyword '\?\?'"},
      {"TYPE : CVRP\n", "1: the file has no EDGE_WEIGHT_TYPE"},
      {changed("TYPE : CVRP", "TYPE : CVRPTW"), "3: TYPE CVRPTW is not supported; supported: CVRP, DCVRP"},
      {changed("TYPE : CVRP", "TYPE :"), "3: expected 'TYPE : value'"},
      {changed("EUC_2D", "GEO"), "5: EDGE_WEIGHT_TYPE GEO is not supported; supported: EUC_2D, CEIL_2D, EXPLICIT"},
      {changed("CAPACITY : 50", "CAPACITY : 50\nCAPACITY : 60"), "7: CAPACITY twice"},
      {changed("CAPACITY : 50\n", ""), "19: the file has no CAPACITY"},
      {changed("CAPACITY : 50", "CAPACITY : 0"), "6: expected CAPACITY, a whole number from 1 to 2147483647, found '0'"},
      {changed("CAPACITY : 50", "CAPACITY : 4.5"), "6: expected CAPACITY, a whole number from 1 to 2147483647, found '4.5'"},
      {changed("CAPACITY : 50", "CAPACITY : 3000000000"), "6: expected CAPACITY, a whole number from 1 to 2147483647, found '3000000000'"},
      {changed("CAPACITY : 50", "CAPACITY : many"), "6: expected CAPACITY, found 'many'"},
      {changed("CAPACITY : 50", "TRUCKS : 5"), "6: unknown keyword 'TRUCKS : 5'"},
      {changed("CAPACITY", "DISTANCE : 0\nCAPACITY"), "6: DISTANCE '0' is not above 0"},
      {changed("CAPACITY", "DISTANCE : nan\nCAPACITY"), "6: expected DISTANCE, found 'nan'"},
      {changed("CAPACITY", "SERVICE_TIME : -1\nCAPACITY"), "6: SERVICE_TIME '-1' is negative"},
      {changed("CAPACITY", "VEHICLES : 0\nCAPACITY"), "6: expected VEHICLES, a whole number from 1 to 2147483647, found '0'"},
      {changed("CAPACITY", "NODE_COORD_TYPE : THREED_COORDS\nCAPACITY"),
       "6: NODE_COORD_TYPE THREED_COORDS is not supported; supported: TWOD_COORDS, NO_COORDS"},
      {changed("DIMENSION : 4", "DIMENSION : 1"), "4: DIMENSION '1' is not a whole number from 2 to 10001"},
      {changed("DIMENSION : 4", "DIMENSION : 999999999999"), "4: DIMENSION '999999999999' is not a whole number from 2 to 10001"},
      {changed("DIMENSION : 4", "DIMENSION : -4"), "4: DIMENSION '-4' is not a whole number from 2 to 10001"},
      {changed("DIMENSION : 4\n", ""), "6: DIMENSION is missing before this section"},
      {changed("DIMENSION : 4", "DIMENSION : 5"), "12: NODE_COORD_SECTION ends after 4 of 5 nodes; node 5 is missing"},
      {changed("DIMENSION : 4", "DIMENSION : 3"), "11: unknown keyword '4 0 4.5'"},
      {changed("2 3 0", "2 nan 0"), "9: expected a coordinate, found 'nan'"},
      {changed("2 3 0", "2 3 1e999"), "9: expected a coordinate, found '1e999'"},
      {changed("2 3 0", "2 3"), "9: expected 'node x y', found '2 3'"},
      {changed("2 3 0", "2 3 0 0"), "9: expected 'node x y', found '2 3 0 0'"},
      {changed("2 3 0", "1 3 0"), "9: node 1 twice; it was in line 8"},
      {changed("2 3 0", "5 3 0"), "9: node 5 is outside 1..4"},
      {changed("2 3 0", "0 3 0"), "9: node 0 is outside 1..4"},
      {changed("2 3 0", "2 3 2e9"), "7: distances or service times are so large that costs could leave 31 bits"},
      {changed("2 3 0", "2 1e300 -1e300"), "7: distances or service times are so large that costs could leave 31 bits"},
      {changed("2 10", "2 -10"), "14: expected a demand, a whole number from 0 to 2147483647, found '-10'"},
      {changed("2 10", "2 2147483648"), "14: expected a demand, a whole number from 0 to 2147483647, found '2147483648'"},
      {changed("2 10\n3 20", "2 2000000000\n3 2000000000"), "7: the sum of the demands leaves 32 bits"},
      {changed("2 10", "2 10 0"), "14: expected 'node value', found '2 10 0'"},
      {changed("1 0\n2 10", "1 7\n2 10"), "13: the depot has the demand 7; it must be 0"},
      {changed("4 30\n", ""), "16: DEMAND_SECTION ends after 3 of 4 nodes; node 4 is missing"},
      {changed("DEMAND_SECTION\n1 0\n2 10\n3 20\n4 30\n", ""), "15: the file has no DEMAND_SECTION"},
      {changed("DEPOT_SECTION\n1\n-1\n", ""), "17: the file has no DEPOT_SECTION"},
      {changed("1\n-1\n", "1\n2\n-1\n"), "19: a second depot, node 2: several depots are not supported"},
      {changed("1\n-1\n", "1\n"), "19: DEPOT_SECTION ends without -1"},
      {changed("1\n-1\n", "-1\n"), "18: DEPOT_SECTION names no depot"},
      {changed("1\n-1\n", "1\n-1 2\n"), "19: unexpected '2' after -1"},
      {changed("1\n-1\n", "7\n-1\n"), "18: node 7 is outside 1..4"},
      {changed("1\n-1\n", "0.5 0.5\n-1\n"), "18: expected the number of a node, found '0.5'"},
      {changed("EOF\n", "EOF\nmore\n"), "21: unexpected 'more' after EOF"},
      {changed("EOF\n", "TIME_WINDOW_SECTION\n"), "20: section TIME_WINDOW_SECTION is not supported"},
      {changed("EOF\n", "DEPOT_SECTION\n1\n-1\n"), "20: DEPOT_SECTION twice"},
      {changed("EOF\n", "DISPLAY_DATA_SECTION\n1 0 0\n"), "20: a second section with coordinates"},
      {changed("EOF\n", "SERVICE_TIME_SECTION\n1 0\n2 -1\n"), "22: the service time -1 is negative"},
      {changed("EOF\n", "SERVICE_TIME_SECTION\n1 3\n2 1\n3 1\n4 1\n"), "21: the depot has the service time 3; it must be 0"},
      {changed("EOF\n", "SERVICE_TIME_SECTION\n1 0\n2 1\n3 1\n4 1\nSERVICE_TIME : 1\n"), "20: SERVICE_TIME is given already, in line 25"},
      {changed("EOF\n", "EDGE_WEIGHT_SECTION\n"), "20: EDGE_WEIGHT_SECTION needs EDGE_WEIGHT_TYPE EXPLICIT before it"},
      {with(explicit3, "LOWER_ROW", "SPARSE"),
       "4: EDGE_WEIGHT_FORMAT SPARSE is not supported; supported: FUNCTION, FULL_MATRIX, LOWER_ROW, LOWER_DIAG_ROW, UPPER_ROW, "
       "UPPER_DIAG_ROW, LOWER_COL, LOWER_DIAG_COL, UPPER_COL, UPPER_DIAG_COL"},
      {with(explicit3, "EDGE_WEIGHT_FORMAT: LOWER_ROW\n", ""), "5: EDGE_WEIGHT_SECTION needs its EDGE_WEIGHT_FORMAT before it"},
      {with(explicit3, "7 2 1", "7 2"), "8: EDGE_WEIGHT_SECTION ends before row 3, column 2 of LOWER_ROW"},
      {with(explicit3, "7 2 1", "7 2 1 4"), "7: unexpected '4' after the last distance of LOWER_ROW"},
      {with(explicit3, "7 2 1", "7 -2 1"), "7: the distance -2 is negative"},
      {with(explicit3, "7 2 1", "7 2 1e10"), "6: distances or service times are so large that costs could leave 31 bits"},
      {with(explicit3, "EDGE_WEIGHT_SECTION\n7 2 1\n", ""), "12: the file has no EDGE_WEIGHT_SECTION"},
      {matrix("FULL_MATRIX", "0 7 2\n7 0 1\n2 3 0\n"), "6: the distance from node 2 to node 3 is 1, back it is 3: it must be symmetric"}};
  EXPECT_GE(files.size(), 30u);
  for (const Hostile& file : files) EXPECT_EQ(rejection(file.text), file.what);
}

TEST(Cvrplib, AMatrixIsRefusedByTheNodesOfTheFileWhicheverIsTheDepot) {
  const std::string text = matrix("FULL_MATRIX", "0 7 2\n7 0 1\n2 3 0\n");
  for (const char* depot : {"1", "2", "3"}) {
    const std::string elsewhere =
        with(with(text, "DEPOT_SECTION\n1\n", "DEPOT_SECTION\n" + std::string(depot) + "\n"), "1 0\n2 4\n3 5\n", "1 0\n2 0\n3 0\n");
    EXPECT_EQ(rejection(elsewhere), "6: the distance from node 2 to node 3 is 1, back it is 3: it must be symmetric") << depot;
  }
}

TEST(Cvrplib, WhoCannotBeServedIsNoErrorOfTheFile) {
  EXPECT_EQ(vrp::unservable(parse(with(plain, "CAPACITY : 50", "CAPACITY : 25"))),
            "customer 3 cannot be served: it demands 30, the capacity is 25");
}

TEST(Cvrplib, FilesThatAreNotThere) {
  EXPECT_EQ(complaint<InputError>([] { (void)read_cvrplib(std::filesystem::path("/nowhere/x.vrp"), Rounding::none); }),
            "/nowhere/x.vrp: cannot be read: No such file or directory");
  EXPECT_EQ(complaint<InputError>([] { (void)read_cvrplib_solution(std::filesystem::path("/"), parse(plain)); }),
            "/: cannot be read: Is a directory");
}

TEST(Cvrplib, TextsAreReadBack) {
  const std::vector<std::string> texts{plain,
                                       with(plain, "EUC_2D", "CEIL_2D"),
                                       with(plain, "CAPACITY", "DISTANCE : 20.5\nVEHICLES : 2\nSERVICE_TIME : 1.5\nCAPACITY"),
                                       with(plain, "EOF\n", "SERVICE_TIME_SECTION\n1 0\n2 1\n3 2.5\n4 1\n"),
                                       matrix("LOWER_ROW", "7 2.5 1\n"),
                                       matrix("LOWER_ROW", "7 2 1\n") + "DISPLAY_DATA_SECTION\n1 0 0\n2 1 1.5\n3 0 1\n"};
  for (const std::string& text : texts) {
    const vrp::Vrp first = parse(text), again = parse(cvrplib_text(first));
    EXPECT_EQ(again.hash(), first.hash()) << text;
    EXPECT_EQ(cvrplib_text(again), cvrplib_text(first));
    EXPECT_EQ(vrp_content(again), vrp_content(first));
  }
}

TEST(Cvrplib, ContentIsAllButNameAndRounding) {
  EXPECT_EQ(vrp_content(parse(plain)), "plane 3 50 - -\n0 0 0 0\n10 0 3 0\n20 0 3 4\n30 0 0 4.5\n");
  EXPECT_EQ(vrp_content(parse(plain, Rounding::nearest)), vrp_content(parse(plain)));
  EXPECT_EQ(vrp_content(parse(with(plain, "1 0 0", "1 -0.0 0"))), vrp_content(parse(plain)));
  EXPECT_EQ(vrp_content(parse(with(plain, "EUC_2D", "CEIL_2D\nVEHICLES : 3\nDISTANCE : 2.5\nSERVICE_TIME : 1"))),
            "ceiling 3 50 2.5 3\n0 0 0 0\n10 1 3 0\n20 1 3 4\n30 1 0 4.5\n");
  EXPECT_EQ(vrp_content(parse(matrix("LOWER_ROW", "7 2 1\n"))), "matrix 2 9 - -\n0 0\n4 0 7\n5 0 2 1\n");
}

CvrplibSolution parse_solution(const std::string& text) {
  std::istringstream in(text);
  return read_cvrplib_solution(in, "v.sol", parse(plain));
}

TEST(CvrplibSolutions, AreReadHoweverTheyAreWritten) {
  for (const std::string text : {"Route #1: 2 1\nRoute #2: 3\nCost 24.5\n", "route #2 : 3 \r\nROUTE #1: 1\t2\ncost: 24.5",
                                 "Cost : 24.5\n\nRoute 7:\nRoute 1: 3\nRoute 9: 2 1\n"}) {
    const CvrplibSolution solution = parse_solution(text);
    EXPECT_EQ(solution.routes, (Solution{1, 2, 0, 3})) << text;
    EXPECT_EQ(solution.cost, 24.5) << text;
  }
  EXPECT_FALSE(parse_solution("Route #1: 1 2 3\n").cost);
}

TEST(CvrplibSolutions, SayWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "v.sol:1: customer 1 is in no route"},
      {"Route #1: 1 2\nCost 3\n", "v.sol:2: customer 3 is in no route"},
      {"Route #1: 1 2\nRoute #2: 3 1\n", "v.sol:2: customer 1 twice; it was in line 1"},
      {"Route #1: 1 2 2 3\n", "v.sol:1: customer 2 twice; it was in line 1"},
      {"Route #1: 0 1 2 3 0\n", "v.sol:1: customer 0 is outside 1..3"},
      {"Route #1: 1 2 4\n", "v.sol:1: customer 4 is outside 1..3"},
      {"Route #1: 1 2 99999999999999999999\n", "v.sol:1: expected the number of a customer, found '99999999999999999999'"},
      {"Route #1: 1, 2, 3\n", "v.sol:1: expected the number of a customer, found '1,'"},
      {"Route #1 1 2 3\n", "v.sol:1: expected 'Route #k: customers' or 'Cost value', found 'Route #1 1 2 3'"},
      {"1 2 3\n", "v.sol:1: expected 'Route #k: customers' or 'Cost value', found '1 2 3'"},
      {"Route #1: 1 2 3\nCost\n", "v.sol:2: expected the cost, found ''"},
      {"Route #1: 1 2 3\nCost nan\n", "v.sol:2: expected the cost, found 'nan'"},
      {"Route #1: 1 2 3\nCost 3\nCost 4\n", "v.sol:3: a second cost"}};
  for (const auto& [text, what] : files) EXPECT_EQ(complaint<InputError>([&text = text] { (void)parse_solution(text); }), what);
}

TEST(CvrplibSolutions, TextsAreReadBack) {
  const vrp::Vrp vrp = parse(plain);
  const Solution solution{1, 2, 0, 3};
  EXPECT_EQ(cvrplib_solution_text(vrp, solution), "Route #1: 1 2\nRoute #2: 3\nCost 21.00000\n");
  EXPECT_EQ(cvrplib_solution_text(parse(plain, Rounding::nearest), solution), "Route #1: 1 2\nRoute #2: 3\nCost 22\n");
  EXPECT_EQ(parse_solution(cvrplib_solution_text(vrp, solution)).routes, solution);
}

}  // namespace
}  // namespace vicinity
