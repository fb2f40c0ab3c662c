#include "harness/solve/solution_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

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
  EXPECT_FALSE(target.replace_if_better(50, "50\n").has_value());
  EXPECT_EQ(contents(folder_ / "new"), "50\n");
}

TEST_F(SolutionFileTest, KeepsWhatIsNotWorse) {
  const fs::path path = folder_.write("old", "60\n");
  EXPECT_EQ(file(path).replace_if_better(61, "61\n"), Objective(60));
  EXPECT_EQ(file(path).replace_if_better(60, "other 60\n"), Objective(60));
  EXPECT_EQ(contents(path), "60\n");
  EXPECT_FALSE(file(path).replace_if_better(59, "59\n").has_value());
  EXPECT_FALSE(file(path, true).replace_if_better(61, "61\n").has_value());
  EXPECT_EQ(contents(path), "61\n");
}

TEST_F(SolutionFileTest, MoreIsBetterWhereItIsMaximised) {
  const fs::path path = folder_.write("old", "60\n");
  const auto maximised = [](const std::string& name) { return Objective(fake::number_in(name), Sense::maximise); };
  const SolutionFile target(path, instance_, false, maximised);
  EXPECT_TRUE(target.replace_if_better(Objective(59, Sense::maximise), "59\n").has_value());
  EXPECT_FALSE(target.replace_if_better(Objective(61, Sense::maximise), "61\n").has_value());
  EXPECT_EQ(contents(path), "61\n");
}

TEST_F(SolutionFileTest, LooksAgainInTheEnd) {
  const fs::path path = folder_ / "shared";
  const auto target = file(path);
  folder_.write("shared", "10\n");  // another search was faster
  EXPECT_EQ(target.replace_if_better(50, "50\n"), Objective(10));
  folder_.write("shared", "notes\n");
  EXPECT_THROW(static_cast<void>(target.replace_if_better(50, "50\n")), InputError);
}

TEST_F(SolutionFileTest, TheBetterOfTwoAtOnceStays) {
  const fs::path path = folder_ / "shared";
  const auto slow = [](const std::string& name) {  // the other one has time to look, too
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Objective(fake::number_in(name));
  };
  for (int round = 0; round < 10; ++round) {
    folder_.write("shared", "99\n");
    const auto offer = [&](std::int64_t objective) {
      static_cast<void>(SolutionFile(path, instance_, false, slow).replace_if_better(objective, fmt::format("{}\n", objective)));
    };
    std::thread worse(offer, 60), better(offer, 50);
    worse.join();
    better.join();
    ASSERT_EQ(contents(path), "50\n") << round;
  }
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
  EXPECT_FALSE(file(folder_ / "link").replace_if_better(50, "50\n").has_value());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(target), "50\n");
}

TEST_F(SolutionFileTest, DevicesStayDevices) {
  const auto null = file("/dev/null");
  EXPECT_FALSE(null.replace_if_better(50, "50\n").has_value());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(static_cast<void>(file("/dev/full").replace_if_better(50, "50\n")), EnvironmentError);
}

}  // namespace
}  // namespace vicinity
