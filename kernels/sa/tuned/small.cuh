#pragma once
// The tuned annealing of up to 64 facilities (gpu-tuned, gpu-chains): a block a chain, whose warps meet once a round.
//
// Problem: with so few facilities a swap and the rows up to the next one are little work, and a step of annealing.cuh is all barriers and
// messages. Here a round is one barrier of the block's warps: what they read after it was all written before it.
// Data layout: all in the shared memory of one block. F in the notation of core/problems/qap/inner_products.hpp, by location, so that a
// swap moves nothing: F[x][l] at x * pitch + l, in two copies, of which one is read while the other is written. The factors alpha of
// facilities and beta of locations never change. Lane j has the location of facility j, and of j + 32.
// Warps: testers test a few rows each, those behind one another. Updaters have F in registers. One warp keeps the chain's state and the
// best permutation. Drawers draw the thresholds of the next sweep.
// A round: each tester writes its first accepted proposal as a key, or that it has none; they meet; the least of the keys is the swap,
// which every warp then knows. While updaters write the next copy of F, testers test from the copy before, with the products that the swap
// adds to a row and a column. Where there was no swap they test more rows.
// Phases: the temperature freezes at most once. Up to there, and from there on, all warps start anew.
// Synchronisation: named barriers (SmallBarrier): one a round, one a sweep.
// Cost: a round is a chain from the key by the permutation, loads of shared memory, and a vote to the next key.
#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/run.cuh"

namespace vicinity::sa {

/// How the warps of a block are dealt. Columns: facilities of a lane. Dense: for more chains than the multiprocessors take at a time, fewer
/// instructions a chain; otherwise a shorter round, with a tester on each quarter of the multiprocessor.
template <int Columns, bool Dense>
struct SmallPolicy {
  static constexpr bool dense = Dense;
  static constexpr int size = 32 * Columns;              ///< most facilities
  static constexpr int pitch = size + (Dense ? 1 : 4);   ///< of F: neither rows nor columns share a bank; or rows are whole fours
  static constexpr int pending_rows = 1, idle_rows = 2;  ///< of a tester and round, after a swap or none
  static constexpr int updaters = 2 * Columns, updated_rows = size / updaters;

  // Who is what: a bit a warp; updaters are all others. Every fourth warp is on the same quarter, where each has about the same number of
  // instructions.
  static constexpr unsigned testers_at = Dense ? 0x3 : 0xf;
  static constexpr unsigned keeper_at = Dense ? 0x4 : 0x10;
  static constexpr unsigned drawers_at = Dense ? 0x8 : Columns == 1 ? 0xc80 : 0xe00;
  static constexpr unsigned spare_at = Dense || Columns == 2 ? 0 : 0x300;  ///< nothing: the keeper's quarter has no drawer
  static constexpr int testers = std::popcount(testers_at), drawers = std::popcount(drawers_at);
  static constexpr int warps = testers + updaters + 1 + drawers + std::popcount(spare_at), threads = 32 * warps;
  static constexpr int blocks = Dense ? (Columns == 1 ? 5 : 2) : (Columns == 1 ? 2 : 1);  ///< of a multiprocessor

  /// Where deltas have so many bytes.
  static constexpr int blocks_of(std::size_t delta) { return delta == 8 ? (blocks + 1) / 2 : blocks; }
};

/// 0 is the block's.
enum class SmallBarrier : std::uint8_t {
  round = 1,  ///< the keys and the next copy of F are there: testers, updaters and keeper
  drawn       ///< a sweep begins: drawers and testers
};

/// Of `Threads` threads, by whole warps; what they wrote before it all see behind it.
template <SmallBarrier Barrier, int Threads>
__device__ __forceinline__ void meet() {
  asm volatile("barrier.sync %0, %1;" ::"n"(static_cast<int>(Barrier)), "n"(Threads) : "memory");
}

/// The swap of r and s, at u and q before it, or what else a tester has to say. The least is that of the first proposal.
struct SmallKey {
  static constexpr std::uint32_t none = 0x7f7f0000u, end = 0x7e7f0000u;  ///< no facilities
  std::uint32_t word = none;  ///< bytes r, s, u, q; in the last one above q the parity of the sweep, of all keys

  [[nodiscard]] static __device__ __forceinline__ std::uint32_t of(std::int32_t r, std::int32_t s, std::int32_t u = 0, std::int32_t q = 0) {
    return static_cast<std::uint32_t>(r << 24 | s << 16 | u << 8 | q);
  }
  [[nodiscard]] __device__ __forceinline__ bool swaps() const { return word < end; }
  [[nodiscard]] __device__ __forceinline__ bool ends() const { return (word >> 8) == (end >> 8); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t r() const { return byte<3>(); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t s() const { return byte<2>(); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t u() const { return byte<1>(); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t q() const { return static_cast<std::int32_t>(word & 127); }
  [[nodiscard]] __device__ __forceinline__ int parity() const { return static_cast<int>(word >> 7 & 1); }

 private:
  /// One instruction, and its products with sizes one: not so a shift and a mask, which nvcc merges with them.
  template <int Place>
  [[nodiscard]] __device__ __forceinline__ std::int32_t byte() const {
    return static_cast<std::int32_t>(__byte_perm(word, 0, 0x4440 + Place));
  }
};

/// What a proposal is tested with. Of columns behind the last: nothing passes.
struct alignas(8) SmallLimit {
  float inverse, threshold;  ///< 1/T
};

template <ElementTypes Types, class P>
struct SmallMemory {
  using Delta = typename Types::Delta;
  using Entry = typename Types::Entry;
  using Factor =
      std::conditional_t<sizeof(Entry) == 1 && P::dense, std::int16_t, Delta>;  ///< small, where many blocks share a multiprocessor
  static constexpr int elements = P::size * P::size;
  static constexpr int delta_words = sizeof(Delta) / 4;

  alignas(64) std::uint32_t slot[1 + delta_words][2][4];  ///< [key, or a word of its delta][parity of the round][tester]
  alignas(16) std::int32_t a[Types::sides][elements];     ///< side 1: transposes; doubled where there is but one side
  alignas(16) Entry b[Types::sides][elements];
  Factor alpha[elements], beta[elements];      ///< [facility][facility], [location][location]
  alignas(16) Delta f[2][P::size * P::pitch];  ///< [facility][location]
  SmallLimit limit[2][elements / 2];           ///< [parity of the sweep][limit_index()]
  annealing::RowTemperature temperature[2][P::size];
  std::uint16_t draw[P::size * 16];  ///< row * 16 + Philox block, of those that have a pair
  std::int32_t draws;
  alignas(16) Delta d[P::dense ? P::updaters : 1][Types::sides][P::dense ? P::updated_rows : 4];  ///< of an updater's rows
  std::int32_t p[P::size];
  std::int64_t sweeps;  ///< of the phase; known at its end
  bool ended[2];        ///< [parity of the sweep] did the phase end before it?
  int newest;           ///< copy of F, at the start of a phase
  ChainState state;     ///< there
};

/// Accepts a proposal, if there is one: not -1. Is it a new best?
[[nodiscard]] __device__ __forceinline__ bool accept_any(ChainState& state, std::int64_t proposal, std::int64_t delta) {
  const ChainState before = state;
  const bool improves = state.accept(proposal, delta) & (proposal >= 0);
  if (proposal < 0) state = before;
  return improves;
}

/// The key that ended a round: counts the round and, where the key is of the next sweep, its `pairs` proposals.
[[nodiscard]] __device__ __forceinline__ SmallKey counted(const SmallKey& key, std::int32_t pairs, std::int64_t& rounds, int& parity,
                                                          std::int64_t& sweep_q) {
  ++rounds;
  if (key.parity() != parity) {
    parity ^= 1;
    sweep_q += pairs;
  }
  return key;
}

/// m[row][column] - m[other][column], of rows `Pitch` apart.
template <class Delta, int Pitch, class Entry>
[[nodiscard]] __device__ __forceinline__ Delta row_difference(const Entry* m, std::int32_t row, std::int32_t other, std::int32_t column) {
  const Entry* const at = m + column;
  return static_cast<Delta>(at[row * Pitch]) - static_cast<Delta>(at[other * Pitch]);
}

template <ElementTypes Types, class P>
class SmallSearch {
 public:
  using Memory = SmallMemory<Types, P>;
  using Delta = typename Types::Delta;

  __device__ __forceinline__ SmallSearch(Memory& memory, std::int32_t n)
      : m_(memory),
        n_(__shfl_sync(~0u, n, 0)),
        pairs_(static_cast<std::int32_t>(annealing::pairs(n))),
        lane_(static_cast<std::int32_t>(threadIdx.x) % 32) {}

  /// Fills the shared memory; by all threads.
  __device__ __forceinline__ void load(const DeviceQap<typename Types::Entry>& qap, const ChainState& state, const std::int32_t* current) {
    each(P::size, [&](std::int32_t j) { m_.p[j] = j < n_ ? current[j] : j; });
    each(Memory::elements, [&](std::int32_t k) {
      const std::int32_t x = k / P::size, y = k % P::size;
      const bool in = x < n_ && y < n_;
      for (int side = 0; side < sides; ++side) {
        m_.a[side][k] = in ? (sides == 1 ? 2 : 1) * static_cast<std::int32_t>(qap.a_row(side, x)[y]) : 0;
        m_.b[side][k] = in ? qap.b_row(side, x)[y] : 0;
      }
      const auto factor = [&](const auto& row) {
        return static_cast<typename Memory::Factor>(
            in ? qap::pair_factor<Delta>(static_cast<Delta>(row(x)[x]), static_cast<Delta>(row(y)[y]), static_cast<Delta>(row(x)[y]),
                                         static_cast<Delta>(row(y)[x]))
               : 0);
      };
      m_.alpha[k] = factor([&](std::int32_t i) { return qap.a_row(0, i); });
      m_.beta[k] = factor([&](std::int32_t i) { return qap.b_row(0, i); });
    });
    if (threadIdx.x == 0) {
      m_.state = state;
      m_.newest = 0;
    }
    each(Memory::elements, [&](std::int32_t k) { m_.limit[k & 1][k / 2] = {0, -1}; });
    if (threadIdx.x < 32) list_draws();
    __syncthreads();
    each(P::size * P::pitch, [&](std::int32_t k) {
      const std::int32_t x = k / P::pitch, y = k % P::pitch;
      Delta sum = 0;
      for (int side = 0; side < sides && x < n_ && y < n_; ++side)
        for (std::int32_t z = 0; z < n_; ++z) sum += static_cast<Delta>(m_.a[side][x * P::size + z]) * m_.b[side][y * P::size + m_.p[z]];
      m_.f[0][k] = sum;
    });
    __syncthreads();
  }
  /// Starts a phase; by all threads. False: the chain is at the limit.
  [[nodiscard]] __device__ __forceinline__ bool begin(std::int64_t limit) {
    if (m_.state.next >= limit) return false;
    if (threadIdx.x < 2) m_.ended[threadIdx.x] = false;
    each(n_ - 1, [&](std::int32_t row) { set_temperature(m_.state.cooling, 0, m_.state.next / pairs_, row); });
    __syncthreads();
    return true;
  }

  /// By the `tester`-th of the testers: takes the chain to the limit, or until the temperature freezes.
  __device__ __forceinline__ void test(int tester, std::int64_t limit) {
    seed_columns();
    tester_ = tester;
    slot_ = 4 * tester + 16;
    stays_ = m_.state.frozen_at >= 0 || !m_.state.cooling.freezes();
    const std::int64_t next = m_.state.next;
    left_ = limit - next / pairs_ * pairs_;
    const std::int64_t freeze = m_.state.end(pairs_, limit) - next / pairs_ * pairs_;
    const annealing::Swap at = annealing::pair_at(n_, next % pairs_);
    row_ = at.r;
    before_ = SmallKey::of(at.r, at.s) - 1;
    last_limit_ = last_before(left_);
    last_ = last_before(freeze);
    last_next_ = last_before(freeze - pairs_);
    begin_sweep();
    int tested = test_rows<P::idle_rows, false>();
    for (AfterSwap after = next_round();; after = next_round()) {
      for (; after.row < n_ - 1 && after.before < last_limit_; after = next_round()) {
        go_behind(after);
        tested = test_rows<P::pending_rows, true>();
      }
      if (key_.swaps()) {  // the last of the sweep, or of the phase
        go_behind(after);
        if (!goes_on()) return end();
        tested = test_rows<P::pending_rows, true>();
      } else {
        skip(tested);
        if (!goes_on()) return end();
        tested = test_rows<P::idle_rows, false>();
      }
    }
  }

  /// By the `warp`-th of the updaters. Dense: a lane has a column, or two, of all rows of the warp. Otherwise it has four columns, which it
  /// stores at once, of every rows_at_once-th.
  __device__ __forceinline__ void update(int warp) {
    constexpr int together = P::dense ? 1 : 4, groups = P::dense ? Columns : 1;  // neighbouring columns; and how often, 32 apart
    constexpr int row_lanes = P::size / (together * groups), rows_at_once = 32 / row_lanes, rows = P::updated_rows / rows_at_once;
    using Entry = typename Types::Entry;
    struct alignas(together * sizeof(Entry)) Entries {
      Entry v[together];
    };
    struct alignas(P::dense ? sizeof(Delta) : 16) Stored {
      Delta v[together];
    };
    const std::int32_t first_row = warp * P::updated_rows + lane_ / row_lanes, column = lane_ % row_lanes * together;
    const std::int32_t offset = first_row * P::pitch + column;
    constexpr int step = rows_at_once * P::pitch;
    int read = m_.newest;
    Stored f[rows][groups];
    const auto at = [&](int k, int g) { return reinterpret_cast<Stored*>(m_.f[read] + offset + k * step + 32 * g); };
#pragma unroll
    for (int k = 0; k < rows; ++k)
#pragma unroll
      for (int g = 0; g < groups; ++g) f[k][g] = *at(k, g);
    for (;;) {
      const SmallKey key = next_key();
      if (!key.swaps()) [[unlikely]] {
        if (key.ends()) break;
        continue;
      }
      read ^= 1;
      Delta e[groups][together][sides];
#pragma unroll
      for (int g = 0; g < groups; ++g)
#pragma unroll
        for (int side = 0; side < sides; ++side) {
          const Entry* const b = m_.b[side] + column + 32 * g;
          const Entries q = *reinterpret_cast<const Entries*>(b + key.q() * P::size);
          const Entries u = *reinterpret_cast<const Entries*>(b + key.u() * P::size);
#pragma unroll
          for (int c = 0; c < together; ++c) e[g][c][side] = static_cast<Delta>(q.v[c]) - static_cast<Delta>(u.v[c]);
        }
      // Many rows: a lane makes the difference of one. Few: each lane makes all, which is shorter.
      if constexpr (P::dense) {
#pragma unroll
        for (int side = 0; side < sides; ++side)
          if (lane_ < P::updated_rows) m_.d[warp][side][lane_] = d_of(side, key, first_row + lane_);
        __syncwarp();
      }
#pragma unroll
      for (int k = 0; k < rows; ++k) {
        Delta d[sides];
#pragma unroll
        for (int side = 0; side < sides; ++side)
          d[side] = P::dense ? m_.d[P::dense ? warp : 0][side][k] : d_of(side, key, first_row + k * rows_at_once);
#pragma unroll
        for (int g = 0; g < groups; ++g)
#pragma unroll
          for (int c = 0; c < together; ++c) f[k][g].v[c] += product(d, e[g][c]);
      }
#pragma unroll
      for (int k = 0; k < rows; ++k)
#pragma unroll
        for (int g = 0; g < groups; ++g) *at(k, g) = f[k][g];
    }
    if (warp == 0 && lane_ == 0) m_.newest = read;
  }

  /// By one warp. Leaves the state, the current permutation and the best one.
  __device__ __forceinline__ void keep(std::int64_t limit, std::int32_t* current, std::int32_t* best) {
    seed_columns();
    ChainState state = m_.state;
    const auto store = [&](std::int32_t* to) {
#pragma unroll
      for (int c = 0; c < Columns; ++c)
        if (lane_ + 32 * c < n_) to[lane_ + 32 * c] = p_[c];
    };
    std::int64_t sweep_q = state.next / pairs_ * pairs_, rounds = 0, proposal = -1;  // of the last swap
    Delta delta = 0;
    // The last swap, with the next one: its digest takes about as long as a round, all else is made meanwhile.
    const auto accept_last = [&] { return accept_any(state, proposal, delta); };
    int sweep = 0;
    const auto next = [&] { return counted(next_key(), pairs_, rounds, sweep, sweep_q); };
    for (SmallKey key = next();; key = next()) {
      for (; key.swaps(); key = next()) {
        const std::uint32_t* const keys = m_.slot[0][0] + (keys_ ^ 16) / 4;
        int tester = 0;
        for (int k = 1; k < P::testers; ++k)
          if (keys[k] == key.word) tester = k;
        std::uint64_t words = 0;
        for (int w = 0; w < Memory::delta_words; ++w) words |= std::uint64_t{keys[8 + 8 * w + tester]} << 32 * w;
        const bool improves = accept_last();
        proposal = sweep_q + number_of(key.r(), key.s());
        delta = static_cast<Delta>(words);
        if (improves) [[unlikely]]
          store(best);
        exchange(key);
      }
      if (key.ends()) break;
    }
    if (accept_last()) store(best);
    state.hot_barriers += rounds;
    state.hot_barriers += m_.sweeps;
    state.reject_until(state.end(pairs_, limit), n_);
    store(current);
    store(m_.p);
    if (lane_ == 0) m_.state = state;
  }

  /// By the `warp`-th of the drawers: the limits of sweeps, from that of the next proposal on.
  __device__ __forceinline__ void draw(int warp) {
    const std::uint64_t seed = m_.state.seed;
    const annealing::Cooling cooling = m_.state.cooling;
    const std::int64_t first = m_.state.next / pairs_;
    for (std::int64_t drawn = 0;; ++drawn) {
      const int parity = static_cast<int>(drawn & 1);
      const std::int64_t sweep = first + drawn;
      for (std::int32_t k = 32 * warp + lane_; k < m_.draws; k += 32 * P::drawers) {
        const std::int32_t row = m_.draw[k] / 16, block = m_.draw[k] % 16;
        const Philox4 words = annealing::words(seed, sweep, row, static_cast<std::uint32_t>(block));
        const annealing::RowTemperature temperature = m_.temperature[parity][row];
#pragma unroll
        for (int w = 0; w < 2 * Columns; ++w) {
          const std::int32_t column = 16 * w + block;
          if (column > row && column < n_)
            m_.limit[parity][limit_index(row, column)] = {annealing::inverse_temperature(temperature, column - row - 1),
                                                          annealing::threshold(words.word[w])};
        }
      }
      if (warp == 0)
        for (std::int32_t row = lane_; row < n_ - 1; row += 32) set_temperature(cooling, parity ^ 1, sweep + 1, row);
      meet<SmallBarrier::drawn, in_drawn>();
      if (m_.ended[parity]) return;  // drawn in vain: the phase ended in the sweep before
    }
  }

 private:
  static constexpr int sides = Types::sides, Columns = P::size / 32;
  static constexpr int in_round = 32 * (P::testers + P::updaters + 1), in_drawn = 32 * (P::testers + P::drawers);

  template <class Act>
  static __device__ __forceinline__ void each(std::int32_t count, const Act& act) {
    for (std::int32_t k = threadIdx.x; k < count; k += P::threads) act(k);
  }
  [[nodiscard]] static __device__ __forceinline__ Delta product(const Delta (&d)[sides], const Delta (&e)[sides]) {
    Delta sum = d[0] * e[0];
    if constexpr (sides == 2) sum += d[1] * e[1];
    return sum;
  }
  /// Of facility x.
  [[nodiscard]] __device__ __forceinline__ Delta d_of(int side, const SmallKey& swap, std::int32_t x) const {
    return row_difference<Delta, P::size>(m_.a[side], swap.r(), swap.s(), x);
  }
  /// Of location l.
  [[nodiscard]] __device__ __forceinline__ Delta e_of(int side, const SmallKey& swap, std::int32_t l) const {
    return row_difference<Delta, P::size>(m_.b[side], swap.q(), swap.u(), l);
  }
  /// Of the pair (row, column), row < column: a row of the first half and one of the second share a row of the triangle's square.
  [[nodiscard]] static __device__ __forceinline__ std::int32_t limit_index(std::int32_t row, std::int32_t column) {
    return (row * P::size + column) ^ (row < P::size / 2 ? 0 : Memory::elements - 1);
  }
  __device__ __forceinline__ void set_temperature(const annealing::Cooling& cooling, int parity, std::int64_t sweep, std::int32_t row) {
    m_.temperature[parity][row] = annealing::row_temperature(cooling, sweep * pairs_ + annealing::row_start(n_, row));
  }
  /// By the first warp. A Philox block has every sixteenth column of a row.
  __device__ __forceinline__ void list_draws() {
    const std::int32_t last = lane_ < n_ ? lane_ + (n_ - 1 - lane_) / 16 * 16 : 0;  // column of block `lane_`
    std::int32_t listed = 0;
    for (std::int32_t row = 0; row < n_ - 1; ++row) {
      const bool has_pair = lane_ < 16 && row < last;
      const unsigned having = __ballot_sync(~0u, has_pair);
      if (has_pair) m_.draw[listed + __popc(having & below())] = static_cast<std::uint16_t>(row * 16 + lane_);
      listed += __popc(having);
    }
    if (lane_ == 0) m_.draws = listed;
  }
  /// The lanes before this one.
  [[nodiscard]] __device__ __forceinline__ unsigned below() const { return (1u << lane_) - 1; }

  __device__ __forceinline__ void seed_columns() {
#pragma unroll
    for (int c = 0; c < Columns; ++c) p_[c] = m_.p[lane_ + 32 * c];
    read_ = m_.newest;
  }
  /// Of facility i, which is the same in all lanes, from all facilities' values.
  template <class T>
  [[nodiscard]] static __device__ __forceinline__ T of_facility(const T (&values)[Columns], std::int32_t i) {
    return __shfl_sync(~0u, Columns == 2 && i >= 32 ? values[Columns - 1] : values[0], i);
  }
  __device__ __forceinline__ void exchange(const SmallKey& swap) {
    const std::int32_t u = swap.u(), q = swap.q();
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      p_[c] = lane_ + 32 * c == swap.r() ? q : p_[c];
      p_[c] = lane_ + 32 * c == swap.s() ? u : p_[c];
    }
  }
  /// Ends a round. The first of its keys.
  [[nodiscard]] __device__ __forceinline__ SmallKey next_key() {
    meet<SmallBarrier::round, in_round>();
    const auto* const from = reinterpret_cast<const unsigned char*>(m_.slot) + keys_;
    keys_ ^= 16;
    if constexpr (P::testers == 2) {
      const uint2 both = *reinterpret_cast<const uint2*>(from);
      return {min(both.x, both.y)};
    }
    const uint4 each = *reinterpret_cast<const uint4*>(from);
    return {min(min(each.x, each.y), min(each.z, each.w))};
  }

  /// Where the search goes on, if a round had a swap.
  struct AfterSwap {
    std::int32_t row;
    std::uint32_t before;
  };

  // --- the position of the search: the same in all lanes of all testers ----------------------------------------------------------

  /// Within a sweep, of the first pair of a row.
  [[nodiscard]] __device__ __forceinline__ std::int32_t row_start(std::int32_t row) const { return row * (2 * n_ - row - 1) / 2; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t number_of(std::int32_t r, std::int32_t s) const { return row_start(r) + s - r - 1; }
  /// The last key of the first `number` proposals of a sweep; of all there are, where there are more.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t last_before(std::int64_t number) const {
    if (number > pairs_) return ~0u;
    if (number == pairs_) return SmallKey::of(n_ - 1, 0) - 1;
    const annealing::Swap at = annealing::pair_at(n_, max(number, std::int64_t{0}));
    return SmallKey::of(at.r, at.s) - 1;
  }
  __device__ __forceinline__ void begin_sweep() {
    drawn_ ^= 1;
    ++sweeps_;
    meet<SmallBarrier::drawn, in_drawn>();
  }
  __device__ __forceinline__ void next_sweep() {
    row_ = 0;
    before_ = 0;
    left_ -= pairs_;
    last_limit_ = last_before(left_);
    last_ = stays_ ? last_limit_ : min(last_limit_, last_next_);
    begin_sweep();
  }
  __device__ __forceinline__ void skip(int rows) {
    row_ += rows;
    before_ = SmallKey::of(row_, 0);
  }
  /// Goes on behind a swap. As many rejections as freeze the temperature end with the same pair of the next sweep.
  __device__ __forceinline__ void go_behind(const AfterSwap& after) {
    row_ = after.row;
    before_ = last_next_ = after.before;
    last_ = last_limit_;
  }
  /// Is there a proposal before the end of the phase? Begins the sweep that it is in.
  [[nodiscard]] __device__ __forceinline__ bool goes_on() {
    if (row_ < n_ - 1 && before_ < last_) return true;
    if (before_ >= last_) return false;
    next_sweep();
    return true;
  }
  __device__ __forceinline__ void end() {
    if (lane_ == 0) {
      m_.slot[0][keys_ / 16][tester_] = SmallKey::end;
      if (tester_ == 0) {
        m_.sweeps = sweeps_;
        m_.ended[sweeps_ & 1] = true;
      }
    }
    meet<SmallBarrier::round, in_round>();
    meet<SmallBarrier::drawn, in_drawn>();
  }

  // --- tests ---------------------------------------------------------------------------------------------------------------------

  /// Ends a round, and goes on as after a swap. Whether there was one, and whether it was neither the last of the sweep nor of the phase,
  /// is known meanwhile: if none, row and before are beyond all there are, and the permutation stays as it is.
  [[nodiscard]] __device__ __forceinline__ AfterSwap next_round() {
    key_ = next_key();
    exchange(key_);
    return {key_.r() + ((key_.s() + 65 - n_) >> 6), key_.word | 0xffff};  // the next row after the last column
  }
  /// Tests this tester's `Count` of the rows from row_ on, and writes its key. Pending: the swap of key_ has been carried out in the
  /// permutation, and is on its way in F. Returns how many rows all testers have tested.
  template <int Count, bool Pending>
  [[nodiscard]] __device__ __forceinline__ int test_rows() {
    std::int32_t row[Count], at[Count];  // at its location
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      row[k] = min(row_ + tester_ * Count + k, n_ - 1);  // the last has no pairs
      at[k] = of_facility(p_, row[k]);
    }
    slot_ ^= 16;
    const Delta* const f = m_.f[read_];
    if (Pending) read_ ^= 1;
    Delta d[sides][Columns], e[sides][Columns], f_jj[Columns];
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      const std::int32_t j = lane_ + 32 * c;
      f_jj[c] = (f + p_[c])[j * P::pitch];
#pragma unroll
      for (int side = 0; side < sides && Pending; ++side) {
        d[side][c] = d_of(side, key_, j);
        e[side][c] = e_of(side, key_, p_[c]);
      }
    }
    const auto parity = static_cast<std::uint32_t>(drawn_ << 7);
    bool accepted[Count][Columns];
    Delta delta[Count][Columns];
    std::uint32_t key[Count][Columns];
    // All loads, then shuffles, then votes: one chain of latencies for all.
    Delta f_both[Count][Columns], factors[Count][Columns];
    SmallLimit limit[Count][Columns];
#pragma unroll
    for (int k = 0; k < Count; ++k)
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        const std::int32_t i = row[k], pi = at[k], j = lane_ + 32 * c;
        f_both[k][c] = (f + p_[c])[i * P::pitch] + (f + j * P::pitch)[pi];
        factors[k][c] = static_cast<Delta>((m_.alpha + j)[i * P::size]) * (m_.beta + p_[c])[pi * P::size];
        limit[k][c] = m_.limit[drawn_][limit_index(i, j)];
      }
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      const std::int32_t i = row[k];
      const Delta f_ii = of_facility(f_jj, i);
      Delta d_i[sides], e_i[sides];
#pragma unroll
      for (int side = 0; side < sides && Pending; ++side) {
        d_i[side] = of_facility(d[side], i);
        e_i[side] = of_facility(e[side], i);
      }
      const std::uint32_t before = max(before_, SmallKey::of(i, i) | 0xffff);
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        Delta sum = f_both[k][c] - f_ii - f_jj[c] + factors[k][c];
#pragma unroll
        for (int side = 0; side < sides && Pending; ++side) sum += (d_i[side] - d[side][c]) * (e[side][c] - e_i[side]);
        const bool passes = annealing::accepts(sum, limit[k][c].inverse, limit[k][c].threshold);
        key[k][c] = SmallKey::of(i, 0, at[k]) + (SmallKey::of(0, lane_ + 32 * c, 0, p_[c]) | parity);
        accepted[k][c] = static_cast<int>(key[k][c] > before) & static_cast<int>(key[k][c] <= last_) & static_cast<int>(passes);
        delta[k][c] = sum;
      }
    }
    unsigned any = 0;
    bool writes = false;
    std::uint32_t word = SmallKey::none | parity;
    Delta of_word = 0;
#pragma unroll
    for (int k = 0; k < Count; ++k)
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        const unsigned votes = __ballot_sync(~0u, accepted[k][c]);
        const bool takes = (any == 0) & accepted[k][c];
        word = takes ? key[k][c] : word;
        of_word = takes ? delta[k][c] : of_word;
        writes |= takes & ((votes & below()) == 0);
        any |= votes;
      }
    writes |= (lane_ == 0) & (any == 0);
    if (writes) {
      auto* const slot = reinterpret_cast<std::uint32_t*>(reinterpret_cast<unsigned char*>(m_.slot) + slot_);
      slot[0] = word;
#pragma unroll
      for (int w = 0; w < Memory::delta_words; ++w)
        slot[8 + 8 * w] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(of_word) >> 32 * w);
    }
    return P::testers * Count;
  }

  Memory& m_;
  std::int32_t n_, pairs_, lane_;
  std::int32_t p_[Columns];  ///< locations of this lane's facilities
  int read_ = 0;             ///< copy of F that is not written
  int tester_ = 0;
  std::int32_t keys_ = 0, slot_ = 0;         ///< bytes from Memory::slot to the keys of the next round, and to this tester's of the last
  SmallKey key_{};                           ///< of the last round
  bool stays_ = false;                       ///< no run of rejections changes the schedule
  std::int64_t sweeps_ = 0, left_ = 0;       ///< begun;  proposals from the start of the sweep to the limit
  std::int32_t row_ = 0;                     ///< of the next proposal
  std::uint32_t before_ = 0;                 ///< no key before the next proposal is greater
  std::uint32_t last_ = 0, last_limit_ = 0;  ///< the last key that can be decided in the sweep, and the one by the limit alone
  std::uint32_t last_next_ = 0;              ///< of the next sweep, before the temperature freezes
  int drawn_ = 1;                            ///< parity of the sweep
};

/// Blocks `spread` apart deal their warps otherwise, so that those of a multiprocessor have the busiest ones on different quarters.
template <ElementTypes Types, int Columns, bool Dense>
__global__ void __launch_bounds__((SmallPolicy<Columns, Dense>::threads),
                                  (SmallPolicy<Columns, Dense>::blocks_of(sizeof(typename Types::Delta))))
    small_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, Chains chains, std::int64_t first, std::int64_t limit,
                 unsigned spread) {
  using P = SmallPolicy<Columns, Dense>;
  const std::size_t chain = first + blockIdx.x;
  std::int32_t *const current = chains.current + chain * qap.n, *const best = chains.best + chain * qap.n;
  auto& memory = *reinterpret_cast<SmallMemory<Types, P>*>(__cvta_shared_to_generic(dynamic_shared_address()));
  SmallSearch<Types, P> loaded(memory, qap.n);
  loaded.load(qap, chains.state[chain], current);
  // By a shuffle, so the compiler knows that a warp stays together.
  int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  if constexpr (Dense) warp = static_cast<int>((static_cast<unsigned>(warp) + blockIdx.x / spread) % P::warps);
  while (loaded.begin(limit)) {
    SmallSearch<Types, P> search(memory, qap.n);
    const auto is_in = [&](unsigned warps) { return (warps >> warp & 1) != 0; };
    const auto number_in = [&](unsigned warps) { return __popc(warps & ((1u << warp) - 1)); };
    if (is_in(P::testers_at))
      search.test(number_in(P::testers_at), limit);
    else if (is_in(P::keeper_at))
      search.keep(limit, current, best);
    else if (is_in(P::drawers_at))
      search.draw(number_in(P::drawers_at));
    else if (!is_in(P::spare_at))
      search.update(number_in(~(P::testers_at | P::keeper_at | P::drawers_at | P::spare_at)));
    __syncthreads();
  }
  if (threadIdx.x == 0) chains.state[chain] = memory.state;
}

// --- the host's side -------------------------------------------------------------------------------------------------------

/// gpu-tuned (one chain at a time) and gpu-chains (`Many`: all at once) of up to SmallPolicy<Columns, Dense>::size facilities.
template <ElementTypes T, int Columns, bool Dense, bool Many>
class Small {
 public:
  using Types = T;
  using P = SmallPolicy<Columns, Dense>;
  static constexpr std::size_t shared_bytes = sizeof(SmallMemory<Types, P>);

  Small(const qap::Qap&, const DeviceQap<typename Types::Entry>& matrices, const annealing::Task& task)
      : matrices_(matrices), batch_size_(Many ? task.chains : 1) {
    cuda::allow_shared(small_kernel<Types, Columns, Dense>, shared_bytes);
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    const cuda::Shape shape{.blocks = count, .threads = P::threads, .shared_bytes = shared_bytes};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, small_kernel<Types, Columns, Dense>, matrices_, chains, first, limit, spread_));
  }

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  [[nodiscard]] Policy policy() const {
    return {{"threads", P::threads}, {"blocks", 1},
            {"cluster", 0},          {"columns", Columns},
            {"testers", P::testers}, {"updaters", P::updaters},
            {"drawers", P::drawers}, {"shared_bytes", shared_bytes}};
  }
  /// A named barrier a round and one a sweep.
  [[nodiscard]] Work barriers(const ChainState& state) const { return {{Ceiling::block_barrier, static_cast<double>(state.hot_barriers)}}; }

 private:
  DeviceQap<typename Types::Entry> matrices_;
  std::int64_t batch_size_;
  unsigned spread_ = static_cast<unsigned>(cuda::multiprocessors());
};

/// gpu-tuned, or gpu-chains (`many`); null where the instance is too large or the task names a scope. `team`: of DeviceChains.
[[nodiscard]] std::unique_ptr<Run> small_run(const qap::Qap& qap, const annealing::Task& task, bool many, Team* team);

}  // namespace vicinity::sa
