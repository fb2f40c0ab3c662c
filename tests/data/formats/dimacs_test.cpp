#include "data/formats/dimacs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "core/util/error.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

Graph parse(const std::string& text) {
  std::istringstream in(text);
  return read_dimacs(in, "g.col");
}

std::string rejection(const std::string& text) {
  return complaint<InputError>([&] { (void)parse(text); });
}

TEST(Dimacs, ReadsCommentsBothDirectionsAndBlankLines) {
  EXPECT_EQ(parse("c hello\n\np col 3 3\ne 3 1\ne 1 3\ne 2 3\n"), (Graph{3, {{0, 2}, {1, 2}}}));
  EXPECT_EQ(parse("p edge 0 0\n"), Graph{});
}

TEST(Dimacs, TextOfARandomGraphReadsBackEqual) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    Graph graph{1 + static_cast<int>(random() % 20), {}};
    for (int u = 0; u < graph.vertices; ++u) {
      for (int v = u + 1; v < graph.vertices; ++v) {
        if (random() % 3 == 0) graph.edges.emplace_back(u, v);
      }
    }
    EXPECT_EQ(parse(dimacs_text(graph, {"a comment"})), graph);
  }
}

TEST(Dimacs, BadFilesAreRejectedWithFileAndLine) {
  EXPECT_EQ(rejection("p edge 2 1\nx 1 2\n"), "g.col:2: expected a line that starts with c, p or e, found 'x'");
  EXPECT_EQ(rejection("p edge two 1\n"), "g.col:1: expected 'p edge VERTICES EDGES'");
  EXPECT_EQ(rejection("p graph 2 1\n"), "g.col:1: expected 'p edge VERTICES EDGES'");
  EXPECT_EQ(rejection("p edge 2 1\np edge 2 1\n"), "g.col:2: a second 'p' line");
  EXPECT_EQ(rejection("p edge -2 1\n"), "g.col:1: number of vertices or edges out of range");
  EXPECT_EQ(rejection("e 1 2\n"), "g.col:1: an edge before the 'p' line");
  EXPECT_EQ(rejection("p edge 2 1\ne 1\n"), "g.col:2: expected 'e VERTEX VERTEX'");
  EXPECT_EQ(rejection("p edge 2 1\ne 1 2 9\n"), "g.col:2: unexpected '9' at the end of the line");
  EXPECT_EQ(rejection("p edge 2 1\ne 0 2\n"), "g.col:2: vertex outside 1..2");
  EXPECT_EQ(rejection("p edge 2 1\ne 1 3\n"), "g.col:2: vertex outside 1..2");
  EXPECT_EQ(rejection("p edge 2 1\ne 2 2\n"), "g.col:2: edge from vertex 2 to itself");
  EXPECT_EQ(rejection("p edge 2 1\ne 1 2\ne 1 2\n"), "g.col:3: more than the 1 edges announced");
  EXPECT_EQ(rejection("p edge 3 2\ne 1 2\n"), "g.col:2: 2 edges announced, 1 found");
  EXPECT_EQ(rejection(""), "g.col:0: no 'p edge VERTICES EDGES' line");
}

TEST(Dimacs, MissingFileAndFolderAreBadInput) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)read_dimacs(folder.path() / "none.col"), InputError);
  EXPECT_THROW((void)read_dimacs(folder.path()), InputError);
  EXPECT_EQ(read_dimacs(folder.write("g.col", "p edge 2 1\ne 1 2\n")).edges.size(), 1u);
}

}  // namespace
}  // namespace vicinity
