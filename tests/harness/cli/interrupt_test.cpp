#include "harness/cli/interrupt.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace vicinity {
namespace {

TEST(Interrupts, WaitForALineWhicheverThreadTheyReach) {
  const auto write_meanwhile = [] {
    std::signal(SIGINT, SIG_DFL);
    handle_interrupts("interrupted\n");
    std::thread other([] { pause(); });
    {
      const InterruptsHeld held;
      pthread_kill(other.native_handle(), SIGINT);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::fputs("a whole line, ", stderr);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(write_meanwhile(), testing::ExitedWithCode(exit_interrupted), "a whole line, interrupted");
}

TEST(Interrupts, AreIgnoredWhereTheCallerIgnoresThem) {
  const auto raise_ignored = [] {
    for (const int signal : {SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
    handle_interrupts("interrupted\n");
    for (const int signal : {SIGINT, SIGHUP}) std::raise(signal);
    std::_Exit(7);
  };
  EXPECT_EXIT(raise_ignored(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace vicinity
