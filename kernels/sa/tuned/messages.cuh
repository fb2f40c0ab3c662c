#pragma once
// What the blocks of one chain tell each other: by words that carry the number of the step (kernels/cuda/words.cuh), in a cluster in the
// reader's shared memory, else in device memory. What each block of a cluster found goes to all by asynchronous stores, whose arrival the
// reader's mbarrier counts.
#include <cstdint>

#include "kernels/cuda/warp.cuh"
#include "kernels/cuda/words.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

using cuda::in_block;
using cuda::Word;

/// Where a chain runs.
enum class Space { block, cluster, grid };
[[nodiscard]] constexpr const char* name_of(Space space) {
  return space == Space::block ? "block" : space == Space::cluster ? "cluster" : "grid";
}

template <class T>
inline constexpr int words_of = sizeof(T) / 4;

/// A number in words `stride` apart.
template <class T>
__device__ __forceinline__ void send(Word* to, std::int32_t stride, T value, unsigned step) {
  for (int k = 0; k < words_of<T>; ++k)
    cuda::send_word(to + k * stride, static_cast<unsigned>(static_cast<unsigned long long>(value) >> 32 * k), step);
}
/// `Count` numbers in words `stride` apart, one after the other; waits for all of them at once.
template <int Count, class T>
__device__ __forceinline__ void receive(T (&numbers)[Count], const Word* from, std::int32_t stride, unsigned step) {
  Word word[Count][words_of<T>];
  bool waiting = true;
  while (waiting) {
    waiting = false;
#pragma unroll
    for (int k = 0; k < Count * words_of<T>; ++k) word[k / words_of<T>][k % words_of<T>] = cuda::read_relaxed(from + k * stride);
#pragma unroll
    for (int k = 0; k < Count * words_of<T>; ++k) waiting |= !cuda::fresh(word[k / words_of<T>][k % words_of<T>], step);
  }
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    unsigned long long bits = word[k][0] >> 32;
    if constexpr (words_of<T> == 2) bits |= word[k][1] >> 32 << 32;
    numbers[k] = static_cast<T>(bits);
  }
}

/// An accepted proposal. Keys are ordered as proposals are: rows after the front, then the column.
template <class Delta>
struct Found {
  static constexpr unsigned none = ~0u;
  static constexpr int column_bits = 11;
  unsigned key = none;
  Delta delta = 0;
  Delta x = 0, y = 0;  ///< H[r][p[s]] and H[s][p[r]]

  [[nodiscard]] static __device__ __forceinline__ unsigned key_of(std::int32_t row, std::int32_t column) {
    return static_cast<unsigned>(row) << column_bits | static_cast<unsigned>(column);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t row() const { return static_cast<std::int32_t>(key >> column_bits); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t column() const {
    return static_cast<std::int32_t>(key & ((1u << column_bits) - 1));
  }
};

/// What a block tells the others of its first accepted proposal.
template <class Delta>
struct Message {
  Word key, numbers[3 * words_of<Delta>];  ///< delta, x, y

  __device__ __forceinline__ void write(const Found<Delta>& found, unsigned step) {
    cuda::send_word(&key, found.key, step);
    if (found.key == Found<Delta>::none) return;
    send(numbers, 1, found.delta, step);
    send(numbers + words_of<Delta>, 1, found.x, step);
    send(numbers + 2 * words_of<Delta>, 1, found.y, step);
  }
  /// `known`: the key, which is not none.
  [[nodiscard]] __device__ __forceinline__ Found<Delta> read(unsigned known, unsigned step) const {
    Delta all[3];
    receive(all, numbers, 1, step);
    return {known, all[0], all[1], all[2]};
  }
};

template <class Delta>
[[nodiscard]] VICINITY_HD std::int32_t inbox_words(std::int32_t pitch) {
  return 2 * 2 * words_of<Delta> * pitch;
}

/// The least key among the messages, each waited for, of which this lane looks at every 32nd; and its message.
template <class Delta>
struct LeastKey {
  unsigned key = Found<Delta>::none;
  const Message<Delta>* from = nullptr;

  __device__ __forceinline__ void wait(const Message<Delta>* board, int messages, unsigned step) {
    cuda::visit_words(
        messages, [&](int k) { return &board[k].key; }, [&](Word word) { return cuda::fresh(word, step); },
        [&](int k, Word word) {
          if (cuda::content_of(word) >= key) return;
          key = cuda::content_of(word);
          from = &board[k];
        });
  }
};

/// The warp's first, into `place`. Keys are distinct unless none.
template <class Delta>
__device__ __forceinline__ void leave_first(const Found<Delta>& mine, Found<Delta>& place) {
  const unsigned least = cuda::warp_min(mine.key);
  if (mine.key == least && (least != Found<Delta>::none || threadIdx.x % 32 == 0)) place = mine;
}

/// A Found within a cluster, as it lies in the reader's shared memory.
template <class Delta>
struct alignas(16) Letter {
  Delta key, delta, x, y;
};

// --- a cluster's letters; addresses are those of shared memory ----------------------------------------------------------

__device__ __forceinline__ void prepare_arrivals([[maybe_unused]] std::uint32_t arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrivals) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
/// Once a phase and block, by one thread: so many bytes are to come.
__device__ __forceinline__ void expect([[maybe_unused]] std::uint32_t arrivals, [[maybe_unused]] std::uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrivals), "r"(bytes) : "memory");
#endif
}
/// `address` of this block, in block `rank` of the cluster.
[[nodiscard]] __device__ __forceinline__ std::uint32_t of_block(std::uint32_t address, [[maybe_unused]] int rank) {
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(address), "r"(rank));
#endif
  return address;
}
/// `letter` and `arrivals` in the block it goes to.
template <class Delta>
__device__ __forceinline__ void post([[maybe_unused]] const Found<Delta>& found, [[maybe_unused]] std::uint32_t letter,
                                     [[maybe_unused]] std::uint32_t arrivals) {
#if __CUDA_ARCH__ >= 900
  if constexpr (sizeof(Delta) == 4) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(letter), "r"(found.key),
                 "r"(found.delta), "r"(found.x), "r"(found.y), "r"(arrivals)
                 : "memory");
  } else {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(letter),
                 "l"(static_cast<Delta>(found.key)), "l"(found.delta), "r"(arrivals)
                 : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(letter + 16), "l"(found.x),
                 "l"(found.y), "r"(arrivals)
                 : "memory");
  }
#endif
}
/// Until the phase, whose parity this is, is over.
__device__ __forceinline__ void await([[maybe_unused]] std::uint32_t arrivals, [[maybe_unused]] unsigned parity) {
#if __CUDA_ARCH__ >= 900
  unsigned over = 0;
  while (over == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over)
                 : "r"(arrivals), "r"(parity)
                 : "memory");
#endif
}

}  // namespace vicinity::sa
