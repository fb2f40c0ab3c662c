#include "harness/measure/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "harness/measure/cgroup.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

using Settings = std::map<std::string, std::string>;

const Cores four_with_siblings{{0, 4}, {1, 5}, {2, 6}, {3, 7}};

/// What the user of a test has set.
Settings theirs;
const char* set_by_user(const char* name) {
  const auto found = theirs.find(name);
  return found == theirs.end() ? nullptr : found->second.c_str();
}

Settings settings(const std::optional<double>& quota, const Settings& user = {}) {
  theirs = user;
  return thread_settings(four_with_siblings, quota, set_by_user);
}

TEST(Threads, OneACoreAndNoMoreThanTheQuota) {
  EXPECT_EQ(thread_count(four_with_siblings, std::nullopt), 4);
  EXPECT_EQ(thread_count(four_with_siblings, 2.9), 2);
  EXPECT_EQ(thread_count(four_with_siblings, 64), 4);
  EXPECT_EQ(thread_count(four_with_siblings, 0.5), 1);
  EXPECT_EQ(thread_count({}, std::nullopt), 1);
}

TEST(Threads, AreBoundAndWaitPassively) {
  EXPECT_EQ(settings(std::nullopt), (Settings{{"OMP_NUM_THREADS", "4"},
                                              {"OMP_PLACES", "cores"},
                                              {"OMP_PROC_BIND", "close"},
                                              {"OMP_WAIT_POLICY", "passive"},
                                              {"GOMP_SPINCOUNT", "10000"}}));
}

TEST(Threads, AreNotBoundWhereAQuotaLeavesCoresOver) {
  const Settings found = settings(2);
  EXPECT_EQ(found.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(found.at("OMP_PROC_BIND"), "false");
  EXPECT_FALSE(found.contains("OMP_PLACES"));
}

TEST(Threads, TheUsersSettingsWin) {
  EXPECT_FALSE(settings(std::nullopt, {{"OMP_NUM_THREADS", "3"}}).contains("OMP_NUM_THREADS"));
  EXPECT_FALSE(settings(std::nullopt, {{"OMP_PROC_BIND", "false"}}).contains("OMP_PROC_BIND"));
  const Settings active = settings(std::nullopt, {{"OMP_WAIT_POLICY", "active"}});
  EXPECT_FALSE(active.contains("OMP_WAIT_POLICY") || active.contains("GOMP_SPINCOUNT"));
  const Settings own_places = settings(std::nullopt, {{"GOMP_CPU_AFFINITY", "0 2"}});
  EXPECT_FALSE(own_places.contains("OMP_PLACES") || own_places.contains("OMP_PROC_BIND"));
}

TEST(Threads, EveryUsableProcessorBelongsToOneCore) {
  std::vector<int> found;
  for (const auto& core : cores_of(usable_processors())) found.insert(found.end(), core.begin(), core.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, usable_processors());
  EXPECT_FALSE(found.empty());
}

int processors_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

TEST(Threads, OnesThatAGpuRunStartsAreNotBoundWithTheirParent) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::string all;
  int first = -1;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &before)) continue;
    if (first < 0) first = processor;
    all += (all.empty() ? "" : ",") + std::to_string(processor);
  }
  const char* const known = std::getenv("VICINITY_PROCESSORS");
  const std::string kept = known == nullptr ? "" : known;
  setenv("VICINITY_PROCESSORS", all.c_str(), 1);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  {
    const Unbound unbound(false);
    EXPECT_EQ(processors_of_this_thread(), 1);
  }
  {
    const Unbound unbound(true);
    int inherited = 0;
    std::thread([&] { inherited = processors_of_this_thread(); }).join();
    EXPECT_EQ(inherited, CPU_COUNT(&before));
  }
  EXPECT_EQ(processors_of_this_thread(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  known == nullptr ? unsetenv("VICINITY_PROCESSORS") : setenv("VICINITY_PROCESSORS", kept.c_str(), 1);
}

TEST(ControlGroup, TheLeastQuotaCounts) {
  const TemporaryFolder scratch;
  const std::filesystem::path root = scratch.path(), groups = root / "sys/fs/cgroup";
  scratch.write(root / "proc/self/cgroup", "0::/outer/inner\n");
  for (const char* group : {"", "outer", "outer/inner"}) scratch.write(groups / group / "cpu.stat", "nr_throttled 0\nthrottled_usec 0\n");
  EXPECT_FALSE(cpu_quota(root));
  scratch.write(groups / "outer/inner/cpu.max", "max 100000\n");
  EXPECT_FALSE(cpu_quota(root));
  scratch.write(groups / "outer/cpu.max", "250000 100000\n");
  EXPECT_EQ(cpu_quota(root), 2.5);
  scratch.write(groups / "outer/inner/cpu.max", "150000 100000\n");
  EXPECT_EQ(cpu_quota(root), 1.5);
}

TEST(ControlGroup, VersionOne) {
  const TemporaryFolder scratch;
  const std::filesystem::path root = scratch.path(), group = root / "sys/fs/cgroup/cpu,cpuacct";  // /docker/x is not visible inside
  scratch.write(root / "proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/x\n");
  scratch.write(group / "cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 1500000000\n");
  scratch.write(group / "cpu.cfs_quota_us", "-1\n");
  scratch.write(group / "cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(cpu_quota(root));
  scratch.write(group / "cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(cpu_quota(root), 3);
  EXPECT_EQ(throttling(root)->count, 4);
  EXPECT_DOUBLE_EQ(throttling(root)->seconds, 1.5);
}

}  // namespace
}  // namespace vicinity
