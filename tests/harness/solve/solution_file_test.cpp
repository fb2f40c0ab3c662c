#include "harness/solve/solution_file.hpp"

#include <gtest/gtest.h>

#include "core/util/error.hpp"
#include "harness/record/recorder.hpp"
#include "tests/harness/fake_search.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

class SolutionFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] SolutionFile file(const fs::path& path, bool force = false) const { return {path, instance_, force, fake::number_in}; }

  TemporaryFolder folder_;
  fs::path instance_ = folder_.write("deer.txt", "100\n");
};

TEST_F(SolutionFileTest, IsWrittenWhereNothingIs) {
  const auto target = file(folder_ / "new");
  EXPECT_FALSE(fs::exists(folder_ / "new"));  // the trial leaves nothing
  EXPECT_FALSE(target.better_than(50).has_value());
  target.write("50\n");
  EXPECT_EQ(contents(folder_ / "new"), "50\n");
}

TEST_F(SolutionFileTest, KeepsWhatIsNotWorse) {
  const fs::path path = folder_.write("old", "60\n");
  EXPECT_EQ(file(path).better_than(61), 60);
  EXPECT_EQ(file(path).better_than(60), 60);
  EXPECT_FALSE(file(path).better_than(59).has_value());
  EXPECT_FALSE(file(path, true).better_than(61).has_value());
}

TEST_F(SolutionFileTest, LooksAgainInTheEnd) {
  const fs::path path = folder_ / "shared";
  const auto target = file(path);
  folder_.write("shared", "10\n");  // another search was faster
  EXPECT_EQ(target.better_than(50), 10);
  folder_.write("shared", "notes\n");
  EXPECT_THROW(static_cast<void>(target.better_than(50)), InputError);
}

TEST_F(SolutionFileTest, ForeignFilesNeedForce) {
  const fs::path path = folder_.write("thesis.tex", "text\n");
  EXPECT_THROW(file(path), InputError);
  EXPECT_NO_THROW(file(path, true));
  EXPECT_EQ(contents(path), "text\n");
  EXPECT_NO_THROW(file(folder_.write("empty", "")));  // as mktemp makes it
}

TEST_F(SolutionFileTest, NeverTheInstance) {
  EXPECT_THROW(file(instance_, true), InputError);
  fs::create_symlink(instance_, folder_ / "alias");
  EXPECT_THROW(file(folder_ / "alias", true), InputError);
}

TEST_F(SolutionFileTest, MustBeWritable) {
  EXPECT_THROW(file(folder_ / "missing" / "x"), EnvironmentError);
  fs::create_directory(folder_ / "folder");
  EXPECT_THROW(file(folder_ / "folder", true), EnvironmentError);
}

TEST_F(SolutionFileTest, FollowsLinks) {
  const fs::path target = folder_.write("target", "60\n");
  fs::create_symlink(target, folder_ / "link");
  file(folder_ / "link").write("50\n");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(target), "50\n");
}

TEST_F(SolutionFileTest, DevicesStayDevices) {
  const auto null = file("/dev/null");
  EXPECT_FALSE(null.better_than(1).has_value());
  null.write("50\n");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(file("/dev/full").write("50\n"), EnvironmentError);
}

}  // namespace
}  // namespace vicinity
