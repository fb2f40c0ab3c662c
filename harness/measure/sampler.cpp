#include "harness/measure/sampler.hpp"

#include <benchmark/benchmark.h>

#include <exception>

namespace vicinity {
namespace {

/// Keeps every repetition, drops the aggregates, prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      Sample& entry = samples.emplace_back(Sample{.wall = run.real_accumulated_time, .parts = {}});
      for (const auto& [part, counter] : run.counters) entry.parts[part] = counter.value;
    }
  }

  std::vector<Sample> samples;
};

}  // namespace

std::vector<Sample> sample(const std::function<Sample()>& repetition, int count) {
  std::exception_ptr failure;  // Google Benchmark must not be unwound: it is told to skip, and the exception waits here
  const auto body = [&](benchmark::State& state) {
    for ([[maybe_unused]] const auto _ : state) {
      if (failure) {
        state.SkipWithError("failed before");
        break;
      }
      try {
        const Sample measured = repetition();
        state.SetIterationTime(measured.wall);
        for (const auto& [part, seconds] : measured.parts) state.counters[part] = seconds;
      } catch (...) {
        failure = std::current_exception();
        state.SkipWithError("failed");
        break;
      }
    }
  };
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("case", body)->UseManualTime()->Iterations(1)->Repetitions(count);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();  // it held references to this frame
  if (failure) std::rethrow_exception(failure);
  return std::move(collector.samples);
}

}  // namespace vicinity
