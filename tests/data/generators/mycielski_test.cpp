#include "data/generators/mycielski.hpp"

#include <gtest/gtest.h>

#include "core/util/error.hpp"
#include "data/formats/dimacs.hpp"
#include "data/sha256.hpp"

namespace vicinity {
namespace {

TEST(Mycielski, StartsFromOneEdgeAndAFiveCycle) {
  EXPECT_EQ(generalised_mycielski(0, 1), (Graph{2, {{0, 1}}}));
  EXPECT_EQ(generalised_mycielski(0, 2), (Graph{5, {{0, 1}, {0, 3}, {1, 2}, {2, 4}, {3, 4}}}));
}

TEST(Mycielski, OrdinaryMycielskianGivesGroetzschGraph) {
  const Graph graph = generalised_mycielski(0, 3);
  EXPECT_EQ(graph.vertices, 11);
  EXPECT_EQ(graph.edges.size(), 20u);
}

TEST(Mycielski, OneInsertionsFourIsTheCollectionsFileByteForByte) {
  const Graph graph = generalised_mycielski(1, 4);
  EXPECT_EQ(graph.vertices, 67);
  EXPECT_EQ(graph.edges.size(), 232u);
  const std::string file = dimacs_text(
      graph, {"FILE: 1-Insertions_4.col", "SOURCE: M. Caramia (caramia@iac.rm.cnr.it) and P. Dell'Olmo (paolo.dellolmo@uniroma1.it)",
              "DESCRIPTION: 1-Insertions graph of order 4%"});
  EXPECT_EQ(sha256(file), "a797a1150c31cbd661a52c22a2ef6b7a34fb6d891ed4b88a2a42ec816cf1dc83");
}

TEST(Mycielski, RefusesWhatIsNoGraph) {
  EXPECT_THROW((void)generalised_mycielski(-1, 3), InputError);
  EXPECT_THROW((void)generalised_mycielski(1, 0), InputError);
  EXPECT_THROW((void)generalised_mycielski(1, 99), InputError);
}

}  // namespace
}  // namespace vicinity
