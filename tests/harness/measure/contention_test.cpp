#include "harness/measure/contention.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include <gtest/gtest.h>

#include "harness/measure/measurement.hpp"
#include "harness/record/record.hpp"
#include "tests/harness/fake_system.hpp"
#include "tests/support/scratch.hpp"

namespace vicinity {
namespace {

/// Counts that a test writes down: one entry a reading, the last one for all later readings.
class WrittenCounts : public CountSource {
 public:
  [[nodiscard]] ProcessCounts process() const override { return next(processes, process_readings_); }
  [[nodiscard]] SystemCounts system() const override { return next(systems, system_readings_); }

  std::vector<ProcessCounts> processes{{}};
  std::vector<SystemCounts> systems{{}};

 private:
  template <class Counts>
  static Counts next(const std::vector<Counts>& all, std::size_t& reading) {
    return all[std::min(reading++, all.size() - 1)];
  }
  mutable std::size_t process_readings_ = 0, system_readings_ = 0;
};

ProcessCounts counts(std::map<int, double> waited, std::int64_t voluntary = 0, std::int64_t involuntary = 0) {
  return {.waited = std::move(waited), .voluntary = voluntary, .involuntary = involuntary, .processor_time = 0};
}

TEST(Contention, AHundredthOfTheTimeMayBeLost) {
  EXPECT_FALSE(waited_too_long({.wall = 1, .waited = 0.01}));
  EXPECT_TRUE(waited_too_long({.wall = 1, .waited = 0.0101}));
  EXPECT_TRUE(waited_too_long({.wall = 20e-6, .waited = 8e-3}));
}

TEST(Contention, WakingUpIsNoContention) {
  EXPECT_FALSE(waited_too_long({.wall = 20e-6, .waited = 90e-6, .voluntary = 2}));
  EXPECT_TRUE(waited_too_long({.wall = 20e-6, .waited = 4e-3, .voluntary = 2}));
}

TEST(Contention, WithoutWaitingTimesASwitchCountsAsASlice) {
  EXPECT_FALSE(waited_too_long({.wall = 1, .waited = std::nullopt, .voluntary = 100, .involuntary = 3}));
  EXPECT_TRUE(waited_too_long({.wall = 1, .waited = std::nullopt, .voluntary = 100, .involuntary = 4}));
  EXPECT_TRUE(waited_too_long({.wall = 20e-6, .waited = std::nullopt, .voluntary = 0, .involuntary = 1}));
}

TEST(Contention, HypervisorAndQuotaTakeAtMostAHundredth) {
  SystemCounts from{.time = 10, .processor_time = 3};
  from.steal = 5;
  from.throttled = 1;
  SystemCounts to = from;
  to.time = 20;
  to.processor_time = 13;
  EXPECT_FALSE(held_back(from, to));
  to.steal = 5.1;
  EXPECT_FALSE(held_back(from, to));
  to.steal = 5.11;
  EXPECT_TRUE(held_back(from, to));
  to.processor_time = 43;  // four threads: a hundredth of their time
  EXPECT_FALSE(held_back(from, to));
  to.throttled = 1.41;
  EXPECT_TRUE(held_back(from, to));
}

TEST(Contention, OneTickOfStealIsTooLittleToTell) {
  SystemCounts from{.time = 0}, to{.time = 0.2};
  from.steal = 0;
  to.steal = 0.01;
  EXPECT_FALSE(held_back(from, to));
  to.steal = 0.02;
  EXPECT_TRUE(held_back(from, to));
  to.steal.reset();  // not told
  EXPECT_FALSE(held_back(from, to));
}

TEST(Contention, EachSampleHasWhatItsThreadsWaited) {
  WrittenCounts source;
  source.processes = {counts({{1, 5.0}, {2, 1.0}}), counts({{1, 5.0}, {2, 1.0}}, 0, 0),             // the first: nothing
                      counts({{1, 5.0}, {2, 1.5}}), counts({{1, 5.1}, {2, 1.7}, {3, 0.2}}, 4, 2)};  // a new thread counts from its start
  ContentionWatch watch(source);
  for (int sample = 0; sample < 2; ++sample) {
    watch.sample_begins();
    watch.sample_ends(0.01);
  }
  const Contention found = watch.finish();
  ASSERT_EQ(found.samples.size(), 2U);
  EXPECT_DOUBLE_EQ(found.samples[0].waited.value(), 0);
  EXPECT_FALSE(found.samples[0].contended);
  EXPECT_NEAR(found.samples[1].waited.value(), 0.5, 1e-9);
  EXPECT_EQ(found.samples[1].voluntary, 4);
  EXPECT_EQ(found.samples[1].involuntary, 2);
  EXPECT_TRUE(found.samples[1].contended);
}

TEST(Contention, WhatTheSystemTakesMarksAllSamplesSinceTheReadingBefore) {
  WrittenCounts source;
  const auto at = [](double time, double throttled) {
    SystemCounts counts{.time = time};
    counts.throttled = throttled;
    return counts;
  };
  source.systems = {at(0, 0), at(0.2, 0), at(0.4, 0.1), at(0.5, 0.1)};  // before, after samples 1, 3 and 4
  ContentionWatch watch(source);
  for (const double wall : {0.04, 0.07, 0.04, 0.07, 0.04}) {
    watch.sample_begins();
    watch.sample_ends(wall);
  }
  std::vector<bool> marks;
  for (const Disturbance& sample : watch.finish().samples) marks.push_back(sample.contended);
  EXPECT_EQ(marks, (std::vector<bool>{false, false, true, true, false}));
}

Job job() {
  const Case c{"count", "", {{"size", std::int64_t{10}}}};
  Job job;
  job.asked = job.executed = c;
  job.implementation = &fake::find("cpu-openmp");
  return job;
}

Protocol protocol(int repetitions, double precision) {
  Protocol p;
  p.repetitions = repetitions;
  p.precision = precision;
  return p;
}

TEST(Contention, IsInTheResultAndTheRecord) {
  WrittenCounts source;
  const ProcessCounts calm = counts({{1, 0}});
  source.processes = {calm, calm, calm, calm, calm, counts({{1, 2}}, 0, 7)};  // the first two: the checked run
  source.systems.front().load = 0.5;
  Referee judge(fake::systems().front(), {.reference = "cpu-serial"});
  const Result result = measure(judge, job(), protocol(3, 0), {.counts = &source});
  ASSERT_TRUE(result.contention);
  Descriptor descriptor;
  descriptor.system = &fake::systems().front();
  const Json record = to_record({}, descriptor, job(), protocol(3, 0), result);
  EXPECT_EQ(record["contended"], Json({false, true, false}));
  EXPECT_EQ(record["contention"]["waited"], Json({0.0, 2.0, 0.0}));
  EXPECT_EQ(record["contention"]["involuntary"], Json({0, 7, 0}));
  EXPECT_EQ(record["contention"]["load"], Json({0.5, 0.5}));
  EXPECT_TRUE(record["contention"]["steal"].is_null());
  EXPECT_EQ(record["samples"]["wall"].size(), 3U);  // marked, not dropped
}

TEST(Contention, ContendedSamplesDoNotMakeAMedianPrecise) {
  Referee judge(fake::systems().front(), {.reference = "cpu-serial"});
  WrittenCounts quiet;
  quiet.processes = {counts({{1, 0}})};
  EXPECT_EQ(measure(judge, job(), protocol(50, 0.01), {.counts = &quiet}).samples.at("kernel").size(), 6U);
  WrittenCounts busy;
  busy.processes.clear();
  for (int reading = 0; reading < 200; ++reading) busy.processes.push_back(counts({{1, reading}}));
  EXPECT_EQ(measure(judge, job(), protocol(50, 0.01), {.counts = &busy}).samples.at("kernel").size(), 50U);
}

TEST(Contention, ReadsWhatLinuxSays) {
  const TemporaryFolder scratch;
  const std::filesystem::path root = scratch.path();
  scratch.write(root / "proc/self/task/7/schedstat", "1000 2500000000 4\n");
  scratch.write(root / "proc/self/task/9/schedstat", "1000 500000000 4\n");
  scratch.write(root / "proc/loadavg", "1.50 0.24 0.37 3/118 6670\n");
  scratch.write(root / "proc/stat", "cpu  140124 0 13705 184499 852 0 104 2946 0 0\ncpu0 1 1\n");
  scratch.write(root / "proc/pressure/cpu", "some avg10=22.13 avg60=29.65 avg300=10.35 total=50889034\nfull total=0\n");
  scratch.write(root / "proc/self/cgroup", "0::/a/b\n");
  scratch.write(root / "sys/fs/cgroup/a/b/cpu.stat", "usage_usec 10\nnr_periods 5\nnr_throttled 3\nthrottled_usec 250000\n");
  const LinuxCounts counts(root);
  EXPECT_EQ(counts.process().waited, (std::map<int, double>{{7, 2.5}, {9, 0.5}}));
  const SystemCounts system = counts.system();
  EXPECT_EQ(system.load, 1.5);
  EXPECT_EQ(system.runnable, 3);
  EXPECT_DOUBLE_EQ(system.steal.value(), 29.46);
  EXPECT_DOUBLE_EQ(system.pressure.value(), 50.889034);
  EXPECT_EQ(system.throttlings, 3);
  EXPECT_DOUBLE_EQ(system.throttled.value(), 0.25);
}

TEST(Contention, StealIsOfTheProcessorsThatMayBeUsed) {
  const TemporaryFolder scratch;
  scratch.write(
      scratch.path() / "proc/stat",
      "cpu  0 0 0 0 0 0 0 700 0 0\ncpu0 0 0 0 0 0 0 0 100 0 0\ncpu2 0 0 0 0 0 0 0 200 0 0\ncpu10 0 0 0 0 0 0 0 400 0 0\nintr 5\n");
  EXPECT_DOUBLE_EQ(LinuxCounts(scratch.path(), {0, 10}).system().steal.value(), 5);
  EXPECT_DOUBLE_EQ(LinuxCounts(scratch.path(), {2}).system().steal.value(), 2);
  EXPECT_DOUBLE_EQ(LinuxCounts(scratch.path(), {1}).system().steal.value(), 7);  // not told: that of all
}

TEST(Contention, WhatIsNotToldIsEmpty) {
  const TemporaryFolder scratch;
  const LinuxCounts counts(scratch.path() / "nothing");
  EXPECT_TRUE(counts.process().waited.empty());
  const SystemCounts system = counts.system();
  EXPECT_FALSE(system.load || system.runnable || system.steal || system.throttled || system.pressure);
}

}  // namespace
}  // namespace vicinity
