#include "data/formats/tsplib.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/util/error.hpp"
#include "core/util/permutation.hpp"
#include "data/search_path.hpp"
#include "data/sha256.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

tsp::Tsp parse(const std::string& text) {
  std::istringstream in(text);
  return read_tsplib(in, "folder/t.tsp");
}

std::string rejection(const std::string& text) {
  return complaint<InputError>([&] { (void)parse(text); });
}

std::string tour_rejection(const std::string& text, const tsp::Tsp& tsp) {
  return complaint<InputError>([&] {
    std::istringstream in(text);
    (void)read_tsplib_tour(in, "t.tour", tsp);
  });
}

const std::string head = "NAME: t\nTYPE : TSP\nCOMMENT : a\nCOMMENT : b: c\nDIMENSION: 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n";
const std::string nodes = "1 0 0\n2 3 0\n3 0 4\n";

TEST(Tsplib, ReadsNodesInAnyOrderAndHoweverTheyAreWritten) {
  const tsp::Tsp tsp = parse(head + "\n 3 0.0 4.00000e+00\r\n1 +0 -0.5\n2\t3 1e0\nEOF\n\n");
  EXPECT_EQ(tsp.name(), "t");
  ASSERT_EQ(tsp.size(), 3);
  EXPECT_EQ(std::vector<double>(tsp.view().x, tsp.view().x + 3), (std::vector<double>{0, 3, 0}));
  EXPECT_EQ(std::vector<double>(tsp.view().y, tsp.view().y + 3), (std::vector<double>{-0.5, 1, 4}));
}

TEST(Tsplib, TheEndOfTheFileMayEndTheNodes) { EXPECT_EQ(length(parse(head + nodes), tsp::Tour{0, 1, 2}), 3 + 5 + 4); }

TEST(Tsplib, RejectsOtherKindsByName) {
  const auto with = [](const std::string& line) { return "TYPE: TSP\nDIMENSION: 3\n" + line + "\nNODE_COORD_SECTION\n" + nodes; };
  EXPECT_EQ(rejection(with("EDGE_WEIGHT_TYPE: MAN_2D")),
            "folder/t.tsp:3: EDGE_WEIGHT_TYPE MAN_2D is not supported; only EUC_2D, CEIL_2D, ATT, GEO, EXPLICIT are");
  EXPECT_EQ(rejection("TYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n" + nodes),
            "folder/t.tsp:1: TYPE ATSP is not supported; only TSP is");
  EXPECT_EQ(rejection(with("EDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_TYPE: THREED_COORDS")),
            "folder/t.tsp:4: NODE_COORD_TYPE THREED_COORDS is not supported; only TWOD_COORDS, NO_COORDS are");
  EXPECT_EQ(rejection("TYPE: CVRP\nDIMENSION: 3\nCAPACITY: 9\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n" + nodes),
            "folder/t.tsp:1: TYPE CVRP is not supported; only TSP is");
  EXPECT_EQ(rejection("TYPE: TSP\nEDGE_WEIGHT_TYPE: EUC_2D\nFIXED_EDGES_SECTION\n"),
            "folder/t.tsp:3: section FIXED_EDGES_SECTION is not supported; expected NODE_COORD_SECTION or EDGE_WEIGHT_SECTION");
  EXPECT_EQ(rejection("TYPE: TSP (M.~Hofmeister)\nEDGE_WEIGHT_TYPE: EUC_2D\nDIMENSION: 3\nNODE_COORD_SECTION\n" + nodes), "");
}

TEST(Tsplib, SaysWhatIsWrongInTheHeader) {
  EXPECT_EQ(rejection(""), "folder/t.tsp:1: the file ends before NODE_COORD_SECTION or EDGE_WEIGHT_SECTION");
  EXPECT_EQ(rejection("NAME t\n"), "folder/t.tsp:1: unknown keyword 'NAME t'");
  EXPECT_EQ(rejection("NAME\n"), "folder/t.tsp:1: expected 'NAME : value'");
  EXPECT_EQ(rejection("SIZE : 3\n"), "folder/t.tsp:1: unknown keyword 'SIZE'");
  EXPECT_EQ(rejection("TYPE: TSP\nTYPE: TSP\n"), "folder/t.tsp:2: TYPE twice");
  EXPECT_EQ(rejection("TYPE: TSP\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"),
            "folder/t.tsp:3: DIMENSION is missing before this section");
  EXPECT_EQ(rejection("TYPE: TSP\nDIMENSION: 3\nNODE_COORD_SECTION\n"), "folder/t.tsp:3: EDGE_WEIGHT_TYPE is missing before this section");
  EXPECT_EQ(rejection("EDGE_WEIGHT_TYPE: EUC_2D\nDIMENSION: 3\nNODE_COORD_SECTION\n"),
            "folder/t.tsp:3: TYPE is missing before this section");
  for (const char* size : {"2", "1000001", "3.5", "x", ""})
    EXPECT_EQ(rejection("TYPE: TSP\nEDGE_WEIGHT_TYPE: EUC_2D\nDIMENSION: " + std::string(size) + "\nNODE_COORD_SECTION\n" + nodes),
              "folder/t.tsp:3: DIMENSION '" + std::string(size) + "' is not a whole number from 3 to 1000000");
}

TEST(Tsplib, SaysWhatIsWrongWithANode) {
  EXPECT_EQ(rejection(head + "1 0 0\n2 0 0\n2 1 1\n"), "folder/t.tsp:10: node 2 twice; it was in line 9");
  EXPECT_EQ(rejection(head + "1 0 0\n3 0 0\nEOF\n"), "folder/t.tsp:10: the section ends after 2 of 3 nodes; node 2 is missing");
  EXPECT_EQ(rejection(head + "1 0 0\n"), "folder/t.tsp:8: the section ends after 1 of 3 nodes; node 2 is missing");
  EXPECT_EQ(rejection(head + nodes + "4 1 1\n"), "folder/t.tsp:11: unexpected '4 1 1' after the 3 nodes of DIMENSION");
  EXPECT_EQ(rejection(head + nodes + "EOF\nmore\n"), "folder/t.tsp:12: unexpected 'more' after EOF");
  EXPECT_EQ(rejection(head + "0 0 0\n"), "folder/t.tsp:8: node 0 is outside 1..3");
  EXPECT_EQ(rejection(head + "4 0 0\n"), "folder/t.tsp:8: node 4 is outside 1..3");
  EXPECT_EQ(rejection(head + "1 0\n"), "folder/t.tsp:8: expected 'node x y', found '1 0'");
  EXPECT_EQ(rejection(head + "1 0 0 0\n"), "folder/t.tsp:8: expected 'node x y', found '1 0 0 0'");
  EXPECT_EQ(rejection(head + "a 0 0\n"), "folder/t.tsp:8: expected the number of a node, found 'a'");
  EXPECT_EQ(rejection(head + "1 0 0,5\n"), "folder/t.tsp:8: expected a coordinate, found '0,5'");
  EXPECT_EQ(rejection(head + "1 +-10 0\n"), "folder/t.tsp:8: expected a coordinate, found '+-10'");
  EXPECT_EQ(rejection(head + "1 1e999 0\n"), "folder/t.tsp:8: expected a coordinate, found '1e999'");
  EXPECT_EQ(rejection(head + "1 nan 0\n"), "folder/t.tsp:8: a coordinate is not a finite number");
  EXPECT_EQ(rejection(head + "1 0 0\n2 1e9 0\n3 0 0\n"), "folder/t.tsp:7: cities are so far apart that distances leave 28 bits");
}

const std::string explicit_head = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: ";

TEST(Tsplib, ReadsMatrices) {
  for (const char* text : {"FULL_MATRIX\nEDGE_WEIGHT_SECTION\n0 5 7 5\n0 9 7\n9 0\nEOF\n", "UPPER_ROW\nEDGE_WEIGHT_SECTION\n5 7\n9\n",
                           "LOWER_ROW\nEDGE_WEIGHT_SECTION\n5\n7 9\nDISPLAY_DATA_SECTION\n1 0 0\n2 3 3\n3 4 4\nEOF\n",
                           "UPPER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n0 5 7 0 9 0\nEOF\n", "LOWER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n0 5 0 7 9 0\n",
                           "LOWER_COL\nEDGE_WEIGHT_SECTION\n5 7 9\n", "UPPER_DIAG_COL\nEDGE_WEIGHT_SECTION\n0 5 0 7 9 0\n"}) {
    const tsp::Tsp tsp = parse(explicit_head + text);
    EXPECT_EQ(tsp.metric(), tsp::Metric::matrix);
    EXPECT_EQ(distance_of(tsp, 0, 1), 5) << text;
    EXPECT_EQ(distance_of(tsp, 2, 0), 7) << text;
    EXPECT_EQ(distance_of(tsp, 1, 2), 9) << text;
    EXPECT_EQ(parse(tsplib_text(tsp)).hash(), tsp.hash());
  }
}

TEST(Tsplib, TheDiagonalOfAMatrixMeansNothing) {
  const tsp::Tsp zeros = parse(explicit_head + "FULL_MATRIX\nEDGE_WEIGHT_SECTION\n0 5 7\n5 0 9\n7 9 0\n");
  for (const char* text : {"FULL_MATRIX\nEDGE_WEIGHT_SECTION\n-1 5 7\n5 999999999 9\n7 9 0.5\n",
                           "LOWER_DIAG_ROW\nEDGE_WEIGHT_SECTION\n-1 5 inf 7 9 0.5\nDISPLAY_DATA_SECTION :\n1 0 0\nEOF\n"})
    EXPECT_EQ(parse(explicit_head + text).hash(), zeros.hash()) << text;
}

TEST(Tsplib, AByteOrderMarkIsNoText) {
  EXPECT_EQ(parse("\xef\xbb\xbf" + head + nodes).hash(), parse(head + nodes).hash());
  EXPECT_EQ(rejection(head + "\xef\xbb\xbf" + nodes), "folder/t.tsp:8: expected the number of a node, found '???1'");
}

TEST(Tsplib, SaysWhatIsWrongWithAMatrix) {
  const std::string full = "FULL_MATRIX\nEDGE_WEIGHT_SECTION\n";
  EXPECT_EQ(rejection(explicit_head + full + "0 5 7\n5 0 9\n7 8 0\n"),
            "folder/t.tsp:5: the distances of nodes 2 and 3 are 9 and 8: the matrix is not symmetric");
  EXPECT_EQ(rejection(explicit_head + full + "0 5 7\n5 0 9\nEOF\n"),
            "folder/t.tsp:8: EDGE_WEIGHT_SECTION ends before row 3, column 1 of FULL_MATRIX");
  EXPECT_EQ(rejection(explicit_head + full + "0 5 7\n5 0 9\n7 9 0 1\n"),
            "folder/t.tsp:8: unexpected '1' after the last distance of FULL_MATRIX");
  EXPECT_EQ(rejection(explicit_head + full + "0 -5 7\n"), "folder/t.tsp:6: the distance -5 is not a whole number from 0 to 2^28 - 1");
  EXPECT_EQ(rejection(explicit_head + full + "0 0.5 7\n"), "folder/t.tsp:6: the distance 0.5 is not a whole number from 0 to 2^28 - 1");
  EXPECT_EQ(rejection(explicit_head + full + "0 5 7\n5 0 9\n7 9 0\nDISPLAY: DATA_SECTION\n"),
            "folder/t.tsp:9: unexpected 'DISPLAY: DATA_SECTION' after the distances");
  EXPECT_EQ(rejection(explicit_head + full + "0 5 7\n5 0 9\n7 9 0\nmore\n"), "folder/t.tsp:9: unexpected 'more' after the distances");
  EXPECT_EQ(rejection(explicit_head + "FUNCTION\nEDGE_WEIGHT_SECTION\n"),
            "folder/t.tsp:5: EDGE_WEIGHT_SECTION needs its EDGE_WEIGHT_FORMAT before it");
  EXPECT_EQ(rejection(explicit_head + "UPPER_ROW\nNODE_COORD_SECTION\n"),
            "folder/t.tsp:5: EDGE_WEIGHT_TYPE EXPLICIT needs EDGE_WEIGHT_SECTION");
  EXPECT_EQ(rejection("TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: ATT\nEDGE_WEIGHT_SECTION\n"),
            "folder/t.tsp:4: EDGE_WEIGHT_SECTION needs EDGE_WEIGHT_TYPE EXPLICIT");
}

TEST(Tsplib, FilesThatAreNotThere) {
  EXPECT_EQ(complaint<InputError>([] { (void)read_tsplib(std::filesystem::path("/nowhere/x.tsp")); }),
            "/nowhere/x.tsp: cannot be read: No such file or directory");
}

TEST(Tsplib, TextsAreReadBack) {
  const tsp::Tsp tsp = tsp::uniform("u", 20, 1000, 3);
  const tsp::Tsp again = parse(tsplib_text(tsp));
  EXPECT_EQ(again.hash(), tsp.hash());
  EXPECT_EQ(tsp_content(again), tsp_content(tsp));
  const tsp::Tour tour = shuffled(20, 5, 0);
  std::istringstream in(tsplib_tour_text(tsp, tour));
  EXPECT_EQ(read_tsplib_tour(in, "u.tour", tsp), tour);
}

TEST(Tsplib, SaysWhatIsWrongWithATour) {
  const tsp::Tsp tsp = parse(head + nodes);
  const std::string start = "TYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n";
  EXPECT_EQ(tour_rejection(start + "1 3\n2\n-1\nEOF\n", tsp), "");
  EXPECT_EQ(tour_rejection(start + "1\n3\n", tsp), "t.tour:5: the tour ends after 2 of 3 nodes, without -1");
  EXPECT_EQ(tour_rejection(start + "1\n3\n-1\n", tsp), "t.tour:6: the tour has 2 of 3 nodes; node 2 is missing");
  EXPECT_EQ(tour_rejection(start + "1\n3\n3\n", tsp), "t.tour:6: node 3 twice");
  EXPECT_EQ(tour_rejection(start + "1\n4\n", tsp), "t.tour:5: node 4 is outside 1..3");
  EXPECT_EQ(tour_rejection(start + "1 2 3 -1 5\n", tsp), "t.tour:4: unexpected '5' after -1");
  EXPECT_EQ(tour_rejection("TYPE : TSP\nDIMENSION : 3\nTOUR_SECTION\n", tsp), "t.tour:1: TYPE TSP is not supported; only TOUR is");
  EXPECT_EQ(tour_rejection("TYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n", tsp), "t.tour:2: a tour of 4 nodes, but t has 3");
}

TEST(Tsplib, ATourNeedsNeitherDimensionNorMinusOne) {
  const tsp::Tsp tsp = parse(head + nodes);
  for (const char* text : {"TYPE : TOUR\nTOUR_SECTION\n1\n3\n2\n-1\nEOF\n", "NAME : t.opt.tour\nTYPE : TOUR\nTOUR_SECTION\n1 3\n2\nEOF\n",
                           "TYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1 3 2\nEOF", "TYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1 3 2"}) {
    std::istringstream in(text);
    EXPECT_EQ(read_tsplib_tour(in, "t.tour", tsp), (tsp::Tour{0, 2, 1})) << text;
  }
  const std::string start = "TYPE : TOUR\nTOUR_SECTION\n";
  EXPECT_EQ(tour_rejection(start + "1\n3\nEOF\n", tsp), "t.tour:5: the tour ends after 2 of 3 nodes, without -1");
  EXPECT_EQ(tour_rejection(start + "1\n3\n-1\nEOF\n", tsp), "t.tour:5: the tour has 2 of 3 nodes; node 2 is missing");
  EXPECT_EQ(tour_rejection(start + "1 2 3 4\nEOF\n", tsp), "t.tour:3: node 4 is outside 1..3");
  EXPECT_EQ(tour_rejection(start + "1 2 3\nmore\n", tsp), "t.tour:4: expected the number of a node, found 'more'");
}

TEST(Tsplib, ATourMayNameAnotherInstance) {
  const tsp::Tsp tsp = parse(head + nodes);
  const TemporaryFolder folder;
  const auto said = [&](const std::string& name) {
    const auto file = folder.write("a.tour", "COMMENT : for u\n" + name + "TYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1 3 2\n-1\nEOF\n");
    std::string what = tsplib_tour_of_another(file, tsp);
    return what.empty() ? what : what.substr(file.string().size());
  };
  for (const char* own : {"", "NAME :\n", "NAME : t\n", "NAME : T.opt.tour\n", "NAME: t.426.tour\n", "NAME : ./tours/t.tour\n"})
    EXPECT_EQ(said(own), "") << own;
  EXPECT_EQ(said("NAME : u\n"), ":2: a tour of u, not of t");
  EXPECT_EQ(said("NAME : t2.opt.tour\n"), ":2: a tour of t2.opt.tour, not of t");
}

TEST(Tsps, StandInsAreGenerated) {
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.family != "tsp-uniform" || entry.size.at("cities") > 2000) continue;
    const auto tsp = load_tsp(entry);
    EXPECT_EQ(tsp->size(), entry.size.at("cities"));
    EXPECT_EQ(sha256(tsplib_text(*tsp)), entry.sha256) << entry.name;
    EXPECT_TRUE(tsp->integral());
    EXPECT_FALSE(best_known_of(*tsp));
  }
}

TEST(Tsps, ARunDownloadsNothing) {
  const ScopedEnvironment nowhere("VICINITY_INSTANCES", "");
  if (std::filesystem::exists(data_folder() / "instances" / "tsplib")) GTEST_SKIP() << "TSPLIB's files are here";
  const std::string what = complaint<MissingInput>([] { (void)load_tsp("rl5915"); });
  EXPECT_NE(what.find("instance file tsplib/rl5915.tsp not found"), std::string::npos) << what;
  EXPECT_NE(what.find("make fetch"), std::string::npos) << what;
}

TEST(Tsps, OtherFormatsAreRefused) {
  EXPECT_EQ(complaint<InputError>([] { (void)load_tsp("tai30a"); }), "instance 'tai30a' is no TSP: its format is qaplib");
}

/// Where TSPLIB's files are at hand: content, and the optimal tours beside them.
TEST(Tsps, RealFilesHaveTheContentOfTheCatalogue) {
  int seen = 0;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.family != "tsplib") continue;
    std::filesystem::path file;
    try {
      file = instance_file(entry);
    } catch (const MissingInput&) {
      continue;
    }
    ++seen;
    const auto tsp = load_tsp(entry);
    EXPECT_EQ(tsp->size(), entry.size.at("cities")) << entry.name;
    EXPECT_EQ(sha256(tsp_content(*tsp)), entry.content_sha256) << entry.name;
    EXPECT_EQ(best_known_of(*tsp), best_value(entry)) << entry.name;
    const auto tour = file.parent_path() / (entry.name + ".opt.tour");
    if (!std::filesystem::exists(tour)) continue;
    EXPECT_EQ(tsp::length(*tsp, read_tsplib_tour(tour, *tsp)), best_value(entry).value()) << entry.name;
  }
  if (seen == 0) GTEST_SKIP() << "no file of TSPLIB is here";
}

}  // namespace
}  // namespace vicinity
