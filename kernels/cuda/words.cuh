#pragma once
// How blocks that run together speak to each other without a barrier: by 64-bit words, each written and read whole, that carry the number
// of the step, so that who polls one knows a fresh word. They lie in device memory or, in a cluster, in the reader's shared memory.
#include <cooperative_groups.h>

namespace vicinity::cuda {

using Word = unsigned long long;

__device__ __forceinline__ void write_relaxed(Word* to, Word word) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
[[nodiscard]] __device__ __forceinline__ Word read_relaxed(const Word* from) {
  Word word;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}
/// The same from this block's shared memory, by its address there.
[[nodiscard]] __device__ __forceinline__ Word read_shared(unsigned from) {
  Word word;
  asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(word) : "r"(from) : "memory");
  return word;
}
/// Two words that lie in 16 aligned bytes; each by itself is written and read whole.
__device__ __forceinline__ void write_relaxed(Word* to, Word first, Word second) {
  asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second) : "memory");
}
__device__ __forceinline__ void read_relaxed(const Word* from, Word& first, Word& second) {
  asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(from) : "memory");
}

/// 32 bits of content above the number of the step. Numbers start at 1.
__device__ __forceinline__ void send_word(Word* to, unsigned content, unsigned step) {
  write_relaxed(to, static_cast<Word>(content) << 32 | step);
}
[[nodiscard]] __device__ __forceinline__ bool fresh(Word word, unsigned step) { return static_cast<unsigned>(word) == step; }
[[nodiscard]] __device__ __forceinline__ unsigned content_of(Word word) { return static_cast<unsigned>(word >> 32); }

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

/// `pointer` into this block's shared memory, in block `rank` of the cluster. Without clusters a block is alone.
template <class T>
[[nodiscard]] __device__ __forceinline__ T* in_block(T* pointer, int rank) {
#if __CUDA_ARCH__ >= 900
  return cooperative_groups::this_cluster().map_shared_rank(pointer, rank);
#else
  return rank == 0 ? pointer : nullptr;
#endif
}

}  // namespace vicinity::cuda
