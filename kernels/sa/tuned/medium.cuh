#pragma once
// The tuned annealing of 65 to 116 facilities, of matrices of bytes (gpu-tuned): a block a chain, whose warps meet once a round, as in
// small.cuh.
//
// Problem: F still fits the shared memory of one block, in two copies, and its update takes about as long as a test. So a swap costs
// one round and no message between blocks.
// Data layout: as in small.cuh, F by location in two copies, of which one is read while the other is written. The diagonals of A and B are
// taken out: their product is a constant part of F. The permutation is in registers, four facilities of a lane in the bytes of one word.
// Thresholds lie in the order of proposals, as do the pairs themselves.
// Warps: testers test the next proposals, a pair a lane. Updaters have F in registers, four columns a lane. One warp keeps the chain's
// state and the best permutation. Drawers draw the thresholds of the next sweep.
// A round: each tester writes its first accepted proposal as a key, or that it has none; all meet; the least key is the swap. While
// updaters write the next copy of F, testers test from the copy before, with the product that the swap adds to a delta.
// Phases: from where the temperature freezes on, all warps start anew. After some sweeps without a swap the kernel ends, and the search of
// annealing.cuh goes on, which rejects whole sweeps at a time.
// Synchronisation: named barriers (SmallBarrier): one a round, one a sweep.
// Cost of a swap: one round, n^2 elements of F written, 20 loads a pair tested.
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/run.cuh"
#include "kernels/sa/tuned/small.cuh"

namespace vicinity::sa {

/// How the warps of a block are dealt: testers, the keeper, drawers, updaters. Size: most facilities, as many as fit. Entries that are no
/// bytes are not faster here than in a cluster.
template <ElementTypes Types>
struct MediumPolicy {
  static_assert(sizeof(typename Types::Entry) == 1 && sizeof(typename Types::Delta) == 4);
  static constexpr int size = Types::sides == 1 ? 116 : 108;
  static constexpr int pitch = size;  ///< of F
  static_assert(pitch % 8 == 4, "rows of whole fours of elements, columns over eight banks");
  static constexpr int testers = 8, updaters = 12, drawers = 7;
  static constexpr int pending_pairs = 1, idle_pairs = 2;  ///< of a lane of a tester and round, after a swap or none
  static constexpr int updated_rows = divide_up(size, updaters), fours = divide_up(updated_rows, 4);  ///< of an updater, at most
  static constexpr int rows = updaters * updated_rows;
  static constexpr int drawn_together = 2;  ///< Philox blocks of a lane, which hide each other's latency
  static constexpr int quiet_sweeps = 8;    ///< with so many in a row without a swap the chain is quiet
  static constexpr int pairs = size * (size - 1) / 2 + 32 * testers * idle_pairs;  ///< with those that testers reach behind the last
  static constexpr int warps = testers + 1 + drawers + updaters, threads = 32 * warps;
};

template <ElementTypes Types>
struct MediumMemory {
  using P = MediumPolicy<Types>;
  using Delta = typename Types::Delta;
  using Entry = typename Types::Entry;
  static constexpr int elements = P::size * P::size;

  alignas(64) std::uint32_t slot[2][2][P::testers];      ///< [key, its delta][parity of the round][tester]
  alignas(16) Entry a[Types::sides][P::rows * P::size];  ///< without the diagonal, as b; side 1: transposes
  alignas(16) Entry b[Types::sides][elements];
  alignas(16) Delta f[2][P::rows * P::pitch];                    ///< [facility][location]
  alignas(16) Delta d[P::updaters][Types::sides][4 * P::fours];  ///< of an updater's rows
  float threshold[2][P::pairs];                                  ///< [parity of the sweep][pair]
  annealing::RowTemperature temperature[2][P::size];             ///< [parity of the sweep][row]
  std::uint16_t pair[P::pairs];                                  ///< row * 256 + column
  std::uint16_t draw[P::size * 26];                              ///< row * 32 + Philox block, of those that have a pair
  std::int32_t draws;
  std::int32_t p[128];
  std::int64_t sweeps;  ///< of the phase; known at its end
  bool ended[2];        ///< [parity of the sweep] did the phase end before it?
  int newest;           ///< copy of F, at the start of a phase
  bool quiet;           ///< the phase ended with a sweep, since there was no swap for long
  ChainState state;     ///< there
};

template <ElementTypes Types>
class MediumSearch {
 public:
  using P = MediumPolicy<Types>;
  using Memory = MediumMemory<Types>;
  using Delta = typename Types::Delta;

  __device__ __forceinline__ MediumSearch(Memory& memory, std::int32_t n)
      : m_(memory),
        n_(__shfl_sync(~0u, n, 0)),
        pairs_(static_cast<std::int32_t>(annealing::pairs(n))),
        lane_(static_cast<std::int32_t>(threadIdx.x) % 32) {}

  /// Fills the shared memory; by all threads.
  __device__ __forceinline__ void load(const DeviceQap<typename Types::Entry>& qap, const ChainState& state, const std::int32_t* current) {
    each(128, [&](std::int32_t j) { m_.p[j] = j < n_ ? current[j] : 0; });
    each(Memory::elements, [&](std::int32_t k) {
      const std::int32_t x = k / P::size, y = k % P::size;
      const bool in = x < n_ && y < n_ && x != y;
      for (int side = 0; side < sides; ++side) {
        m_.a[side][k] = in ? qap.a_row(side, x)[y] : 0;
        m_.b[side][k] = in ? qap.b_row(side, x)[y] : 0;
      }
    });
    if (threadIdx.x == 0) {
      m_.state = state;
      m_.newest = 0;
      m_.quiet = false;
    }
    if (threadIdx.x < 32) list_draws();
    __syncthreads();
    each(Memory::elements, [&](std::int32_t k) {
      const std::int32_t i = k / P::size, j = k % P::size;
      if (i < j && j < n_) m_.pair[number_of(i, j)] = static_cast<std::uint16_t>(i << 8 | j);
    });
    each(P::pairs - pairs_, [&](std::int32_t k) { m_.pair[pairs_ + k] = 1; });  // any pair
    each(P::size * P::pitch, [&](std::int32_t k) {
      const std::int32_t x = k / P::pitch, y = k % P::pitch;
      Delta sum = 0, diagonals = 0;
      if (x < n_ && y < n_) {
        for (int side = 0; side < sides; ++side)
          for (std::int32_t z = 0; z < n_; ++z) sum += static_cast<Delta>(m_.a[side][x * P::size + z]) * m_.b[side][y * P::size + m_.p[z]];
        diagonals = static_cast<Delta>(qap.a_row(0, x)[x]) * static_cast<Delta>(qap.b_row(0, y)[y]);
      }
      m_.f[0][k] = scale * sum + diagonals;
    });
    __syncthreads();
  }
  /// Starts a phase; by all threads. False: the chain is at the limit, or quiet.
  [[nodiscard]] __device__ __forceinline__ bool begin(std::int64_t limit) {
    if (m_.quiet || m_.state.next >= limit) return false;
    if (threadIdx.x < 2) m_.ended[threadIdx.x] = false;
    __syncthreads();
    return true;
  }

  /// By the `tester`-th of the testers: takes the chain to the limit, or until the temperature freezes.
  __device__ __forceinline__ void test(int tester, std::int64_t limit) {
    seed_columns();
    tester_ = tester;
    slot_ = 4 * tester + slot_bytes;
    stays_ = m_.state.frozen_at >= 0 || !m_.state.cooling.freezes();
    const std::int64_t next = m_.state.next;
    left_ = limit - next / pairs_ * pairs_;
    const std::int64_t freeze = m_.state.end(pairs_, limit) - next / pairs_ * pairs_;
    next_ = static_cast<std::int32_t>(next % pairs_);
    set_limit();
    end_ = min(within(freeze), limit_end_);
    freeze_ = within(freeze - pairs_);
    begin_sweep();
    int tested = test_pairs<P::idle_pairs, false>();
    for (std::int32_t after = next_round();; after = next_round()) {
      for (; key_.swaps() && after < last_end_; after = next_round()) {
        go_behind(after);
        tested = test_pairs<P::pending_pairs, true>();
      }
      if (key_.swaps()) {  // the last of the sweep, or of the phase
        go_behind(after);
        if (!goes_on()) return end();
        tested = test_pairs<P::pending_pairs, true>();
      } else {
        next_ += tested;
        if (!goes_on()) return end();
        tested = test_pairs<P::idle_pairs, false>();
      }
    }
  }

  /// By the `warp`-th of the updaters: of every updaters-th row of F, a lane has four columns.
  __device__ __forceinline__ void update(int warp) {
    struct alignas(16) Four {
      Delta v[4];
    };
    struct alignas(4 * sizeof(typename Types::Entry)) Entries {
      typename Types::Entry v[4];
    };
    constexpr int step = P::updaters * P::pitch;
    const std::int32_t column = 4 * min(lane_, (n_ - 1) / 4);  // lanes beyond do what the last one does
    const std::int32_t offset = warp * P::pitch + column;
    int read = m_.newest;
    Delta f[P::updated_rows][4];
#pragma unroll
    for (int k = 0; k < P::updated_rows; ++k)
#pragma unroll
      for (int c = 0; c < 4; ++c) f[k][c] = m_.f[read][offset + k * step + c];
    for (;;) {
      const SmallKey key = next_key();
      if (!key.swaps()) [[unlikely]] {
        if (key.ends()) break;
        continue;
      }
      read ^= 1;
      Delta* const to = m_.f[read] + offset;
      Delta e[sides][4];
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        const Entries q = *reinterpret_cast<const Entries*>(m_.b[side] + key.q() * P::size + column);
        const Entries u = *reinterpret_cast<const Entries*>(m_.b[side] + key.u() * P::size + column);
#pragma unroll
        for (int c = 0; c < 4; ++c) e[side][c] = static_cast<Delta>(q.v[c]) - static_cast<Delta>(u.v[c]);
        // A lane makes the difference of one row.
        if (lane_ < P::updated_rows) m_.d[warp][side][lane_] = scale * d_of(side, key, lane_ * P::updaters + warp);
      }
      __syncwarp();
      Four d[sides][P::fours];
#pragma unroll
      for (int side = 0; side < sides; ++side)
#pragma unroll
        for (int k = 0; k < P::fours; ++k) d[side][k] = reinterpret_cast<const Four*>(m_.d[warp][side])[k];
#pragma unroll
      for (int k = 0; k < P::updated_rows; ++k) {
        if (k % 4 == 0 && k * P::updaters + warp >= n_) break;
#pragma unroll
        for (int side = 0; side < sides; ++side)
#pragma unroll
          for (int c = 0; c < 4; ++c) f[k][c] += d[side][k / 4].v[k % 4] * e[side][c];
        *reinterpret_cast<Four*>(to + k * step) = {f[k][0], f[k][1], f[k][2], f[k][3]};
      }
    }
    if (warp == 0 && lane_ == 0) m_.newest = read;
  }

  /// By one warp. Leaves the state, the current permutation and the best one.
  __device__ __forceinline__ void keep(std::int64_t limit, std::int32_t* current, std::int32_t* best) {
    seed_columns();
    ChainState state = m_.state;
    const auto store = [&](std::int32_t* to) {
#pragma unroll
      for (int c = 0; c < 4; ++c)
        if (lane_ + 32 * c < n_) to[lane_ + 32 * c] = static_cast<std::int32_t>(__byte_perm(p_, 0, 0x4440 + c));
    };
    const std::int64_t first_q = state.next / pairs_ * pairs_;
    std::int64_t sweep_q = first_q, rounds = 0, proposal = -1;  // of the last swap
    Delta delta = 0;
    // The last swap, with the next one: its digest takes about as long as a round, all else is made meanwhile.
    const auto accept_last = [&] { return accept_any(state, proposal, delta); };
    int sweep = 0;
    const auto next = [&] { return counted(next_key(), pairs_, rounds, sweep, sweep_q); };
    for (SmallKey key = next();; key = next()) {
      for (; key.swaps(); key = next()) {
        // The delta of the tester with this key: a lane looks at one of them.
        const std::uint32_t* const slot = m_.slot[0][0] + (keys_ ^ slot_bytes) / 4 + lane_ % P::testers;
        const int from = __ffs(static_cast<int>(__ballot_sync(~0u, slot[0] == key.word))) - 1;
        const std::uint32_t of_key = __shfl_sync(~0u, slot[2 * P::testers], from);
        const bool improves = accept_last();
        proposal = sweep_q + number_of(key.r(), key.s());
        delta = static_cast<Delta>(of_key);
        if (improves) [[unlikely]]
          store(best);
        exchange(key);
      }
      if (key.ends()) break;
    }
    if (accept_last()) store(best);
    state.hot_barriers += rounds;
    state.hot_barriers += m_.sweeps;
    state.reject_until(m_.quiet ? first_q + m_.sweeps * pairs_ : state.end(pairs_, limit), n_);
    store(current);
    store(m_.p);
    if (lane_ == 0) m_.state = state;
  }

  /// By the `warp`-th of the drawers: the thresholds of sweeps, from that of the next proposal on. A lane has a Philox block.
  __device__ __forceinline__ void draw(int warp) {
    const std::uint64_t seed = m_.state.seed;
    const annealing::Cooling cooling = m_.state.cooling;
    const std::int64_t first = m_.state.next / pairs_;
    for (std::int64_t drawn = 0;; ++drawn) {
      const int parity = static_cast<int>(drawn & 1);
      const std::int64_t sweep = first + drawn;
      for (std::int32_t row = 32 * warp + lane_; row < n_ - 1; row += 32 * P::drawers)
        m_.temperature[parity][row] = annealing::row_temperature(cooling, sweep * pairs_ + annealing::row_start(n_, row));
      for (std::int32_t k = 32 * warp + lane_; k < m_.draws; k += 32 * P::drawers * P::drawn_together) {
        Philox4 words[P::drawn_together];
        std::int32_t row[P::drawn_together], block[P::drawn_together];
#pragma unroll
        for (int h = 0; h < P::drawn_together; ++h) {  // several at a time hide each other's latency
          const std::int32_t draw = m_.draw[min(k + 32 * P::drawers * h, m_.draws - 1)];
          row[h] = draw / 32;
          block[h] = draw % 32;
          words[h] = annealing::words(seed, sweep, row[h], static_cast<std::uint32_t>(block[h]));
        }
#pragma unroll
        for (int h = 0; h < P::drawn_together; ++h)
#pragma unroll
          for (int w = 0; w < 4; ++w) {
            const std::int32_t column = first_column(block[h]) + 16 * w;
            if (column > row[h] && column < n_) m_.threshold[parity][number_of(row[h], column)] = annealing::threshold(words[h].word[w]);
          }
      }
      meet<SmallBarrier::drawn, in_drawn>();
      if (m_.ended[parity]) return;  // drawn in vain: the phase ended in the sweep before
    }
  }

 private:
  static constexpr int sides = Types::sides, slot_bytes = 4 * P::testers;
  static constexpr Delta scale = sides == 1 ? 2 : 1;
  static constexpr std::int32_t beyond = 1 << 30;
  static constexpr int in_round = 32 * (P::testers + P::updaters + 1), in_drawn = 32 * (P::testers + P::drawers);

  template <class Act>
  static __device__ __forceinline__ void each(std::int32_t count, const Act& act) {
    for (std::int32_t k = threadIdx.x; k < count; k += P::threads) act(k);
  }
  /// Of facility x.
  [[nodiscard]] __device__ __forceinline__ Delta d_of(int side, const SmallKey& swap, std::int32_t x) const {
    return row_difference<Delta, P::size>(m_.a[side], swap.r(), swap.s(), x);
  }
  /// Of location l.
  [[nodiscard]] __device__ __forceinline__ Delta e_of(int side, const SmallKey& swap, std::int32_t l) const {
    return row_difference<Delta, P::size>(m_.b[side], swap.q(), swap.u(), l);
  }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t first_column(std::int32_t block) { return (block & 16) << 2 | (block & 15); }
  /// By the first warp. A Philox block has four columns of a row, sixteen apart.
  __device__ __forceinline__ void list_draws() {
    const std::int32_t first = first_column(lane_), last = first < n_ ? first + min((n_ - 1 - first) / 16, 3) * 16 : 0;
    std::int32_t listed = 0;
    for (std::int32_t row = 0; row < n_ - 1; ++row) {
      const unsigned having = __ballot_sync(~0u, row < last);
      if (row < last) m_.draw[listed + __popc(having & below())] = static_cast<std::uint16_t>(row * 32 + lane_);
      listed += __popc(having);
    }
    if (lane_ == 0) m_.draws = listed;
  }
  /// The lanes before this one.
  [[nodiscard]] __device__ __forceinline__ unsigned below() const { return (1u << lane_) - 1; }

  __device__ __forceinline__ void seed_columns() {
    p_ = 0;
    for (int c = 0; c < 4; ++c) p_ |= static_cast<std::uint32_t>(m_.p[lane_ + 32 * c]) << 8 * c;
    read_ = m_.newest;
  }
  /// Of facility i, which may be another in each lane.
  [[nodiscard]] __device__ __forceinline__ std::int32_t location(std::int32_t i) const {
    const std::uint32_t all = __shfl_sync(~0u, p_, i);
    return static_cast<std::int32_t>(__byte_perm(all, 0, 0x4440 + (i >> 5)));
  }
  __device__ __forceinline__ void exchange(const SmallKey& swap) {
    const std::int32_t r = swap.r(), s = swap.s();
    const auto change = static_cast<std::uint32_t>(swap.u() ^ swap.q());
    p_ ^= lane_ == (r & 31) ? change << (r >> 5 << 3) : 0;
    p_ ^= lane_ == (s & 31) ? change << (s >> 5 << 3) : 0;
  }
  /// Ends a round. The first of its keys.
  [[nodiscard]] __device__ __forceinline__ SmallKey next_key() {
    meet<SmallBarrier::round, in_round>();
    const auto* const from = reinterpret_cast<const uint4*>(reinterpret_cast<const unsigned char*>(m_.slot) + keys_);
    keys_ ^= slot_bytes;
    const uint4 x = from[0], y = from[1];
    return {min(min(min(x.x, x.y), min(x.z, x.w)), min(min(y.x, y.y), min(y.z, y.w)))};
  }

  // --- the position of the search: the same in all lanes of all testers ----------------------------------------------------------

  /// Within a sweep, of the first pair of a row.
  [[nodiscard]] __device__ __forceinline__ std::int32_t row_start(std::int32_t row) const { return row * (2 * n_ - row - 1) / 2; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t number_of(std::int32_t r, std::int32_t s) const { return row_start(r) + s - r - 1; }
  /// An end after so many proposals, or beyond the sweep.
  [[nodiscard]] __device__ __forceinline__ std::int32_t within(std::int64_t proposals) const {
    return proposals > pairs_ ? beyond : static_cast<std::int32_t>(max(proposals, std::int64_t{0}));
  }
  __device__ __forceinline__ void set_limit() {
    limit_end_ = within(left_);
    last_end_ = min(limit_end_, pairs_);
  }
  __device__ __forceinline__ void begin_sweep() {
    drawn_ ^= 1;
    ++sweeps_;
    meet<SmallBarrier::drawn, in_drawn>();
  }
  __device__ __forceinline__ void next_sweep() {
    next_ = 0;
    left_ -= pairs_;
    set_limit();
    end_ = stays_ ? limit_end_ : min(limit_end_, freeze_);
    begin_sweep();
  }
  /// Goes on behind a swap. As many rejections as freeze the temperature end with the same pair of the next sweep.
  __device__ __forceinline__ void go_behind(std::int32_t after) {
    next_ = freeze_ = after;
    empty_sweeps_ = 0;
    end_ = limit_end_;
  }
  /// Is there a proposal before the end of the phase? Begins the sweep that it is in.
  [[nodiscard]] __device__ __forceinline__ bool goes_on() {
    if (next_ >= end_) return false;
    if (next_ < pairs_) return true;
    if (++empty_sweeps_ > P::quiet_sweeps) {
      m_.quiet = true;
      return false;
    }
    next_sweep();
    return true;
  }
  __device__ __forceinline__ void end() {
    if (lane_ == 0) {
      m_.slot[0][keys_ / slot_bytes][tester_] = SmallKey::end;
      if (tester_ == 0) {
        m_.sweeps = sweeps_;
        m_.ended[sweeps_ & 1] = true;
      }
    }
    meet<SmallBarrier::round, in_round>();
    meet<SmallBarrier::drawn, in_drawn>();
  }

  // --- tests ---------------------------------------------------------------------------------------------------------------------

  /// Ends a round. The proposal behind its swap, if it had one.
  [[nodiscard]] __device__ __forceinline__ std::int32_t next_round() {
    key_ = next_key();
    exchange(key_);
    return number_of(key_.r(), key_.s()) + 1;
  }
  /// Tests this tester's pairs of those from next_ on, and writes its key. Pending: the swap of key_ has been carried out in the
  /// permutation, and is on its way in F. Returns how many pairs all testers have tested.
  template <int Count, bool Pending>
  [[nodiscard]] __device__ __forceinline__ int test_pairs() {
    slot_ ^= slot_bytes;
    const Delta* const f = m_.f[read_];
    if (Pending) read_ ^= 1;
    const auto parity = static_cast<std::uint32_t>(drawn_ << 7);
    const std::int32_t first = next_ + tester_ * 32 * Count + lane_, end = min(end_, pairs_);
    std::uint32_t pair[Count];
#pragma unroll
    for (int k = 0; k < Count; ++k) pair[k] = m_.pair[first + 32 * k];
    std::int32_t pi[Count], pj[Count];
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      pi[k] = location(static_cast<std::int32_t>(pair[k] >> 8));
      pj[k] = location(static_cast<std::int32_t>(pair[k] & 255));
    }
    bool accepted[Count];
    Delta delta[Count];
    std::uint32_t key[Count];
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      const auto i = static_cast<std::int32_t>(pair[k] >> 8), j = static_cast<std::int32_t>(pair[k] & 255);
      const float threshold = m_.threshold[drawn_][first + 32 * k];
      const annealing::RowTemperature temperature = m_.temperature[drawn_][i];
      Delta a = 0, b = 0, change = 0;
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        a += (m_.a[side] + j)[i * P::size];
        b += (m_.b[side] + pj[k])[pi[k] * P::size];
        if (Pending) change += (d_of(side, key_, i) - d_of(side, key_, j)) * (e_of(side, key_, pj[k]) - e_of(side, key_, pi[k]));
      }
      const Delta* const f_i = f + i * P::pitch;
      const Delta* const f_j = f + j * P::pitch;
      const Delta sum = f_i[pj[k]] + f_j[pi[k]] - f_i[pi[k]] - f_j[pj[k]] + scale * (scale * a * b + change);
      key[k] = (pair[k] << 16 | static_cast<std::uint32_t>(pi[k]) << 8) + (static_cast<std::uint32_t>(pj[k]) | parity);
      accepted[k] = static_cast<int>(first + 32 * k < end) &
                    static_cast<int>(annealing::accepts(sum, annealing::inverse_temperature(temperature, j - i - 1), threshold));
      delta[k] = sum;
    }
    unsigned any = 0;
    bool writes = false;
    std::uint32_t word = SmallKey::none | parity;
    Delta of_word = 0;
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      const unsigned votes = __ballot_sync(~0u, accepted[k]);
      const bool takes = (any == 0) & accepted[k];
      word = takes ? key[k] : word;
      of_word = takes ? delta[k] : of_word;
      writes |= takes & ((votes & below()) == 0);
      any |= votes;
    }
    writes |= (lane_ == 0) & (any == 0);
    if (writes) {
      auto* const slot = reinterpret_cast<std::uint32_t*>(reinterpret_cast<unsigned char*>(m_.slot) + slot_);
      slot[0] = word;
      slot[2 * P::testers] = static_cast<std::uint32_t>(of_word);
    }
    return 32 * P::testers * Count;
  }

  Memory& m_;
  std::int32_t n_, pairs_, lane_;
  std::uint32_t p_ = 0;  ///< locations of facilities lane_, lane_ + 32, ..., a byte each
  int read_ = 0;         ///< copy of F that is not written
  int tester_ = 0;
  std::int32_t keys_ = 0, slot_ = 0;      ///< bytes from Memory::slot to the keys of the next round, and to this tester's of the last
  SmallKey key_{};                        ///< of the last round
  bool stays_ = false;                    ///< no run of rejections changes the schedule
  std::int64_t sweeps_ = 0, left_ = 0;    ///< begun;  proposals from the start of the sweep to the limit
  std::int32_t next_ = 0;                 ///< the next proposal, within its sweep, as the following ones
  std::int32_t empty_sweeps_ = 0;         ///< ended since the last swap
  std::int32_t end_ = 0, limit_end_ = 0;  ///< of the phase, and the one by the limit alone; may be beyond the sweep
  std::int32_t last_end_ = 0;             ///< end of the sweep or by the limit
  std::int32_t freeze_ = 0;               ///< in the next sweep, the end of the phase by freezing
  int drawn_ = 1;                         ///< parity of the sweep
};

template <ElementTypes Types>
__global__ void __launch_bounds__(MediumPolicy<Types>::threads, 1)
    medium_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, Chains chains, std::int64_t chain, std::int64_t limit) {
  using P = MediumPolicy<Types>;
  std::int32_t *const current = chains.current + chain * qap.n, *const best = chains.best + chain * qap.n;
  auto& memory = *reinterpret_cast<MediumMemory<Types>*>(__cvta_shared_to_generic(dynamic_shared_address()));
  MediumSearch<Types> loaded(memory, qap.n);
  loaded.load(qap, chains.state[chain], current);
  // By a shuffle, so the compiler knows that a warp stays together.
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  while (loaded.begin(limit)) {
    MediumSearch<Types> search(memory, qap.n);
    if (warp < P::testers)
      search.test(warp, limit);
    else if (warp == P::testers)
      search.keep(limit, current, best);
    else if (warp <= P::testers + P::drawers)
      search.draw(warp - P::testers - 1);
    else
      search.update(warp - P::testers - 1 - P::drawers);
    __syncthreads();
  }
  if (threadIdx.x == 0) chains.state[chain] = memory.state;
}

// --- the host's side -------------------------------------------------------------------------------------------------------

/// gpu-tuned of more facilities than small.cuh takes. Where the chain is quiet, `Rest` goes on.
template <class Rest>
class Medium {
 public:
  using Types = typename Rest::Types;
  using P = MediumPolicy<Types>;
  static constexpr std::size_t shared_bytes = sizeof(MediumMemory<Types>);

  [[nodiscard]] static bool fits(std::int32_t n) {
    constexpr std::size_t reserve = 1024;  // the system's
    return n <= P::size && shared_bytes + reserve <= cuda::most_shared();
  }

  Medium(const qap::Qap& qap, const DeviceQap<typename Types::Entry>& matrices, const annealing::Task& task)
      : matrices_(matrices), rest_(qap, matrices, task) {
    cuda::allow_shared(medium_kernel<Types>, shared_bytes);
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    const cuda::Shape shape{.blocks = 1, .threads = P::threads, .shared_bytes = shared_bytes};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, medium_kernel<Types>, matrices_, chains, first, limit));
    rest_.launch(chains, first, count, limit, stream);
  }

  [[nodiscard]] std::int64_t batch_size() const { return 1; }
  [[nodiscard]] Policy policy() const {
    Policy policy = rest_.policy();
    policy["round_threads"] = P::threads;
    policy["testers"] = P::testers;
    policy["updaters"] = P::updaters;
    policy["drawers"] = P::drawers;
    return policy;
  }
  /// A named barrier a round and one a sweep, and those of `Rest`.
  [[nodiscard]] Work barriers(const ChainState& state) const { return rest_.barriers(state); }

 private:
  DeviceQap<typename Types::Entry> matrices_;
  Rest rest_;
};

}  // namespace vicinity::sa
