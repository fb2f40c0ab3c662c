#pragma once
// Interruption (core/util/interruption.hpp) of work that threads share.
#include <atomic>
#include <cstdint>

#include "core/util/interruption.hpp"

namespace vicinity {

/// begin() on each of `threads` threads, then body(k) for k = 0 .. count - 1, each thread taking the next. Where a body is interrupted no
/// other is begun, and Interrupted goes on from here.
template <class Begin, class Body>
void for_each_in_parallel(std::int64_t count, int threads, const Begin& begin, const Body& body) {
  std::atomic<bool> interrupted = false;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    begin();
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t k = 0; k < count; ++k) {
      if (interrupted) continue;
      try {
        body(k);
      } catch (const Interrupted&) {
        interrupted = true;
      }
    }
  }
  if (interrupted) throw Interrupted();
}
template <class Body>
void for_each_in_parallel(std::int64_t count, int threads, const Body& body) {
  for_each_in_parallel(
      count, threads, [] {}, body);
}

}  // namespace vicinity
