#pragma once
// Interruption (core/util/interruption.hpp) of work that threads share.
#include <atomic>
#include <cstdint>

#include "core/util/interruption.hpp"

namespace vicinity {

/// body(k) for k = 0 .. count - 1 on `threads` threads, each taking the next. Where a body is interrupted no other is begun, and
/// Interrupted goes on from here.
template <class Body>
void for_each_in_parallel(std::int64_t count, int threads, const Body& body) {
  std::atomic<bool> interrupted = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t k = 0; k < count; ++k) {
    if (interrupted) continue;
    try {
      body(k);
    } catch (const Interrupted&) {
      interrupted = true;
    }
  }
  if (interrupted) throw Interrupted();
}

}  // namespace vicinity
