#pragma once
// The tuned annealing: how a chain is dealt to blocks, what a block keeps in shared memory, what blocks tell each other.
//
// Problem: a proposal's delta takes O(1) from the inner products F, in the notation of core/problems/qap/inner_products.hpp, and a swap
// adds products of two vectors to F. F is too large for one block, and every element of it changes at every swap.
// Data layout: a chain runs on one block, on a cluster or on the whole grid (Scope). Facility i belongs to block i mod blocks, which keeps
// F[i][.] and F[.][i] in shared memory, in the order of the facilities. Every block has the permutation, the diagonal of F and the vectors
// d and e of the last swap; and the matrices, where they fit. F of symmetric matrices is kept undoubled. e has locations r and s from
// before the swap, and so the other sign: products are subtracted.
// Phases: products_kernel makes F at the start of a launch; the search (annealing.cuh) keeps it up to date.
// Synchronisation: messages of a step. Columns of F and, where an update takes longer than messages do, first accepted proposals are polled
// words (kernels/cuda/collective/mailbox.cuh), in a cluster in the shared memory of the reader, in the grid in device memory.
// Cost: 2 n^2 / blocks elements a block; products_kernel reads 2 n^3 / 32 entries.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

using cuda::Word;

/// The part of the machine that a chain runs on.
enum class Scope { block, cluster, grid };
[[nodiscard]] constexpr const char* name_of(Scope scope) {
  return scope == Scope::block ? "block" : scope == Scope::cluster ? "cluster" : "grid";
}

/// Which matrices lie in shared memory: as many as fit.
enum class SharedMatrices { none, b, both };

/// How the work of a chain is dealt. Facility i's row belongs to block i % blocks; within it to team (i / blocks) % teams, which scans it.
/// Of the row its thread t scans the columns t + k * team.
struct RowsPolicy {
  static constexpr int most_scanners = 352;    ///< threads of a block that scan
  static constexpr int progress_threads = 32;  ///< the last warp of a block, which keeps the chain's state and exchanges messages
  static constexpr int most_threads = most_scanners + progress_threads, some_columns = 3, most_columns = 6;
  static constexpr std::int32_t largest_size = 1 << 11;  ///< columns of a key have so many bits

  Scope scope;
  std::int32_t blocks;                       ///< of a chain
  std::int32_t teams;                        ///< of a block
  std::int32_t team;                         ///< threads of a team
  std::int32_t rows;                         ///< most rows of a block
  std::int32_t pitch;                        ///< n, rounded up to 16-byte loads
  std::int32_t columns;                      ///< of a thread: 1, some or most
  std::uint32_t reciprocal, reciprocal_all;  ///< 2^32 over blocks and over all teams, rounded up
  SharedMatrices matrices;

  [[nodiscard]] static RowsPolicy of(std::int32_t n, Scope scope, std::int32_t blocks, std::int32_t teams) {
    const std::int32_t columns = n <= most_scanners ? 1 : n <= some_columns * most_scanners ? some_columns : most_columns;
    const std::int32_t team = divide_up(divide_up(n, columns), 32) * 32;
    return {.scope = scope,
            .blocks = blocks,
            .teams = teams,
            .team = team,
            .rows = divide_up(n, blocks),
            .pitch = divide_up(n, 4) * 4,
            .columns = columns,
            .reciprocal = reciprocal_of(blocks),
            .reciprocal_all = reciprocal_of(blocks * teams),
            .matrices = SharedMatrices::none};
  }
  /// i / blocks and i / (blocks * teams), for i below 2^16.
  [[nodiscard]] __device__ __forceinline__ std::int32_t by_blocks(std::int32_t i) const { return quotient(i, reciprocal); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t by_all_teams(std::int32_t i) const { return quotient(i, reciprocal_all); }
  /// In a cluster: do blocks send their first accepted proposals by counted stores, which every warp reads for itself? Where an update
  /// takes longer than messages do, polled words are faster, which the progress warp exchanges meanwhile (on an H100 from n = 150 or so).
  [[nodiscard]] VICINITY_HD bool counted() const {
    return scope == Scope::cluster && matrices == SharedMatrices::both && divide_up(rows * groups(), scanners()) <= 3;
  }
  /// Groups of four columns in a row.
  [[nodiscard]] VICINITY_HD std::int32_t groups() const { return pitch / 4; }
  /// Threads of a block that scan; the progress warp comes after them.
  [[nodiscard]] VICINITY_HD std::int32_t scanners() const { return teams * team; }
  [[nodiscard]] VICINITY_HD std::int32_t threads() const { return scanners() + progress_threads; }

 private:
  /// 0 for 1.
  [[nodiscard]] static std::uint32_t reciprocal_of(std::int32_t divisor) {
    return divisor == 1 ? 0 : static_cast<std::uint32_t>((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(divisor)) + 1;
  }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t quotient(std::int32_t i, std::uint32_t reciprocal) {
    return reciprocal == 0 ? i : static_cast<std::int32_t>(__umulhi(static_cast<unsigned>(i), reciprocal));
  }
};

/// The parts of the machine that a chain of size n may get, the best first. Measured on an H100 (kernels/sa/README.md).
/// Where `scope` names one, only that.
[[nodiscard]] inline std::vector<RowsPolicy> rows_policies(std::int32_t n, std::int64_t chains, const std::string& scope) {
  constexpr std::int32_t small = 32, cluster = 16;
  const std::int32_t multiprocessors = cuda::multiprocessors();
  const std::int32_t team = RowsPolicy::of(n, Scope::block, 1, 1).team;
  const RowsPolicy block = RowsPolicy::of(n, Scope::block, 1, std::max(RowsPolicy::most_scanners / team, 1));
  std::vector<RowsPolicy> policies;
  if (cuda::device_attribute(cudaDevAttrClusterLaunch) != 0)
    for (const std::int32_t blocks : {cluster, cluster / 2}) policies.push_back(RowsPolicy::of(n, Scope::cluster, blocks, 1));
  const bool scarce = chains > multiprocessors / cluster;  // more chains than clusters run at a time
  policies.insert(n <= small || scarce ? policies.begin() : policies.end(), block);
  if (chains == 1) policies.push_back(RowsPolicy::of(n, Scope::grid, multiprocessors, 1));
  if (!scope.empty()) std::erase_if(policies, [&](const RowsPolicy& policy) { return name_of(policy.scope) != scope; });
  return policies;
}

// --- what blocks tell each other -----------------------------------------------------------------------------------------

/// The first accepted proposal of a thread, warp, block or chain. Keys are ordered as proposals are: rows from the next proposal's on,
/// then columns.
template <class Delta>
struct FirstAccepted {
  static constexpr unsigned none = cuda::no_key<unsigned>();
  static constexpr int column_bits = 11;
  unsigned key = none;
  Delta delta = 0;
  Delta f_rs = 0, f_sr = 0;

  [[nodiscard]] static __device__ __forceinline__ unsigned key_of(std::int32_t row, std::int32_t column) {
    return static_cast<unsigned>(row) << column_bits | static_cast<unsigned>(column);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t row() const { return static_cast<std::int32_t>(key >> column_bits); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t column() const {
    return static_cast<std::int32_t>(key & ((1u << column_bits) - 1));
  }
};

/// A block's first accepted proposal in polled words: the key, and unless it is none the numbers.
template <class Delta>
struct AcceptedMessage {
  using Key = cuda::KeyMessage<unsigned>;
  Key key;
  Word numbers[3 * cuda::words_of<Delta>];  ///< delta, f_rs, f_sr

  __device__ __forceinline__ void write(const FirstAccepted<Delta>& first, unsigned step) {
    Key::of(first.key, step).write(&key);
    if (first.key == FirstAccepted<Delta>::none) return;
    cuda::send(numbers, 1, first.delta, step);
    cuda::send(numbers + cuda::words_of<Delta>, 1, first.f_rs, step);
    cuda::send(numbers + 2 * cuda::words_of<Delta>, 1, first.f_sr, step);
  }
  /// `key`: the message's, which is not none. Waits for the numbers.
  [[nodiscard]] __device__ __forceinline__ FirstAccepted<Delta> read(unsigned key, unsigned step) const {
    Delta all[3];
    cuda::receive(all, numbers, 1, step);
    return {key, all[0], all[1], all[2]};
  }
};

/// Words of an inbox: [parity][r or s][words of a delta][pitch].
template <class Delta>
[[nodiscard]] VICINITY_HD std::int32_t inbox_words(std::int32_t pitch) {
  return 2 * 2 * cuda::words_of<Delta> * pitch;
}

// --- memory --------------------------------------------------------------------------------------------------------------

/// Device memory that the blocks of a chain share.
template <class Delta>
struct RowsWorkspace {
  const Delta* f;                   ///< [chains of a launch][n][n]: F at the start of the launch
  Word* inbox;                      ///< [chains of a launch][inbox_words], for Scope::grid; zeroed before the launch
  AcceptedMessage<Delta>* mailbox;  ///< [chains of a launch][2][blocks], for Scope::grid; zeroed before the launch
};

extern __shared__ __align__(16) unsigned char rows_memory[];

/// Address of the block's dynamic shared memory, in a register: left to itself, nvcc derives it anew at every access.
[[nodiscard]] __device__ __forceinline__ std::uint32_t rows_memory_address() {
  std::uint32_t address = 0;
  asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(rows_memory));
  return address;
}

/// An array in the block's dynamic shared memory, by its offset.
template <class T>
struct SharedArray {
  std::uint32_t offset;

  /// `memory`: rows_memory_address().
  [[nodiscard]] __device__ __forceinline__ T* in(std::uint32_t memory) const {
    return reinterpret_cast<T*>(__cvta_shared_to_generic(memory + offset));  // loads through it are shared memory's
  }
};

/// The shared-memory layout of a block, by hand because its parts depend on n.
template <ElementTypes Types>
struct RowsLayout {
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;
  static constexpr int sides = Types::sides;

  SharedArray<Delta> f;                         ///< [row or column][rows][pitch]: F[i][j] for the own facilities i, and F[j][i]; with a
                                                ///< single block only rows, since it has all of them
  SharedArray<Delta> d;                         ///< [side][pitch]: of the last swap
  SharedArray<Delta> e;                         ///< [side][pitch]: negative
  SharedArray<Delta> diagonal;                  ///< [parity][pitch]: F[j][j]
  SharedArray<Delta> a_diagonal;                ///< [pitch]
  SharedArray<Delta> old;                       ///< [r or s][rows]: columns r and s of the rows before the swap
  SharedArray<std::uint16_t> p;                 ///< [parity][pitch]
  SharedArray<Word> inbox;                      ///< [inbox_words]: columns from other blocks; Scope::cluster
  SharedArray<AcceptedMessage<Delta>> mailbox;  ///< [parity][blocks]; Scope::cluster, polled
  SharedArray<cuda::Four<Delta>> counted;       ///< [parity][blocks]; Scope::cluster, counted
  SharedArray<std::uint64_t> mbarriers;         ///< [parity]: these count the bytes of `counted`
  SharedArray<FirstAccepted<Delta>> slots;      ///< [warps that scan], and at their end the first of all blocks
  SharedArray<Entry> a, b;                      ///< [side][n][pitch of the matrices], as RowsPolicy::matrices says
  std::uint32_t bytes = 0;

  RowsLayout(const RowsPolicy& policy, std::int32_t n, std::int32_t matrix_pitch) {
    const auto take = [this](auto& part, std::int32_t count) {
      part.offset = bytes;
      bytes = (bytes + static_cast<std::uint32_t>(count * static_cast<std::int32_t>(sizeof(*part.in(0)))) + 15) / 16 * 16;
    };
    const bool cluster = policy.scope == Scope::cluster;
    take(f, (policy.blocks > 1 ? 2 : 1) * policy.rows * policy.pitch);
    take(d, sides * policy.pitch);
    take(e, sides * policy.pitch);
    take(diagonal, 2 * policy.pitch);
    take(a_diagonal, policy.pitch);
    take(old, 2 * policy.rows);
    take(p, 2 * policy.pitch);
    take(inbox, cluster ? inbox_words<Delta>(policy.pitch) : 0);
    take(mailbox, cluster && !policy.counted() ? 2 * policy.blocks : 0);
    take(counted, policy.counted() ? 2 * policy.blocks : 0);
    take(mbarriers, policy.counted() ? 2 : 0);
    take(slots, RowsPolicy::most_scanners / 32 + 1);
    take(b, policy.matrices == SharedMatrices::none ? 0 : sides * n * matrix_pitch);
    take(a, policy.matrices == SharedMatrices::both ? sides * n * matrix_pitch : 0);
  }
};

// --- F from scratch, at the start of a launch ------------------------------------------------------------------------------

/// F (half of it where matrices are symmetric): sum over sides and k of A(k, i) B'(k, j). `permuted` is B' as permute_kernel left it.
/// Nothing for a chain at its limit. Mapping: blockIdx.z the chain, a block 32 x 32 sums, a thread four of a column; both factors pass
/// through shared memory eight 16-byte chunks at a time.
template <ElementTypes Types>
__global__ void __launch_bounds__(256) products_kernel(DeviceQap<typename Types::Entry> qap, const typename Types::Entry* permuted,
                                                       typename Types::Delta* f, const ChainState* states, std::int64_t limit) {
  if (states[blockIdx.z].next >= limit) return;
  constexpr std::int32_t tile = 32, depth = 8, each = 4;
  __shared__ uint4 a[tile][depth + 1], b[tile][depth + 1];
  const std::int32_t n = qap.n, i0 = blockIdx.y * tile, j0 = blockIdx.x * tile, tx = threadIdx.x % tile, ty = threadIdx.x / tile;
  typename Types::Delta sum[each] = {};
  for (int side = 0; side < Types::sides; ++side)
    for (std::int32_t first = 0; first < qap.chunks(); first += depth) {
      const std::int32_t row = threadIdx.x / depth, at = threadIdx.x % depth, i = i0 + row, j = j0 + row;
      const bool in = first + at < qap.chunks();
      const auto* from = permuted + ((std::size_t(blockIdx.z) * Types::sides + side) * n + j) * qap.pitch;
      a[row][at] = in && i < n ? chunk(qap.a_row(side, i), first + at) : uint4{};
      b[row][at] = in && j < n ? reinterpret_cast<const uint4*>(from)[first + at] : uint4{};
      __syncthreads();
#pragma unroll
      for (std::int32_t k = 0; k < depth; ++k)
#pragma unroll
        for (std::int32_t q = 0; q < each; ++q) sum[q] = dot<typename Types::Entry>(a[ty + q * 8][k], b[tx][k], sum[q]);
      __syncthreads();
    }
  for (std::int32_t q = 0; q < each; ++q) {
    const std::int32_t i = i0 + ty + q * 8, j = j0 + tx;
    if (i < n && j < n) f[(std::size_t(blockIdx.z) * n + i) * n + j] = sum[q];
  }
}

}  // namespace vicinity::sa
