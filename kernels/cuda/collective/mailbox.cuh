#pragma once
// How blocks that run at the same time tell each other something each step, without a barrier.
//
// A message is 64-bit words, each written and read whole, which carry the low bits of the number of the step: who polls a word knows a
// fresh one, and needs neither fence nor flag. Steps count from 1, and the mailbox is zero before the first. There are two sets of places,
// for odd and even steps: a block writes a step's message once it has read all of the step before, so nobody still reads what it writes
// over, and the step in a place, modulo 4, tells a fresh message from the last one there.
//
// Three mailboxes, by where the words lie:
//   GridMailbox     in device memory (L2): a block writes one message, or copies of it, and reads all;
//   ClusterMailbox  in the shared memory of the reader: a block writes its message to every block of the cluster;
//   CountedMailbox  the same by asynchronous stores, whose bytes the reader's mbarrier counts: every warp may wait for itself, and
//                   messages of 16 or 32 bytes need no step in them. sm_90.
// Stamped<T> is a message of any size: plain stores, then the step with release order. It costs a fence and a second round trip.
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

#include "core/util/math.hpp"
#include "kernels/cuda/collective/cluster.cuh"
#include "kernels/cuda/collective/key.cuh"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/cuda/collective/words.cuh"

namespace vicinity::cuda {

// --- numbers of 32 or 64 bits, 32 bits a word -----------------------------------------------------------------------------

template <class T>
inline constexpr int words_of = sizeof(T) / 4;

/// A number in words `stride` apart, its low half first.
template <class T>
__device__ __forceinline__ void send(Word* to, std::int32_t stride, T value, unsigned step) {
  for (int k = 0; k < words_of<T>; ++k)
    send_word(to + k * stride, static_cast<unsigned>(static_cast<unsigned long long>(value) >> 32 * k), step);
}
/// `Count` numbers in words `stride` apart, one after the other; waits for all of them at once. By any threads.
template <int Count, class T>
__device__ __forceinline__ void receive(T (&numbers)[Count], const Word* from, std::int32_t stride, unsigned step) {
  Word word[Count][words_of<T>];
  bool waiting = true;
  while (waiting) {
    waiting = false;
#pragma unroll
    for (int k = 0; k < Count * words_of<T>; ++k) word[k / words_of<T>][k % words_of<T>] = read_relaxed(from + k * stride);
#pragma unroll
    for (int k = 0; k < Count * words_of<T>; ++k) waiting |= !fresh(word[k / words_of<T>][k % words_of<T>], step);
  }
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    unsigned long long bits = word[k][0] >> 32;
    if constexpr (words_of<T> == 2) bits |= word[k][1] >> 32 << 32;
    numbers[k] = static_cast<T>(bits);
  }
}

// --- keys ----------------------------------------------------------------------------------------------------------------

/// A key on its way: one or two words with an equal share of its bits each, the highest first, above as many bits of the step as are left:
/// 32 bits of step beside a key of 32 or 64 bits, 16 beside one of 96, 2 beside one of 62 or 124.
template <PackableKey K>
struct alignas(8 * divide_up(key_bits<K>, 62)) KeyMessage {
  static constexpr int words = divide_up(key_bits<K>, 62), content_bits = divide_up(key_bits<K>, words), step_bits = 64 - content_bits;
  static constexpr Word step_mask = (Word{1} << step_bits) - 1;

  Word word[words];

  [[nodiscard]] static __device__ __forceinline__ KeyMessage of(const K& key, unsigned step) {
    if constexpr (words == 1) {
      return {{packed(key) << step_bits | (step & step_mask)}};
    } else {
      const unsigned __int128 bits = packed(key);
      return {{static_cast<Word>(bits >> content_bits) << step_bits | (step & step_mask),
               static_cast<Word>(bits) << step_bits | (step & step_mask)}};
    }
  }
  [[nodiscard]] __device__ __forceinline__ bool is_fresh(unsigned step) const {
    constexpr auto mask = static_cast<unsigned>(step_mask);
    unsigned differs = static_cast<unsigned>(word[0]) ^ step;
    if constexpr (words == 2) differs |= static_cast<unsigned>(word[0] ^ word[1]);
    return (differs & mask) == 0;
  }
  [[nodiscard]] __device__ __forceinline__ K key() const {
    if constexpr (std::unsigned_integral<K> && words == 1) {
      return static_cast<K>(word[0] >> step_bits);
    } else if constexpr (words == 1) {
      return unpacked(word[0] >> step_bits);
    } else {
      return unpacked(static_cast<unsigned __int128>(word[0] >> step_bits) << content_bits | word[1] >> step_bits);
    }
  }
  __device__ __forceinline__ void write(KeyMessage* to) const {
    if constexpr (words == 1)
      write_relaxed(to->word, word[0]);
    else
      write_relaxed(to->word, word[0], word[1]);
  }
  __device__ __forceinline__ void read(const KeyMessage* from) {
    if constexpr (words == 1)
      word[0] = read_relaxed(from->word);
    else
      read_relaxed(from->word, word[0], word[1]);
  }

 private:
  using Bits = std::conditional_t<words == 1, Word, unsigned __int128>;

  [[nodiscard]] static __device__ __forceinline__ Bits packed(const K& key) {
    if constexpr (std::unsigned_integral<K>)
      return key;
    else
      return static_cast<Bits>(key.high) << K::low_bits | key.low;
  }
  [[nodiscard]] static __device__ __forceinline__ K unpacked(Bits bits) {
    if constexpr (std::unsigned_integral<K>) {
      return static_cast<K>(bits);
    } else {
      K key;
      key.high = static_cast<decltype(key.high)>(bits >> K::low_bits);
      key.low = static_cast<decltype(key.low)>(bits & ((Bits{1} << K::low_bits) - 1));
      return key;
    }
  }
};

/// visit(k, message) for the messages *at(k) of k = this lane, 32 more, ... below `count`, each once it is of this step, the last maybe
/// more than once. Waits for five at a time, all of which are asked for before any is looked at: a poll's latency is that of L2, and so
/// one round serves 160 blocks. By a whole warp.
template <class Message, class At, class Visit>
__device__ __forceinline__ void poll(int count, unsigned step, const At& at, const Visit& visit) {
  constexpr int at_once = 5;
  for (int first = static_cast<int>(threadIdx.x) % 32; first < count; first += 32 * at_once) {
    Message message[at_once];
    if constexpr (sizeof(Message) > sizeof(Word)) {
#pragma unroll
      for (int k = 0; k < at_once; ++k) message[k].read(at(min(first + 32 * k, count - 1)));
    }
    bool waiting = true;
    while (waiting) {
      waiting = false;
      if constexpr (sizeof(Message) > sizeof(Word)) {  // again only what is missing
#pragma unroll
        for (int k = 0; k < at_once; ++k)
          if (!message[k].is_fresh(step)) {
            message[k].read(at(min(first + 32 * k, count - 1)));
            waiting = true;
          }
      } else {
#pragma unroll
        for (int k = 0; k < at_once; ++k) message[k].read(at(min(first + 32 * k, count - 1)));
#pragma unroll
        for (int k = 0; k < at_once; ++k) waiting |= !message[k].is_fresh(step);
      }
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) visit(min(first + 32 * k, count - 1), message[k]);
  }
}

/// The least of such messages of one word each, once all are of this step. By a whole warp.
template <class Message, class At>
[[nodiscard]] __device__ __forceinline__ Word least_word(int count, unsigned step, const At& at) {
  constexpr int at_once = 5;
  const auto wait = [&](Word(&words)[at_once], int first) {
    bool waiting = true;
    while (waiting) {
      waiting = false;
#pragma unroll
      for (int k = 0; k < at_once; ++k) words[k] = read_relaxed(at(min(first + 32 * k, count - 1))->word);
#pragma unroll
      for (int k = 0; k < at_once; ++k) waiting |= !Message{{words[k]}}.is_fresh(step);
    }
  };
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Word least[at_once], others[at_once];
  wait(least, lane);
  for (int first = 32 * at_once; first < count; first += 32 * at_once) {
    wait(others, first + lane);
#pragma unroll
    for (int k = 0; k < at_once; ++k) least[k] = min(least[k], others[k]);
  }
  return warp_min(least);
}

/// The keys of the blocks of a grid, or of so many of its blocks, in device memory. Each message is written to `Copies` places, a power of
/// two up to 32, and a block polls one copy of all messages: few slices of the L2 cache hold a copy, and all who poll it wait for them.
template <PackableKey K, unsigned Copies = 1>
struct GridMailbox {
  using Message = KeyMessage<K>;
  static_assert(Copies <= 32 && (Copies & (Copies - 1)) == 0);

  Message* messages;    ///< [2][copy][pitch], zero before the first step
  std::int32_t blocks;  ///< that take part, all resident

  /// Messages from a copy to the next, which should not lie in the same slices: more than the blocks of any GPU, if there are copies.
  [[nodiscard]] static VICINITY_HD std::int32_t pitch(std::int32_t blocks) { return Copies == 1 ? blocks : 512; }
  [[nodiscard]] static VICINITY_HD std::size_t size(std::int32_t blocks) {
    return std::size_t{2 * Copies} * static_cast<std::size_t>(pitch(blocks));
  }

  /// The least of the blocks' keys, in all lanes. By one whole warp of each block, all lanes with the block's key.
  [[nodiscard]] __device__ __forceinline__ K argmin(const K& of_block, unsigned step, unsigned block) const {
    const auto lane = static_cast<std::int32_t>(threadIdx.x % 32), stride = pitch(blocks);
    Message *const to = messages + lane * stride + block, *const from = messages + static_cast<std::int32_t>(block % Copies) * stride;
    const std::int32_t set = static_cast<std::int32_t>((step & 1) * Copies) * stride;
    if (lane < static_cast<std::int32_t>(Copies)) Message::of(of_block, step).write(to + set);
    const auto at = [&](int k) { return from + k + set; };
    if constexpr (Message::words == 1) {  // messages of a step compare like their keys
      return Message{{least_word<Message>(blocks, step, at)}}.key();
    } else {
      K least = no_key<K>();
      poll<Message>(blocks, step, at, [&](int, const Message& message) { lower(least, message.key()); });
      return warp_argmin(least);
    }
  }
  [[nodiscard]] __device__ __forceinline__ K argmin(const K& of_block, unsigned step) const { return argmin(of_block, step, blockIdx.x); }
};

/// The keys of the blocks of a cluster, in shared memory, at the same place in all of them.
template <PackableKey K>
struct ClusterMailbox {
  static constexpr int most_blocks = 16;
  using Message = KeyMessage<K>;

  Message messages[2][most_blocks];  ///< zero in all blocks before the first step: a cluster barrier is between

  /// By all threads of a block of 32 or more.
  __device__ __forceinline__ void clear() {
    if (threadIdx.x < 2 * most_blocks) messages[threadIdx.x / most_blocks][threadIdx.x % most_blocks] = {};
  }

  /// The least of the blocks' keys, in all lanes. By one whole warp of each block, all lanes with the block's key. Before a block leaves,
  /// all must have read its messages: another cluster barrier.
  [[nodiscard]] __device__ __forceinline__ K argmin(const K& of_block, unsigned step, std::int32_t blocks, std::int32_t rank) {
    const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
    Message* const now = messages[step & 1];
    if (lane < blocks) Message::of(of_block, step).write(in_block(now + rank, lane));
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(now + lane % most_blocks));
    Message message{};
    bool missing = true;
    while (__any_sync(~0u, missing)) {  // the warp leaves as one
#pragma unroll
      for (int k = 0; k < Message::words; ++k) message.word[k] = read_shared(address + 8 * k);
      missing = lane < blocks && !message.is_fresh(step);
    }
    return warp_argmin(lane < blocks ? message.key() : no_key<K>());
  }
};

// --- counted stores ---------------------------------------------------------------------------------------------------------
// By addresses of shared memory: cuda::ptx has the same instructions, but derives addresses anew from pointers at each use.

/// An mbarrier that counts the bytes of asynchronous stores to this block's shared memory.
struct Arrivals {
  std::uint32_t address;  ///< of 8 aligned bytes

  /// By one thread; a cluster barrier comes before the first store.
  __device__ __forceinline__ void init() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  /// Once a phase, by one thread: so many bytes are to come.
  __device__ __forceinline__ void expect([[maybe_unused]] std::uint32_t bytes) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
#endif
  }
  /// Until the phase, whose parity this is, is over. By any threads. The bytes counted lie in this block's shared memory, and st.async
  /// orders no other writes: acquire at cluster scope would but invalidate L1, in every warp and step.
  __device__ __forceinline__ void wait([[maybe_unused]] unsigned parity) const {
#if __CUDA_ARCH__ >= 900
    unsigned over = 0;
    while (over == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(over)
                   : "r"(address), "r"(parity)
                   : "memory");
#endif
  }
};

/// Two of them, for odd and even steps, each a phase every other step.
struct StepArrivals {
  std::uint32_t address;

  [[nodiscard]] __device__ __forceinline__ Arrivals of(unsigned step) const { return {address + (step & 1) * 8}; }
  /// By threads 0 and 1 of each block; a cluster barrier comes after.
  __device__ __forceinline__ void init(unsigned which) const { of(which).init(); }
  /// Until all bytes of this step are there. By any threads.
  __device__ __forceinline__ void wait(unsigned step) const { of(step).wait((step - 1) >> 1 & 1); }
};

/// 16 bytes to `to`, counted by `arrivals`; both addresses in the block they go to.
__device__ __forceinline__ void store_counted([[maybe_unused]] std::uint32_t to, [[maybe_unused]] std::uint32_t arrivals,
                                              [[maybe_unused]] unsigned a, [[maybe_unused]] unsigned b, [[maybe_unused]] unsigned c,
                                              [[maybe_unused]] unsigned d) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(a), "r"(b),
               "r"(c), "r"(d), "r"(arrivals)
               : "memory");
#endif
}
__device__ __forceinline__ void store_counted([[maybe_unused]] std::uint32_t to, [[maybe_unused]] std::uint32_t arrivals,
                                              [[maybe_unused]] Word a, [[maybe_unused]] Word b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(to), "l"(a), "l"(b), "r"(arrivals)
               : "memory");
#endif
}
/// 8 bytes.
__device__ __forceinline__ void store_counted([[maybe_unused]] std::uint32_t to, [[maybe_unused]] std::uint32_t arrivals,
                                              [[maybe_unused]] Word word) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to), "l"(word), "r"(arrivals) : "memory");
#endif
}

/// Messages of four numbers of 32 or 64 bits each between the blocks of a cluster. By one warp: send(). By any whole warps, once they know
/// that step: wait(). A block may send a step's message when all its warps have read those of the step before the last.
template <class T>
struct CountedMailbox {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  static constexpr std::uint32_t message_bytes = sizeof(Four<T>);

  std::uint32_t messages;  ///< Four<T> [2][block], at the same address in all blocks
  StepArrivals arrivals;
  std::int32_t blocks, rank;

  /// By one whole warp: the message, which all lanes have, to all blocks.
  __device__ __forceinline__ void send(const Four<T>& message, unsigned step) const {
    const auto lane = static_cast<std::int32_t>(threadIdx.x) % 32;
    const Arrivals now = arrivals.of(step);
    if (lane < blocks) {
      const std::uint32_t to = address_in_block(
                              messages + static_cast<std::uint32_t>(static_cast<int>(step & 1) * blocks + rank) * message_bytes, lane),
                          counter = address_in_block(now.address, lane);
      if constexpr (sizeof(T) == 4) {
        store_counted(to, counter, static_cast<unsigned>(message.v[0]), static_cast<unsigned>(message.v[1]),
                      static_cast<unsigned>(message.v[2]), static_cast<unsigned>(message.v[3]));
      } else {
        store_counted(to, counter, static_cast<Word>(message.v[0]), static_cast<Word>(message.v[1]));
        store_counted(to + 16, counter, static_cast<Word>(message.v[2]), static_cast<Word>(message.v[3]));
      }
    }
    if (lane == 0) now.expect(static_cast<std::uint32_t>(blocks) * message_bytes);
  }
  /// The blocks' messages of the step, once they are there.
  [[nodiscard]] __device__ __forceinline__ const Four<T>* wait(unsigned step) const {
    arrivals.wait(step);
    return reinterpret_cast<const Four<T>*>(__cvta_shared_to_generic(messages)) + static_cast<int>(step & 1) * blocks;
  }
};

// --- messages of any size --------------------------------------------------------------------------------------------------

/// A message too large for words of its own: `step` is written last, with release order, and read first, with acquire.
template <class T>
struct Stamped {
  T content;
  std::uint32_t step;  ///< of which this is the message; 0: none yet

  __device__ __forceinline__ void write(const T& message, std::uint32_t of_step) {
    content = message;
    ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device>(step).store(of_step, ::cuda::memory_order_release);
  }
  /// Waits for it. By any thread.
  [[nodiscard]] __device__ __forceinline__ const T& read(std::uint32_t of_step) {
    const ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device> written(step);
    while (written.load(::cuda::memory_order_acquire) != of_step) {
    }
    return content;
  }
};

}  // namespace vicinity::cuda
