#pragma once
// The tuned annealing by rows: who holds what, and where. The search itself is in rows.cuh.
#include "kernels/sa/tuned/hot.cuh"
#include "kernels/sa/tuned/messages.cuh"

namespace vicinity::sa {

/// Which matrices lie in shared memory: as many as fit.
enum class Resident { none, b, both };

/// How the work of a chain is dealt. Facility i's row belongs to block i % blocks; within it to team (i / blocks) % teams, which scans it.
/// Of the row its thread t scans the columns t + k * team.
struct RowsPolicy {
  static constexpr int most_scanners = 352,
                       clerks = 32;  ///< threads of a block that scan; its last warp, which keeps the books and speaks to others
  static constexpr int most_threads = most_scanners + clerks, some_columns = 3, most_columns = 6;
  static constexpr std::int32_t largest_size = 1 << 11;  ///< of keys

  Space space;
  std::int32_t blocks;                       ///< of a chain
  std::int32_t teams;                        ///< of a block
  std::int32_t team;                         ///< threads of a team
  std::int32_t rows;                         ///< most rows of a block
  std::int32_t pitch;                        ///< n, rounded up to 16-byte loads
  std::int32_t columns;                      ///< of a thread: 1, some or most
  std::uint32_t reciprocal, reciprocal_all;  ///< 2^32 over blocks and over all teams, rounded up
  Resident resident;

  [[nodiscard]] static RowsPolicy of(std::int32_t n, Space space, std::int32_t blocks, std::int32_t teams) {
    const std::int32_t columns = n <= most_scanners ? 1 : n <= some_columns * most_scanners ? some_columns : most_columns;
    const std::int32_t team = divide_up(divide_up(n, columns), 32) * 32;
    return {space,
            blocks,
            teams,
            team,
            divide_up(n, blocks),
            divide_up(n, 4) * 4,
            columns,
            reciprocal_of(blocks),
            reciprocal_of(blocks * teams),
            Resident::none};
  }
  /// i / blocks and i / (blocks * teams), for i below 2^16.
  [[nodiscard]] __device__ __forceinline__ std::int32_t by_blocks(std::int32_t i) const { return quotient(i, reciprocal); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t by_all_teams(std::int32_t i) const { return quotient(i, reciprocal_all); }
  /// In a cluster: what the blocks found goes by letters, which every warp reads for itself. Where following a swap takes longer than they
  /// do, the clerks had better exchange messages meanwhile (measured on an H100: from n = 150 or so).
  [[nodiscard]] VICINITY_HD bool by_letters() const {
    return space == Space::cluster && resident == Resident::both && divide_up(rows * groups(), scanners()) <= 3;
  }
  /// Groups of four columns in a row.
  [[nodiscard]] VICINITY_HD std::int32_t groups() const { return pitch / 4; }
  /// Threads of a block that scan; the clerks come after them.
  [[nodiscard]] VICINITY_HD std::int32_t scanners() const { return teams * team; }
  [[nodiscard]] VICINITY_HD std::int32_t threads() const { return scanners() + clerks; }

 private:
  /// 0 for 1.
  [[nodiscard]] static std::uint32_t reciprocal_of(std::int32_t divisor) {
    return divisor == 1 ? 0 : static_cast<std::uint32_t>((std::uint64_t{1} << 32) / static_cast<std::uint64_t>(divisor)) + 1;
  }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t quotient(std::int32_t i, std::uint32_t reciprocal) {
    return reciprocal == 0 ? i : static_cast<std::int32_t>(__umulhi(static_cast<unsigned>(i), reciprocal));
  }
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
struct Part {
  std::uint32_t offset;

  /// `memory`: rows_memory_address().
  [[nodiscard]] __device__ __forceinline__ T* in(std::uint32_t memory) const {
    return reinterpret_cast<T*>(__cvta_shared_to_generic(memory + offset));  // loads through it are shared memory's
  }
};

/// Shared memory of a block, carved by hand because its parts depend on n. H is that of cpu_ref/sa/inner_products.hpp: H[x][l], facility x,
/// location l.
template <class Types>
struct RowsStorage {
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;
  static constexpr int sides = Types::sides;

  Part<Delta> x;                 ///< [x or y][rows][pitch]: H[i][p[j]] for the own facilities i, and y, H[j][p[i]]; with a single
                                 ///< block only x, since y is x transposed
  Part<Delta> u;                 ///< [side][pitch]: a(r, j) - a(s, j) of the last swap
  Part<Delta> w;                 ///< [side][pitch]: b(p[r], p'[j]) - b(p[s], p'[j]), p before and p' after it
  Part<Delta> diagonal;          ///< [parity][pitch]: H[j][p[j]]
  Part<Delta> a_diagonal;        ///< [pitch]
  Part<Delta> old;               ///< [r or s][rows]: columns r and s of x before the swap
  Part<std::uint16_t> p;         ///< [parity][pitch]
  Part<Word> inbox;              ///< [parity][r or s][words of a delta][pitch]: rows of y from other blocks; Space::cluster
  Part<Message<Delta>> board;    ///< [parity][blocks]; Space::cluster, unless by letters
  Part<Letter<Delta>> letters;   ///< [parity][blocks]
  Part<std::uint64_t> arrivals;  ///< [parity]: mbarriers that count the letters
  Part<Found<Delta>> slots;      ///< [warps that scan], and at their end the first of all blocks
  Part<Entry> a, b;              ///< [side][n][pitch of the matrices], if resident
  std::uint32_t bytes = 0;

  RowsStorage(const RowsPolicy& policy, std::int32_t n, std::int32_t matrix_pitch) {
    const auto take = [this](auto& part, std::int32_t count) {
      part.offset = bytes;
      bytes = (bytes + static_cast<std::uint32_t>(count * static_cast<std::int32_t>(sizeof(*part.in(0)))) + 15) / 16 * 16;
    };
    const bool cluster = policy.space == Space::cluster;
    take(x, (policy.blocks > 1 ? 2 : 1) * policy.rows * policy.pitch);
    take(u, sides * policy.pitch);
    take(w, sides * policy.pitch);
    take(diagonal, 2 * policy.pitch);
    take(a_diagonal, policy.pitch);
    take(old, 2 * policy.rows);
    take(p, 2 * policy.pitch);
    take(inbox, cluster ? inbox_words<Delta>(policy.pitch) : 0);
    take(board, cluster && !policy.by_letters() ? 2 * policy.blocks : 0);
    take(letters, policy.by_letters() ? 2 * policy.blocks : 0);
    take(arrivals, policy.by_letters() ? 2 : 0);
    take(slots, RowsPolicy::most_scanners / 32 + 1);
    take(b, policy.resident == Resident::none ? 0 : sides * n * matrix_pitch);
    take(a, policy.resident == Resident::both ? sides * n * matrix_pitch : 0);
  }
};

/// Device memory that the blocks of a chain share.
template <class Delta>
struct RowsShared {
  Delta* h;               ///< [chains of a launch][n][n]: H[i][p[j]] at the start of the launch
  Word* inbox;            ///< [chains of a launch][inbox_words], for Space::grid; zeroed before the launch
  Message<Delta>* board;  ///< [chains of a launch][2][blocks], for Space::grid; zeroed before the launch
};

}  // namespace vicinity::sa
