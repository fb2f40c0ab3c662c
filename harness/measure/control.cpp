#include "harness/measure/control.hpp"

#include <cstdint>

#include "core/api/budget.hpp"
#include "core/util/digest.hpp"
#include "harness/cli/text.hpp"

namespace vicinity {

double cpu_control_seconds() {
  constexpr int steps = 1 << 19;  // a few milliseconds
  std::vector<double> seconds;
  for (int repetition = 0; repetition < 3; ++repetition) {
    const Stopwatch watch;
    std::uint64_t word = 1;
    for (int step = 0; step < steps; ++step) word = mix(word + 0x9E3779B97F4A7C15ull);
    asm volatile("" : : "r"(word));  // keeps the loop
    seconds.push_back(watch.seconds());
  }
  return median(seconds);
}

}  // namespace vicinity
