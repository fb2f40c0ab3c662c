#pragma once
// What kernels/cuda/collective/mailbox.cuh replaces, for those that are not yet written with it.
#include "kernels/cuda/collective/mailbox.cuh"

namespace vicinity::cuda {

/// visit(k, word) for the words at(k) of k = this lane, 32 more, ... below `count`, each once is_fresh(word), the last maybe more than
/// once. Waits for five at a time, all of which are read before any is looked at.
template <class At, class IsFresh, class Visit>
__device__ __forceinline__ void visit_words(int count, const At& at, const IsFresh& is_fresh, const Visit& visit) {
  constexpr int at_once = 5;
  for (int first = static_cast<int>(threadIdx.x) % 32; first < count; first += 32 * at_once) {
    Word word[at_once];
    bool waiting = true;
    while (waiting) {
      waiting = false;
#pragma unroll
      for (int k = 0; k < at_once; ++k) word[k] = read_relaxed(at(min(first + 32 * k, count - 1)));
#pragma unroll
      for (int k = 0; k < at_once; ++k) waiting |= !is_fresh(word[k]);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) visit(min(first + 32 * k, count - 1), word[k]);
  }
}

}  // namespace vicinity::cuda
