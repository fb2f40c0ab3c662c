#pragma once
// 64-bit words that one block writes and another polls, each written and read whole: racecheck's reports of this file are not races.
//
// Hand-written: cuda::atomic_ref has no access to 16 bytes that need not be whole together, and asks before each access whether it is to
// local memory.
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

/// 32 bits of content above the number of the step.
__device__ __forceinline__ void send_word(Word* to, unsigned content, unsigned step) {
  write_relaxed(to, static_cast<Word>(content) << 32 | step);
}
[[nodiscard]] __device__ __forceinline__ bool fresh(Word word, unsigned step) { return static_cast<unsigned>(word) == step; }
[[nodiscard]] __device__ __forceinline__ unsigned content_of(Word word) { return static_cast<unsigned>(word >> 32); }

}  // namespace vicinity::cuda
