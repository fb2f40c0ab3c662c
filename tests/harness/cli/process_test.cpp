#include "harness/cli/process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/api/budget.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

/// A process of this number that is no zombie; it is given a moment to end.
bool stays_alive(const std::string& number) {
  for (int k = 0; k < 500; ++k) {
    std::ifstream file("/proc/" + number + "/stat");
    std::string id, name, state;
    if (!(file >> id >> name >> state) || state == "Z") return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

struct Told {
  std::string failure;
  std::vector<std::string> lines;
};

Told run_script(const std::string& text, double seconds) {
  const TemporaryFolder folder;
  Told told;
  told.failure = run_command_line("sh " + folder.write("script", text).string(), {}, seconds,
                                  [&](const std::string& line) { told.lines.push_back(line); });
  return told;
}

TEST(CommandLine, ItsEndIsSeenWhoeverHoldsThePipe) {
  const Stopwatch watch;
  const Told told = run_script("sleep 1000 &\necho $!\nprintf last\n", 60);
  EXPECT_LT(watch.seconds(), 30);
  EXPECT_EQ(told.failure, "");
  ASSERT_EQ(told.lines.size(), 2U);
  EXPECT_EQ(told.lines[1], "last");
  EXPECT_FALSE(stays_alive(told.lines[0]));
}

TEST(CommandLine, ItsTimeEndsItAndItsChildren) {
  const Told told = run_script("sleep 1000 &\necho $!\nsleep 1000\n", 0.5);
  EXPECT_EQ(told.failure, "did not end within 0.5 s");
  ASSERT_EQ(told.lines.size(), 1U);
  EXPECT_FALSE(stays_alive(told.lines[0]));
}

TEST(CommandLine, ItsTimeCountsWhenItSaysNothingMore) {
  EXPECT_EQ(run_script("exec >&-\nsleep 1000\n", 0.5).failure, "did not end within 0.5 s");
  EXPECT_EQ(run_script("exec >&-\nsleep 0.2\nexit 3\n", 60).failure, "ended with exit code 3");
}

}  // namespace
}  // namespace vicinity
