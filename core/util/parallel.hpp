#pragma once
// Work shared among threads of the host, for who has no OpenMP.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace vicinity {

/// Cores that threads begun here may run on, at least one: a container, a launcher or a rank may have fewer than the machine.
[[nodiscard]] inline std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return count > 0 ? static_cast<std::size_t>(count) : 1;
}

/// f(i) for i of [0, count), by as many threads as there are cores. It throws nothing.
template <class F>
void in_parallel(std::size_t count, const F& f) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(count, usable_cores()); ++t) others.emplace_back(work);
  work();
}

}  // namespace vicinity
