#pragma once
// The cold phase of the tuned annealing: who holds what, and where. The search itself is in cold.cuh.
#include "kernels/sa/exchange.cuh"
#include "kernels/sa/hot.cuh"

namespace vicinity::sa {

/// How the columns of the delta matrix are dealt to the blocks of a chain. A group is the four columns that share a Philox block
/// (annealing::words): s, s + 16, s + 32, s + 48; group g belongs to block g % blocks. A unit is a group in one row; units are dealt to
/// threads.
struct ColdPolicy {
  static constexpr int threads = 512;
  static constexpr int unit_threads = 256;   ///< hold the deltas; the others make inner products and random words meanwhile
  static constexpr int largest_size = 4096;  ///< of keys

  Space space;
  std::int32_t blocks;    ///< of a chain
  std::int32_t rows;      ///< n, rounded up to warps
  std::int32_t groups;    ///< of all columns
  std::int32_t own;       ///< most groups of a block
  std::int32_t own_bits;  ///< 2^own_bits >= own
  std::int32_t ring;      ///< rows of random words kept, a power of two
  bool resident;          ///< A and B in shared memory

  [[nodiscard]] static ColdPolicy of(std::int32_t n, Space space, std::int32_t blocks) {
    ColdPolicy policy{space, blocks, divide_up(n, 32) * 32, divide_up(n, 64) * 16, 0, 0, 0, false};
    policy.own = divide_up(policy.groups, blocks);
    while (1 << policy.own_bits < policy.own) ++policy.own_bits;
    policy.ring = policy.own > 8 ? 32 : policy.own > 2 ? 128 : 256;
    return policy;
  }
  /// Units a thread.
  [[nodiscard]] std::int32_t units() const { return divide_up(own * rows, unit_threads); }
};

extern __shared__ __align__(16) unsigned char cold_memory[];

/// An array in the block's dynamic shared memory, by its offset, so that the compiler knows the address space.
template <class T>
struct Part {
  std::uint32_t offset;

  [[nodiscard]] __device__ __forceinline__ T* data() const { return reinterpret_cast<T*>(cold_memory + offset); }
  [[nodiscard]] __device__ __forceinline__ T& operator[](std::int32_t i) const { return data()[i]; }
};

/// Shared memory of a block, carved by hand because its parts depend on n.
template <class Types>
struct ColdStorage {
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;

  Part<Entry> ax;        ///< [side][r or s][pitch]: row of A, by location: a(x, k) at p[k]
  Part<Entry> bx;        ///< [side][r or s][pitch]: row of permuted B, by facility
  Part<Delta> row_u;     ///< [side][rows]: a(r, k) - a(s, k), twice that if there is one side
  Part<Delta> row_w;     ///< [side][rows]: b'(r, k) - b'(s, k) before the swap
  Part<Delta> column_u;  ///< [side][own columns]: the same, group by group
  Part<Delta> column_w;
  Part<Delta> diagonal;       ///< [own columns]: sum over k and sides of a(k, c) b'(k, c)
  Part<Delta> fresh;          ///< [parity][r or s][own columns]: deltas recomputed
  Part<Delta> inner;          ///< [parity][r or s]: the diagonals of r and s after the swap
  Part<std::uint32_t> words;  ///< [ring][own columns]: the random words of the rows ahead
  Part<float> coldest;        ///< [ring]: least 1/T of the row
  Part<Delta> arrived;      ///< [parity][r or s][rows]: new deltas of the own columns among r and s, from other blocks; not for Space::grid
  Part<std::uint16_t> p;    ///< [parity][n]
  Part<std::int16_t> slot;  ///< [n]: place among the own columns, -1: another block's
  Part<Entry> matrices;     ///< [side][A, B][n][pitch], if resident
  std::uint32_t bytes = 0;

  ColdStorage(const ColdPolicy& policy, std::int32_t n, std::int32_t pitch) {
    const auto take = [this](auto& part, std::int32_t count) {
      part.offset = bytes;
      bytes = (bytes + static_cast<std::uint32_t>(count * sizeof(*part.data())) + 15) / 16 * 16;
    };
    const std::int32_t columns = policy.own * 4;
    take(ax, Types::sides * 2 * pitch);
    take(bx, Types::sides * 2 * pitch);
    take(row_u, Types::sides * policy.rows);
    take(row_w, Types::sides * policy.rows);
    take(column_u, Types::sides * columns);
    take(column_w, Types::sides * columns);
    take(diagonal, columns);
    take(fresh, 4 * columns);
    take(inner, 4);
    take(words, columns * policy.ring);
    take(coldest, policy.ring);
    take(arrived, policy.space == Space::grid ? 0 : 4 * policy.rows);
    take(p, 2 * n);
    take(slot, n);
    take(matrices, policy.resident ? Types::sides * 2 * n * pitch : 0);
  }
};

/// Where a chain stands, in shared memory: one thread does the bookkeeping of a step for all.
struct Standing {
  Position at;             ///< the next proposal
  std::int64_t end;        ///< proposals before this one can be decided at the present temperatures
  std::int32_t ring;       ///< at's row in the ring
  std::int32_t ahead;      ///< rows of random words that are ready, from at's on
  std::int32_t window;     ///< rows to decide in this step
  std::int32_t rows_used;  ///< 128 times the recent mean of the rows it took to find an accepted proposal
  std::int32_t owner[2];   ///< blocks that hold columns r and s of the last swap
  bool last;               ///< may `end` lie within the window?
  bool improved;           ///< did the last swap give a new best?
};

/// Device memory that the blocks of a chain share.
template <class Delta>
struct ColdShared {
  Board* board;  ///< [chains of a launch], for Space::grid
  Delta* fresh;  ///< [chains of a launch][2 parities][r or s][n], for Space::grid
  Delta* inner;  ///< [chains of a launch][n]: diagonals at the start of the launch
};

}  // namespace vicinity::sa
