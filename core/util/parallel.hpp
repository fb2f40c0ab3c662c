#pragma once
// Work shared among threads of the host, for who has no OpenMP.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace vicinity {

/// f(i) for i of [0, count), by as many threads as there are cores. It throws nothing.
template <class F>
void in_parallel(std::size_t count, const F& f) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min<std::size_t>(count, std::thread::hardware_concurrency()); ++t) others.emplace_back(work);
  work();
}

}  // namespace vicinity
