#pragma once
// The mailbox of a search whose blocks lie in the grids of several ranks, a GPU and a process each.
//
// Problem. Each step has the least key of all blocks of all ranks, in all of them, and the host has no part in it.
//
// Data layout. Every rank has a mailbox in its device memory, which all ranks have mapped (mapped_mailbox.cuh): two sets of messages, for
// odd and even steps, [set][block of all ranks]. Messages are those of kernels/cuda/collective/mailbox.cuh: words that carry the low bits
// of the step, each written and read whole.
//
// Mapping. A warp of each block: lane r writes the block's message to the mailbox of rank r; then all lanes poll the messages in the
// mailbox of their own rank, in its L2.
//
// Synchronisation. Words are their own flags, of system scope, relaxed: nothing else is handed over, so that no fence is needed. A block
// writes the message of step s + 1 over that of step s - 1 once it has read all messages of step s. Their writers had read those of step
// s - 1 before: nobody reads what is written over. Steps go on from launch to launch, and the mailbox is zero before step 1 on all ranks:
// the host sees to that when it prepares a run, in which the number of blocks stays as it is. Launches need not begin together.
//
// Nobody waits for ever: a warp without an answer for `patience` leaves, and sets the word that makes the others of its rank leave. The
// host then ends the rank, and with it all.
//
// Cost: a store to each GPU and the latency of the link, and polling 8 or 16 bytes a block.
#include <cstdint>

#include "kernels/cuda/collective/key.cuh"
#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/lsm/ranks/exchange.hpp"

namespace vicinity::lsm {

// --- words that several GPUs and the host see: racecheck's reports of them are not races ------------------------------------------

__device__ __forceinline__ void write_for_all(cuda::Word* to, cuda::Word word) {
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
[[nodiscard]] __device__ __forceinline__ cuda::Word read_of_all(const cuda::Word* from) {
  cuda::Word word;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}
/// Of this GPU.
[[nodiscard]] __device__ __forceinline__ cuda::Word nanoseconds() {
  cuda::Word now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// --- the mailbox ------------------------------------------------------------------------------------------------------------------

template <cuda::PackableKey K>
struct RankMailbox {
  using Message = cuda::KeyMessage<K>;

  Message* of_rank[most_mapped_ranks];  ///< each rank's mailbox, as this rank has mapped it: [2][block]
  std::int32_t rank, ranks;
  std::int32_t blocks;   ///< of all ranks; all of a rank's are resident
  cuda::Word patience;   ///< nanoseconds
  cuda::Word* given_up;  ///< in the memory of this rank's host: not 0 once a warp has left without its answer

  /// The least of the keys of all blocks, in all lanes. By one whole warp of each block, all lanes with the block's key; `block` counts
  /// through all ranks. False, and no key, where it was given up.
  [[nodiscard]] __device__ __forceinline__ bool argmin(const K& of_block, unsigned step, std::int32_t block, K& least) const {
    const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
    const std::int32_t set = static_cast<std::int32_t>(step & 1) * blocks;
    if (lane < ranks) {
      const Message message = Message::of(of_block, step);
      Message* const to = of_rank[lane] + set + block;
#pragma unroll
      for (int k = 0; k < Message::words; ++k) write_for_all(to->word + k, message.word[k]);
    }
    K mine = cuda::no_key<K>();
    const bool there = collect(of_rank[rank] + set, step, mine);
    least = cuda::warp_argmin(mine);
    return there;
  }

 private:
  static constexpr int at_once = Message::words == 1 ? 5 : 3;  ///< messages a lane asks for before it looks at any
  static constexpr unsigned polls_a_look = 4096;               ///< at clock and word

  /// This lane's messages of the step. The warp leaves as one.
  [[nodiscard]] __device__ __forceinline__ bool collect(const Message* now, unsigned step, K& mine) const {
    for (std::int32_t first = 0; first < blocks; first += 32 * at_once) {
      Message message[at_once];
      bool missing = true;
      cuda::Word began = 0;
      for (unsigned polls = 1; __any_sync(~0u, missing); ++polls) {
        missing = false;
#pragma unroll
        for (int k = 0; k < at_once; ++k)
#pragma unroll
          for (int w = 0; w < Message::words; ++w) message[k].word[w] = read_of_all(now[place(first, k)].word + w);
#pragma unroll
        for (int k = 0; k < at_once; ++k) missing |= !message[k].is_fresh(step);
        if (polls % polls_a_look == 0 && gives_up(began)) return false;
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) cuda::lower(mine, message[k].key());
    }
    return true;
  }
  /// Of this lane's message k; the last maybe more than once.
  [[nodiscard]] __device__ __forceinline__ std::int32_t place(std::int32_t first, int k) const {
    return min(first + 32 * k + static_cast<std::int32_t>(threadIdx.x % 32), blocks - 1);
  }
  /// The same in all lanes. `began`: when the first look was; 0: this is it.
  [[nodiscard]] __device__ __forceinline__ bool gives_up(cuda::Word& began) const {
    bool leaves = false;
    if (threadIdx.x % 32 == 0) {
      const cuda::Word now = nanoseconds();
      if (began == 0) began = now;
      leaves = now - began > patience;
      if (leaves) write_for_all(given_up, 1);
      leaves = leaves || read_of_all(given_up) != 0;
    }
    return __any_sync(~0u, leaves) != 0;
  }
};

}  // namespace vicinity::lsm
