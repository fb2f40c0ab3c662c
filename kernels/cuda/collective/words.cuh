#pragma once
// Words of 64 or 128 bits that one block writes and another polls, each written and read whole: racecheck's reports of this file are not
// races.
//
// Hand-written: cuda::atomic_ref has no access to 16 bytes that need not be whole together, and asks before each access whether it is to
// local memory.
#include <cstdint>

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

/// Four numbers: a message, of which the first is, or ends in, the key; or a part of one.
template <class T>
struct alignas(16) Four {
  T v[4];
};
/// 128 bits, written and read whole.
__device__ __forceinline__ void write_relaxed(Four<std::uint32_t>* to, const Four<std::uint32_t>& word) {
  asm volatile(
      "{ .reg .b64 l, h; .reg .b128 w; mov.b64 l, {%1, %2}; mov.b64 h, {%3, %4}; mov.b128 w, {l, h};"
      "  st.relaxed.gpu.b128 [%0], w; }" ::"l"(to),
      "r"(word.v[0]), "r"(word.v[1]), "r"(word.v[2]), "r"(word.v[3])
      : "memory");
}
[[nodiscard]] __device__ __forceinline__ Four<std::uint32_t> read_relaxed(const Four<std::uint32_t>* from) {
  Four<std::uint32_t> word;
  asm volatile(
      "{ .reg .b64 l, h; .reg .b128 w; ld.relaxed.gpu.b128 w, [%4];"
      "  mov.b128 {l, h}, w; mov.b64 {%0, %1}, l; mov.b64 {%2, %3}, h; }"
      : "=r"(word.v[0]), "=r"(word.v[1]), "=r"(word.v[2]), "=r"(word.v[3])
      : "l"(from)
      : "memory");
  return word;
}

/// 32 bits of content above the number of the step.
__device__ __forceinline__ void send_word(Word* to, unsigned content, unsigned step) {
  write_relaxed(to, static_cast<Word>(content) << 32 | step);
}
[[nodiscard]] __device__ __forceinline__ bool fresh(Word word, unsigned step) { return static_cast<unsigned>(word) == step; }
[[nodiscard]] __device__ __forceinline__ unsigned content_of(Word word) { return static_cast<unsigned>(word >> 32); }

}  // namespace vicinity::cuda
