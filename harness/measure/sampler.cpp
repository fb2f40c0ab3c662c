#include "harness/measure/sampler.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <exception>
#include <stdexcept>

namespace vicinity {
namespace {

/// Prints nothing: every repetition is kept where it is measured.
class Silence : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace

std::vector<Sample> sample(const std::function<Sample()>& repetition, int most,
                           const std::function<bool(const std::vector<Sample>&)>& enough) {
  std::vector<Sample> samples;
  bool ended = false;
  std::exception_ptr failure;  // Google Benchmark must not be unwound: it is told to skip, and the exception waits here
  const auto body = [&](benchmark::State& state) {
    for ([[maybe_unused]] const auto _ : state) {
      if (ended) {
        state.SkipWithError("not needed");
        break;
      }
      try {
        samples.push_back(repetition());
        state.SetIterationTime(samples.back().wall);
        ended = static_cast<int>(samples.size()) >= most || enough(samples);
      } catch (...) {
        ended = true;
        failure = std::current_exception();
        state.SkipWithError("failed");
        break;
      }
    }
  };
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("case", body)->UseManualTime()->Iterations(1)->Repetitions(most);
  Silence silence;
  benchmark::RunSpecifiedBenchmarks(&silence);
  benchmark::ClearRegisteredBenchmarks();  // it held references to this frame
  if (failure) std::rethrow_exception(failure);
  if (!ended)
    throw std::runtime_error(
        fmt::format("Google Benchmark made {} of {} repetitions; is a variable BENCHMARK_... set?", samples.size(), most));
  return samples;
}

}  // namespace vicinity
