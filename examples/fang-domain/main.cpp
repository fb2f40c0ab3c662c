// An evolution of assignments: each generation keeps the best eighth of the states as parents, gives each eight successors in which a tenth
// of the jobs, drawn anew, is assigned again, and keeps a clone of the best. Compiled as CUDA it does the same on the GPU and compares.
//
//   fang-domain [jobs agents states generations] [xorshift1024]
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "job_assignment.hpp"
#if defined(__CUDACC__)
#include <vicinity/fang.cuh>
#endif

namespace {

using namespace vicinity::fang;

struct Options {
  std::uint32_t jobs = 200, agents = 100, states = 1024, generations = 100;
  bool long_generator = false;
};

struct Result {
  std::int64_t cost;
  double seconds;
  States states;
};

/// The two buffers of section 3.3 on the CPU.
template <Generator G>
class OnCpu {
 public:
  OnCpu(const JobAssignment& domain, const States& start)
      : domain_(domain), sources_(start), targets_(vicinity::fang::make_states(domain, start.count)) {}

  void generate(const Generation& call) {
    assign_cpu<G>(domain_, sources_, targets_, call);
    std::swap(sources_, targets_);
  }
  [[nodiscard]] std::vector<std::int64_t> costs() { return costs_cpu(domain_, sources_); }
  [[nodiscard]] States states() const { return sources_; }

 private:
  const JobAssignment& domain_;
  States sources_, targets_;
};

#if defined(__CUDACC__)
/// The same on the GPU: the states stay there, costs come back.
template <Generator G>
class OnGpu {
 public:
  OnGpu(const JobAssignment& domain, const States& start)
      : domain_(domain), sources_(domain_.make_states(start.count)), targets_(domain_.make_states(start.count)) {
    sources_.assign(start, domain_.stream());
  }

  void generate(const Generation& call) {
    assign_gpu<G>(domain_, sources_, targets_, call);
    std::swap(sources_, targets_);
  }
  [[nodiscard]] std::vector<std::int64_t> costs() { return costs_gpu(domain_, sources_); }
  [[nodiscard]] States states() const {
    domain_.synchronize();
    return sources_.to_host();
  }

 private:
  PlacedDomain<JobAssignment> domain_;
  DeviceStates sources_, targets_;
};
#endif

template <class Buffers>
Result evolve(const JobAssignment& domain, const Options& options) {
  States start = make_states(domain, options.states);
  for (std::uint32_t s = 0; s < start.count; ++s)
    domain.clear(std::span(start.words).subspan(std::size_t{s} * start.state_words, start.state_words));
  Buffers buffers(domain, start);
  const auto begin = std::chrono::steady_clock::now();
  buffers.generate({.seed = 0, .order = Order::permuted});

  std::vector<std::uint32_t> ranking(options.states), parents(options.states), variables;
  const auto others = bit_set(options.states, [](std::uint32_t s) { return s > 0; });
  for (std::uint32_t generation = 1; generation <= options.generations; ++generation) {
    const std::vector<std::int64_t> costs = buffers.costs();
    std::iota(ranking.begin(), ranking.end(), 0u);
    std::stable_sort(ranking.begin(), ranking.end(), [&](std::uint32_t a, std::uint32_t b) { return costs[a] < costs[b]; });
    for (std::uint32_t s = 0; s < options.states; ++s) parents[s] = ranking[s / 8];
    variables.clear();
    for (std::uint32_t s = 0; s < options.states; ++s) {
      const auto chosen = bit_set(
          options.jobs, [&](std::uint32_t job) { return vicinity::scale_to(vicinity::random_bits(generation, 2, s, job), 10) == 0; });
      variables.insert(variables.end(), chosen.begin(), chosen.end());
    }
    buffers.generate({generation, Order::permuted, parents, others, variables, {}});
  }
  const std::vector<std::int64_t> costs = buffers.costs();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {*std::min_element(costs.begin(), costs.end()), seconds.count(), buffers.states()};
}

void print(const char* side, const Result& result) {
  std::printf("%s: cost %lld, digest %016llx, %.3f s\n", side, static_cast<long long>(result.cost),
              static_cast<unsigned long long>(digest_of(result.states)), result.seconds);
}

template <Generator G>
int run(const Options& options) {
  const JobAssignment domain(options.jobs, options.agents, 1);
  const Result cpu = evolve<OnCpu<G>>(domain, options);
  print("cpu", cpu);
#if defined(__CUDACC__)
  const Result gpu = evolve<OnGpu<G>>(domain, options);
  print("gpu", gpu);
  const std::string difference = first_difference(cpu.states, gpu.states);
  std::printf("%s\n", difference.empty() ? "the twins agree" : difference.c_str());
  return difference.empty() ? 0 : 1;
#else
  return 0;
#endif
}

Options parse(int count, char** arguments) {
  Options options;
  if (count > 1 && std::strcmp(arguments[count - 1], "xorshift1024") == 0) {
    options.long_generator = true;
    --count;
  }
  if (count != 1 && count != 5) throw std::invalid_argument("fang-domain [jobs agents states generations] [xorshift1024]");
  std::uint32_t* const sizes[] = {&options.jobs, &options.agents, &options.states, &options.generations};
  for (int i = 1; i < count; ++i) {
    const char* const end = arguments[i] + std::strlen(arguments[i]);
    const auto [rest, error] = std::from_chars(arguments[i], end, *sizes[i - 1]);
    if (error != std::errc{} || rest != end || *sizes[i - 1] == 0 || *sizes[i - 1] > 65536)
      throw std::invalid_argument(std::string(arguments[i]) + ": not a number from 1 to 65536");
  }
  if (std::uint64_t{options.jobs} * options.agents > 1u << 28) throw std::invalid_argument("jobs times agents: more than 2^28");
  return options;
}

}  // namespace

int main(int count, char** arguments) try {
  const Options options = parse(count, arguments);
  return options.long_generator ? run<XorShift1024Star>(options) : run<vicinity::XorShift64Star>(options);
} catch (const std::exception& error) {
  std::fprintf(stderr, "fang-domain: error: %s\n", error.what());
  return 2;
}
