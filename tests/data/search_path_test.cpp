#include "data/search_path.hpp"

#include <gtest/gtest.h>

#include "core/util/error.hpp"
#include "data/catalogue.hpp"
#include "data/formats/dimacs.hpp"
#include "data/graphs.hpp"
#include "tests/support/complaint.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

TEST(SearchPath, ExactPlaceThenAnywhereBelowThenTheNextFolder) {
  const TemporaryFolder first, second;
  const auto deep = first.write("x/y/a.col", "1");
  const auto exact = second.write("coloring/b.col", "2");
  const std::vector<std::filesystem::path> folders{first.path(), "/nonexistent", second.path()};
  EXPECT_EQ(find_instance_file("coloring/a.col", "", folders), deep);
  EXPECT_EQ(find_instance_file("coloring/b.col", "", folders), exact);
  const auto better = first.write("coloring/a.col", "3");
  EXPECT_EQ(find_instance_file("coloring/a.col", "", folders), better);
}

TEST(SearchPath, ASuffixMayBeInCapitals) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> folders{folder.path()};
  for (const char* name : {"nug30.dat", "eil51.tsp", "CMT1.vrp"}) {
    const std::filesystem::path file(name);
    std::string capitals = file.extension().string();
    for (char& c : capitals) c = static_cast<char>(std::toupper(c));
    const auto alike = folder.write("b/" + file.stem().string() + capitals, "1");
    EXPECT_EQ(find_instance_file("family" / file, "", folders), alike);
    EXPECT_TRUE(has_suffix(alike, file.extension().string()));
    const auto same = folder.write("c/" + file.string(), "2");
    EXPECT_EQ(find_instance_file("family" / file, "", folders), same);
  }
  (void)folder.write("NUG12.dat", "3");
  (void)folder.write("nug12.sln", "4");
  EXPECT_THROW((void)find_instance_file("qaplib/nug12.dat", "", folders), MissingInput);
}

TEST(SearchPath, MissingFileSaysHowToGetItInOneLine) {
  const std::string message =
      complaint<MissingInput>([] { (void)find_instance_file("coloring/a.col", "get it from the collection", {"/nonexistent"}); });
  EXPECT_EQ(message,
            "instance file coloring/a.col not found in /nonexistent; get it from the collection and put it into "
            "data/instances/coloring, or set VICINITY_INSTANCES to the folder that holds it");
}

TEST(SearchPath, EnvironmentComesBeforeOwnFolder) {
  const ScopedEnvironment set("VICINITY_INSTANCES", "/one::/two");
  const auto folders = instance_folders();
  ASSERT_EQ(folders.size(), 4u);
  EXPECT_EQ(folders[0], "/one");
  EXPECT_EQ(folders[1], "/two");
  EXPECT_EQ(folders[2], data_folder() / "instances");
  EXPECT_EQ(folders[3], data_folder() / "models");
}

TEST(SearchPath, DataFolderWithoutCatalogueIsBadInput) {
  const ScopedEnvironment set("VICINITY_DATA", "/nonexistent");
  EXPECT_THROW((void)data_folder(), InputError);
}

TEST(SearchPath, RealFileEqualsTheGeneratedGraph) {
  const CatalogueEntry& entry = catalogue().at("1-Insertions_4");
  std::filesystem::path file;
  if (!complaint<MissingInput>([&] { file = instance_file(entry); }).empty()) {
    GTEST_SKIP() << "1-Insertions_4.col is not on the search path; set VICINITY_INSTANCES";
  }
  EXPECT_EQ(read_dimacs(file), load_graph(entry));
}

}  // namespace
}  // namespace vicinity
