#include "harness/record/ceilings.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/util/vector_bytes.hpp"
#include "harness/measure/cpu.hpp"

namespace vicinity {
namespace {

using Vector = std::uint32_t __attribute__((vector_size(vector_bytes)));
constexpr int lanes = int{vector_bytes / 4};
constexpr int chains = 10;  // enough to fill the vector ports, few enough to stay in registers

/// Independent chains of additions and exclusive ors, which no compiler can merge: each step needs the one before.
/// Returns operations done, 32-bit lanes counted.
double integer_chains(std::int64_t steps) {
  std::array<Vector, chains> value;
  for (int chain = 0; chain < chains; ++chain) value[chain] = Vector{} + static_cast<std::uint32_t>(chain + 1);
  Vector added = Vector{} + 0x9E3779B9u, mixed = Vector{} + 0x85EBCA6Bu;
  asm volatile("" : "+x"(added), "+x"(mixed));  // not constants
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int chain = 0; chain < chains; ++chain) value[chain] = (value[chain] + added) ^ mixed;
  }
  for (Vector& result : value) asm volatile("" : : "x"(result));
  return static_cast<double>(steps) * chains * lanes * 2;
}

/// Operations a second of `threads` cores, best of several.
double integer_rate(int threads) {
  constexpr std::int64_t steps = 20'000'000;
  constexpr int repetitions = 7;
  double best = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    double operations = 0;
    const double start = omp_get_wtime();
#pragma omp parallel num_threads(threads) reduction(+ : operations)
    operations += integer_chains(steps);
    best = std::max(best, operations / (omp_get_wtime() - start));
  }
  return best;
}

/// Bytes read and written a second by all cores copying between arrays far larger than the caches.
double copy_rate() {
  constexpr std::size_t wanted = std::size_t{512} << 20;
  constexpr int repetitions = 7;
  const std::size_t each = std::min(wanted, memory_bytes() / 16) / 64 * 64;
  const std::unique_ptr<char[]> from(new char[each]), to(new char[each]);
  double best = 0;
  for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 touches the pages, each thread its own
    const double start = omp_get_wtime();
#pragma omp parallel
    {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num()), all = static_cast<std::size_t>(omp_get_num_threads());
      const std::size_t begin = each * thread / all, end = each * (thread + 1) / all;
      if (repetition < 0) std::memset(from.get() + begin, 1, end - begin);
      std::memcpy(to.get() + begin, from.get() + begin, end - begin);
    }
    const double seconds = omp_get_wtime() - start;
    if (repetition >= 0) best = std::max(best, 2.0 * static_cast<double>(each) / seconds);
  }
  return best;
}

}  // namespace

std::map<std::string, double> cpu_ceilings() {
  return {{"cpu_copy_bandwidth", copy_rate()}, {"cpu_integer", integer_rate(omp_get_max_threads())}, {"cpu_integer_core", integer_rate(1)}};
}

std::string ceiling_unit(const std::string& name) {
  if (name.ends_with("bandwidth")) return "B/s";
  return name == "launch" || name.ends_with("barrier") ? "s" : "op/s";
}

Json ceilings_json(const std::map<std::string, double>& ceilings) {
  Json json = Json::object();
  for (const auto& [name, value] : ceilings) {
    json[name] = {{"value", value}, {"unit", ceiling_unit(name)}};
    if (name.starts_with("cpu_")) json[name]["threads"] = name.ends_with("_core") ? 1 : omp_get_max_threads();
  }
  return json;
}

}  // namespace vicinity
