#pragma once
// The tuned annealing of one chain on large symmetric instances of bytes (gpu-tuned): a cluster that keeps no inner products but those of
// the next rows of proposals.
//
// Problem: where one proposal in some hundreds is accepted, bringing all of F up to date takes most of a step, and next to nothing of it is
// read before the next swap. F[i][.] and F[.][i] of the next `rows` facilities i, the window, are all that the next proposals need.
// Data layout: facility q is column q / blocks of block q mod blocks. For each pair (i, q) of the window one thread of q's block has
// F[i][q], F[q][i] and both diagonals in registers. A is in the order of the locations, A[q][p^-1(l)], so that a swap exchanges two of its
// columns and B stays as it is: the rows of the block's own facilities in its shared memory, those of the window in every block's. B is
// there too where it fits (Resident), otherwise in L2. Warps: testers, `row_warps` for a row of the window; the last warp keeps the chain's
// state and sends messages. A step: the first accepted proposal of the window (r, s) is the swap. Each pair gets one product, but for those
// of F[.][r] and F[.][s]: these are A times two rows of B, by the matrix units, all testers a part each            [barrier of the
// testers]. Testers add the parts and test; columns r and s of A are exchanged [block barrier]. The last warp sends the block's first
// accepted proposal to all blocks; the first of all messages is the next swap. If there is none the window is through. Opening a window:
// its rows of A from the blocks that have them, its part of F from scratch by the matrix units. Phases: where hardly anything is accepted
// any more the kernel ends, and the search of annealing.cuh goes on, which takes sweeps at a time. Synchronisation: two barriers and a
// message a step, a cluster barrier a window, at which nobody waits for memory: what other blocks read has been complete since the fence of
// the last warp, beside the messages. Cost of a swap: n^2 / blocks products of bytes and one latency of L2; of a window: `rows` times as
// many products twice.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/cuda/collective/mailbox.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/tuned/annealing.cuh"

namespace vicinity::sa {

/// How the work is dealt. RowWarps: a row's warps in a block.
template <int RowWarps, bool Resident>
struct WindowPolicy {
  static constexpr int blocks = 16, rows = 8, row_warps = RowWarps;
  static constexpr bool resident = Resident;       ///< B is in the shared memory of every block
  static constexpr int columns = 32 * RowWarps;    ///< of a block, at most
  static constexpr int size = blocks * columns;    ///< most facilities
  static constexpr int testers = rows * RowWarps;  ///< warps
  static constexpr int threads = 32 * (testers + 1);
  static constexpr int row_tiles = columns / 16;             ///< of the matrix units, which take 16 facilities at a time
  static constexpr int groups = testers / row_tiles;         ///< warps of a tile
  static constexpr int stretch = 64;                         ///< locations of two instructions: 16 bytes of each of four lanes
  static constexpr int stretches = size / stretch / groups;  ///< of a warp, at most
  static constexpr int sums_pitch = columns + 4;
  static constexpr int rejections = 1536;         ///< the phase ends when fewer than one in so many was accepted
  static constexpr std::int64_t epoch = 1 << 16;  ///< least proposals over which that is judged
  static_assert(stretches <= 4 && testers % row_tiles == 0 && groups % 4 == 0 && stretches * stretch * groups == size);
};

/// Pairs in the order of proposals, within a window: row, column.
struct WindowKey {
  static constexpr int bits = 11;
  static constexpr unsigned mask = (1u << bits) - 1, none = cuda::no_key<unsigned>(), beyond = 1u << 2 * bits;  ///< beyond any window

  [[nodiscard]] static __device__ __forceinline__ unsigned of(std::int32_t row, std::int32_t column) {
    return static_cast<unsigned>(row) << bits | static_cast<unsigned>(column);
  }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t row(unsigned key) { return static_cast<std::int32_t>(key >> bits); }
  [[nodiscard]] static __device__ __forceinline__ std::int32_t column(unsigned key) { return static_cast<std::int32_t>(key & mask); }
};

/// Some rows of a sweep, and what of them is still to be decided when the window opens.
struct RowsWindow {
  std::int64_t sweep, sweep_q;  ///< and its first proposal
  bool follows;                 ///< the window before, at temperatures that went on
  std::int32_t first_row;       ///< -1: the phase is over
  unsigned first_key, end_key;  ///< end: at the present temperatures
  unsigned limit_key;           ///< end once there was a swap
};

/// What a pair is accepted by.
struct Drawn {
  float inverse, threshold;  ///< 1/T
  bool drawn;
};

/// Shared memory of a block, but for the matrices behind it.
template <class P>
struct alignas(128) WindowMemory {
  using Message = cuda::Four<std::int32_t>;  ///< key and location of s (WindowKey), delta, F[r][s], F[s][r]

  Message messages[2][P::blocks];
  Message slots[P::testers];                                       ///< the first accepted proposal of each tester
  alignas(16) std::int32_t sums[2][P::columns][P::groups];         ///< parts of F[q][.] at s's and at r's location
  std::int32_t window_sums[2][P::groups][P::rows][P::sums_pitch];  ///< of F[q][i] and F[i][q]
  std::uint64_t mbarriers[2];
  std::int32_t diagonal[P::columns];  ///< of F, own facilities, when a window opens
  std::uint16_t p[P::size];           ///< by the last warp
  RowsWindow window;                  ///< by the last warp
  ChainState state;                   ///< by the last warp
};

/// sums += 16 x 64 bytes times 64 x 8, in two halves. A lane gives the same 16 locations of rows lane / 4 and lane / 4 + 8, and of column
/// lane / 4; it gets columns 2 (lane % 4) and the next one of both rows.
__device__ __forceinline__ void add_products(std::int32_t (&first)[4], std::int32_t (&second)[4], const uint4& low, const uint4& high,
                                             const uint4& column) {
#if __CUDA_ARCH__ >= 800
  const auto multiply = [](std::int32_t(&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  };
  multiply(first, low.x, high.x, low.y, high.y, column.x, column.y);
  multiply(second, low.z, high.z, low.w, high.w, column.z, column.w);
#endif
}

/// The search of one chain. What is not of a tester alone is the same in all threads of all blocks.
template <class P>
class WindowSearch {
 public:
  using Memory = WindowMemory<P>;
  using Message = typename Memory::Message;
  using Delta = std::int32_t;
  using Entry = std::uint8_t;

  /// Between rows of A in shared memory: whole stretches, an odd number of them, so that eight lanes of two rows have all banks.
  [[nodiscard]] static VICINITY_HD std::int32_t pitch_of(std::int32_t n) { return (divide_up(n, P::stretch) | 1) * P::stretch; }
  [[nodiscard]] static std::size_t shared_bytes(const DeviceQap<Entry>& qap) {
    return sizeof(Memory) + static_cast<std::size_t>((P::columns + P::rows) * pitch_of(qap.n)) +
           (P::resident ? static_cast<std::size_t>(qap.n * qap.pitch) : 0);
  }

  __device__ __forceinline__ WindowSearch(const DeviceQap<Entry>& qap, const Chains& chains, std::int64_t chain, std::int64_t limit,
                                          int rank)
      : qap_(qap),
        m_(*reinterpret_cast<Memory*>(__cvta_shared_to_generic(dynamic_shared_address()))),
        current_(chains.current + chain * qap.n),
        best_(chains.best + chain * qap.n),
        limit_(limit),
        n_(qap.n),
        pitch_(pitch_of(qap.n)),
        pairs_(static_cast<std::int32_t>(annealing::pairs(qap.n))),
        rank_(rank),
        lane_(static_cast<std::int32_t>(threadIdx.x) % 32),
        warp_(__shfl_sync(~0u, static_cast<std::int32_t>(threadIdx.x) / 32, 0)),
        row_(warp_ / P::row_warps),
        local_(warp_ % P::row_warps * 32 + lane_),
        q_column_(local_ * P::blocks + rank),
        tile_(warp_ / P::groups),
        group_(warp_ % P::groups),
        stretches_(tile_ * 16 * P::blocks < qap.n ? (divide_up(qap.n, P::stretch) - group_ + P::groups - 1) / P::groups : -1) {}

  /// Takes the chain up to the limit, or until hardly anything is accepted.
  __device__ __forceinline__ void run(ChainState* state) {
    start(*state);
    if (warp_ == P::testers) {
      lead();
      if (rank_ == 0 && lane_ == 0) *state = m_.state;
    } else {
      test_windows();
    }
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ unsigned key_of(const Message& first) {
    return static_cast<unsigned>(first.v[0]) >> WindowKey::bits;
  }
  /// Of the block's own facilities, then of the window.
  [[nodiscard]] __device__ __forceinline__ Entry* a_row(std::int32_t local) const {
    return reinterpret_cast<Entry*>(&m_ + 1) + local * pitch_;
  }
  [[nodiscard]] __device__ __forceinline__ Entry* a_window(std::int32_t row) const { return a_row(P::columns + row); }
  [[nodiscard]] __device__ __forceinline__ const Entry* b_row(std::int32_t location) const {
    if constexpr (P::resident) return a_row(P::columns + P::rows) + location * qap_.pitch;
    return qap_.b_row(0, location);
  }
  [[nodiscard]] __device__ __forceinline__ Delta b(std::int32_t x, std::int32_t y) const {
    if constexpr (P::resident) return b_row(x)[y];
    return __ldg(b_row(x) + y);
  }
  [[nodiscard]] __device__ __forceinline__ static uint4 chunk_of(const Entry* row, std::int32_t at) {
    return reinterpret_cast<const uint4*>(row)[at];
  }
  /// Behind the row another one of its chunks: A has zeros there.
  [[nodiscard]] __device__ __forceinline__ uint4 b_chunk(std::int32_t location, std::int32_t at) const {
    at = min(at, qap_.chunks() - 1);
    if constexpr (P::resident) return chunk_of(b_row(location), at);
    return chunk(b_row(location), at);
  }
  /// visit(k, 16-byte chunk) for this lane's part of this warp's stretches.
  template <class Visit>
  __device__ __forceinline__ void each_stretch(const Visit& visit) const {
    const std::int32_t first = 4 * group_ + lane_ % 4;
#pragma unroll
    for (int k = 0; k < P::stretches; ++k)
      if (k < stretches_) visit(k, first + 4 * k * P::groups);
  }
  __device__ __forceinline__ static void meet() { cuda::barrier_of_all<false>(); }
  /// Of the cluster. What other blocks read then was written before the fence of the last warp.
  __device__ __forceinline__ static void meet_blocks() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
#endif
  }
  __device__ __forceinline__ static void fence_blocks() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
  }
  __device__ __forceinline__ static void meet_testers() { asm volatile("barrier.sync 1, %0;" ::"n"(32 * P::testers) : "memory"); }

  // --- start -----------------------------------------------------------------------------------------------------------------

  __device__ __forceinline__ void start(const ChainState& state) {
    const auto each = [](std::int32_t count, auto&& act) {
      for (std::int32_t k = threadIdx.x; k < count; k += P::threads) act(k);
    };
    if (threadIdx.x == 0) m_.state = state;
    if (threadIdx.x < 2) mailbox().arrivals.init(threadIdx.x);
    each(n_, [&](std::int32_t k) { m_.p[k] = static_cast<std::uint16_t>(current_[k]); });
    each(P::columns * pitch_ / 16, [&](std::int32_t k) { reinterpret_cast<uint4*>(a_row(0))[k] = {}; });
    if constexpr (P::resident)
      each(n_ * qap_.chunks(), [&](std::int32_t k) {
        reinterpret_cast<uint4*>(a_row(P::columns + P::rows))[k] = __ldg(reinterpret_cast<const uint4*>(qap_.b[0]) + k);
      });
    __syncthreads();
    for (std::int32_t local = 0, q = rank_; q < n_; ++local, q += P::blocks)
      each(n_, [&](std::int32_t k) { a_row(local)[m_.p[k]] = qap_.a_row(0, q)[k]; });
    __syncthreads();
    for (std::int32_t local = warp_, q = rank_ + warp_ * P::blocks; q < n_; local += P::testers + 1, q += (P::testers + 1) * P::blocks) {
      const Delta sum = product_of(a_row(local), m_.p[q]);
      if (lane_ == 0) m_.diagonal[local] = sum;
    }
    cuda::barrier_of_all<true>();
  }
  /// A row of A in shared memory times a row of B, in all lanes.
  [[nodiscard]] __device__ __forceinline__ Delta product_of(const Entry* row, std::int32_t location) const {
    Delta sum = 0;
    for (std::int32_t k = lane_; k < qap_.chunks(); k += 32) sum = dot<Entry>(chunk_of(row, k), b_chunk(location, k), sum);
    return cuda::warp_sum(sum);
  }

  // --- the last warp: position and state of the search ---------------------------------------------------------------------

  __device__ __forceinline__ void lead() {
    cost_ = m_.state.cost;
    best_cost_ = m_.state.best_cost;
    q_ = epoch_start_ = m_.state.next;
    set_position();
    for (;;) {
      const bool over = q_ >= limit_ || quiet();
      open(over);
      if (P::resident)
        __threadfence_block();
      else
        fence_blocks();
      meet_blocks();
      if (over) break;
      for (;;) {
        meet();
        send_first();
        if (P::resident) fence_blocks();  // takes as long as the messages, but B in the L1 cache is gone
        const Message first = receive_first();
        if (static_cast<unsigned>(first.v[0]) == WindowKey::none) break;
        keep(first);
      }
      close();
    }
    if (rank_ == 0)
      for (std::int32_t j = lane_; j < n_; j += 32) current_[j] = m_.p[j];
    if (lane_ == 0) {
      m_.state.reject_until(q_, n_);
      m_.state.steps += step_ - 1;
    }
  }
  /// The next proposal is q_.
  __device__ __forceinline__ void set_position() {
    const Position at = Position::of(q_, n_);
    sweep_ = at.sweep;
    first_row_ = at.r;
    first_key_ = WindowKey::of(0, at.s);
    follows_ = false;
    stays_ = m_.state.frozen_at >= 0 || !m_.state.cooling.freezes();
    end_ = m_.state.end(pairs_, limit_);
  }
  __device__ __forceinline__ void open(bool over) {
    sweep_q_ = sweep_ * pairs_;
    window_end_ = sweep_q_ + annealing::row_start(n_, min(first_row_ + P::rows, n_ - 1));
    const unsigned limit_key = key_at(limit_), end_key = key_at(end_);
    if (lane_ == 0) m_.window = {sweep_, sweep_q_, follows_, over ? -1 : first_row_, first_key_, end_key, limit_key};
  }
  /// The key of proposal q, if it is in the window.
  [[nodiscard]] __device__ __forceinline__ unsigned key_at(std::int64_t q) const {
    if (q >= window_end_) return WindowKey::beyond;
    const annealing::Swap pair = annealing::pair_at(n_, q - sweep_q_);
    return WindowKey::of(pair.r - first_row_, pair.s);
  }
  /// Goes behind the window, or to the end of what can be decided at the present temperatures.
  __device__ __forceinline__ void close() {
    if (end_ > window_end_) {
      q_ = window_end_;
      first_row_ += P::rows;
      if (first_row_ >= n_ - 1) {
        first_row_ = 0;
        ++sweep_;
      }
      first_key_ = WindowKey::of(0, first_row_ + 1);
      follows_ = true;
      return;
    }
    q_ = end_;
    if (end_ == limit_) return;
    if (lane_ == 0) m_.state.reject_until(end_, n_);
    __syncwarp();
    set_position();
  }
  /// Not where the temperature rises again.
  [[nodiscard]] __device__ __forceinline__ bool quiet() {
    const std::int64_t proposals = q_ - epoch_start_;
    if (!m_.state.cooling.freezes() || proposals < max(P::epoch, std::int64_t{pairs_})) return false;
    if (std::int64_t{epoch_swaps_} * P::rejections < proposals) return true;
    epoch_start_ = q_;
    epoch_swaps_ = 0;
    return false;
  }
  __device__ __forceinline__ void send_first() {
    mailbox().send(least<P::testers>(m_.slots), step_);
    if (improved_ && rank_ == 0)
      for (std::int32_t j = lane_; j < n_; j += 32) best_[j] = m_.p[j];
    improved_ = false;
  }
  __device__ __forceinline__ void keep(const Message& first) {
    const std::int32_t r = first_row_ + WindowKey::row(key_of(first)), s = WindowKey::column(key_of(first));
    const std::int64_t q = sweep_q_ + annealing::pair_index(n_, r, s);
    cost_ += first.v[1];
    improved_ = cost_ < best_cost_;
    if (improved_) best_cost_ = cost_;
    if (lane_ == 0) {
      const std::uint16_t p_r = m_.p[r];
      m_.p[r] = m_.p[s];
      m_.p[s] = p_r;
      m_.state.accept(q, first.v[1]);
    }
    __syncwarp();
    ++epoch_swaps_;
    if (!stays_) end_ = min(limit_, q + pairs_ + 1);
  }

  // --- testers -------------------------------------------------------------------------------------------------------------

  __device__ __forceinline__ void test_windows() {
    p_ = q_column_ < n_ ? m_.p[q_column_] : 0;
    f_qq_ = q_column_ < n_ ? m_.diagonal[local_] : 0;
    b_qq_ = b(p_, p_);
    for (;;) {
      meet_blocks();
      first_row_ = m_.window.first_row;
      if (first_row_ < 0) return;
      make_window();
      for (;;) {
        test();
        meet();
        load_tile();
        if (P::resident && !ahead_.drawn) draw_ahead();
        const Message first = receive_first();
        if (static_cast<unsigned>(first.v[0]) == WindowKey::none) break;
        carry_out(first);
      }
    }
  }
  __device__ __forceinline__ void make_window() {
    const std::int32_t chunks = pitch_ / 16;
    for (std::int32_t k = threadIdx.x; k < P::rows * chunks; k += 32 * P::testers) {
      const std::int32_t row = k / chunks, at = k - row * chunks, i = facility(row);
      reinterpret_cast<uint4*>(a_window(row))[at] = reinterpret_cast<const uint4*>(cuda::in_block(a_row(i / P::blocks), i % P::blocks))[at];
    }
    i_ = facility(row_);
    f_ii_ = *cuda::in_block(m_.diagonal + i_ / P::blocks, i_ % P::blocks);
    locations_ = m_.p[facility(lane_)];
    const std::int32_t p_i = __shfl_sync(~0u, locations_, row_);
    b_ii_ = b(p_i, p_i);
    b_iq_ = b(p_i, p_);
    key_ = q_column_ > i_ && q_column_ < n_ ? WindowKey::of(row_, q_column_) : WindowKey::none;
    if (!ahead_.drawn || !m_.window.follows) ahead_ = drawn(m_.window.sweep, m_.window.sweep_q, i_);
    inverse_ = ahead_.inverse;
    threshold_ = ahead_.threshold;
    ahead_.drawn = false;
    meet_testers();
    alpha_ = static_cast<Delta>(a_window(row_)[p_i]) + a_row(local_)[p_] - 2 * static_cast<Delta>(a_row(local_)[p_i]);
    multiply_window();
    meet_testers();
    v_ = sum_of(m_.window_sums[0]);
    u_ = sum_of(m_.window_sums[1]);
    first_key_ = m_.window.first_key;
    end_key_ = m_.window.end_key;
  }
  /// Of a row of the window; behind the sweep the last one, which has no pairs.
  [[nodiscard]] __device__ __forceinline__ std::int32_t facility(std::int32_t row) const {
    return min(first_row_ + min(row, P::rows - 1), n_ - 1);
  }
  [[nodiscard]] __device__ __forceinline__ Drawn drawn(std::int64_t sweep, std::int64_t sweep_q, std::int32_t i) const {
    const annealing::RowTemperature temperature = annealing::row_temperature(m_.state.cooling, sweep_q + annealing::row_start(n_, i));
    const Philox4 words = annealing::words(m_.state.seed, sweep, i, annealing::block_of(q_column_));
    const int word = annealing::word_of(q_column_);
    return {.inverse = annealing::inverse_temperature(temperature, q_column_ - i - 1),
            .threshold = annealing::threshold(word == 0   ? words.word[0]
                                              : word == 1 ? words.word[1]
                                              : word == 2 ? words.word[2]
                                                          : words.word[3]),
            .drawn = true};
  }
  /// Of the window behind this one, if the same temperatures go on there.
  __device__ __forceinline__ void draw_ahead() {
    const RowsWindow& now = m_.window;
    const std::int32_t behind = first_row_ + P::rows;
    const bool same_sweep = behind < n_ - 1;
    ahead_ =
        drawn(now.sweep + (same_sweep ? 0 : 1), now.sweep_q + (same_sweep ? 0 : pairs_), min((same_sweep ? behind : 0) + row_, n_ - 1));
  }
  /// F[q][i] = A of q times B at i's location, F[i][q] = B at q's location times A of i.
  __device__ __forceinline__ void multiply_window() {
    const std::int32_t in_tile = tile_ * 16 + lane_ / 4, of_row = __shfl_sync(~0u, locations_, lane_ / 4);
    std::int32_t v[2][4] = {}, u[2][4] = {}, own[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) own[half] = m_.p[min((in_tile + 8 * half) * P::blocks + rank_, n_ - 1)];
    each_stretch([&](int, std::int32_t at) {
      const uint4 b_low = b_chunk(own[0], at), b_high = b_chunk(own[1], at);
      const uint4 a_low = chunk_of(a_row(in_tile), at), a_high = chunk_of(a_row(in_tile + 8), at);
      add_products(v[0], v[1], a_low, a_high, b_chunk(of_row, at));
      add_products(u[0], u[1], b_low, b_high, chunk_of(a_window(lane_ / 4), at));
    });
    if (stretches_ < 0) return;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const std::int32_t row = 2 * (lane_ % 4) + c % 2, column = in_tile + c / 2 * 8;
      m_.window_sums[0][group_][row][column] = v[0][c] + v[1][c];
      m_.window_sums[1][group_][row][column] = u[0][c] + u[1][c];
    }
  }
  [[nodiscard]] __device__ __forceinline__ Delta sum_of(const std::int32_t (&parts)[P::groups][P::rows][P::sums_pitch]) const {
    Delta sum = 0;
#pragma unroll
    for (int g = 0; g < P::groups; ++g) sum += parts[g][row_][local_];
    return sum;
  }

  // --- steps ---------------------------------------------------------------------------------------------------------------

  /// This warp's part of A, for the products of the next swap.
  __device__ __forceinline__ void load_tile() {
    const Entry* const row = a_row(tile_ * 16 + lane_ / 4);
    each_stretch([&](int k, std::int32_t at) {
      tile_low_[k] = chunk_of(row, at);
      tile_high_[k] = chunk_of(row + 8 * pitch_, at);
    });
  }

  __device__ __forceinline__ void test() {
    const Delta delta = 2 * (u_ + v_ - f_ii_ - f_qq_) + alpha_ * (b_ii_ + b_qq_ - 2 * b_iq_);
    const bool accepted = key_ >= first_key_ && key_ < end_key_ && annealing::accepts(delta, inverse_, threshold_);
    const unsigned mine = accepted ? key_ << WindowKey::bits | static_cast<unsigned>(p_) : WindowKey::none;
    if (mine == cuda::warp_min(mine) && (accepted || lane_ == 0)) m_.slots[warp_] = {static_cast<std::int32_t>(mine), delta, u_, v_};
  }

  [[nodiscard]] __device__ __forceinline__ cuda::CountedMailbox<std::int32_t> mailbox() const {
    return {static_cast<std::uint32_t>(__cvta_generic_to_shared(m_.messages)),
            {static_cast<std::uint32_t>(__cvta_generic_to_shared(m_.mbarriers))},
            P::blocks,
            rank_};
  }
  /// The one with the least key, in all lanes.
  template <int Count>
  [[nodiscard]] __device__ __forceinline__ Message least(const Message* messages) const {
    const unsigned mine = lane_ < Count ? static_cast<unsigned>(messages[lane_].v[0]) : WindowKey::none;
    return messages[__ffs(static_cast<int>(__ballot_sync(~0u, mine == cuda::warp_min(mine)))) - 1];
  }
  [[nodiscard]] __device__ __forceinline__ Message receive_first() {
    const Message first = least<P::blocks>(mailbox().wait(step_));
    ++step_;
    return first;
  }
  /// The swap of r and s. In the notation of core/problems/qap/inner_products.hpp: d[x] = A[x][r] - A[x][s], with
  /// e of the locations after the swap, F[x][y] = F before[x][y with r and s exchanged] + d[x] e[y].
  __device__ __forceinline__ void carry_out(const Message& first) {
    const std::int32_t row_r = WindowKey::row(key_of(first)), r = first_row_ + row_r, s = WindowKey::column(key_of(first));
    const std::int32_t at_s = first.v[0] & static_cast<std::int32_t>(WindowKey::mask), at_r = __shfl_sync(~0u, locations_, row_r);
    // Of two rows of B, the columns of the products, eight lanes have a stretch.
    uint4 rows{};
    if (lane_ / 8 < stretches_) rows = b_chunk((lane_ & 4) == 0 ? at_s : at_r, 4 * (group_ + lane_ / 8 * P::groups) + lane_ % 4);
    const bool is_r = i_ == r, is_s = i_ == s, q_is_r = q_column_ == r, q_is_s = q_column_ == s;
    p_ = q_is_r ? at_s : q_is_s ? at_r : p_;
    locations_ = lane_ == row_r ? at_s : first_row_ + lane_ == s ? at_r : locations_;
    const std::int32_t p_i = __shfl_sync(~0u, locations_, row_);
    const Delta s_q = b(at_s, p_), r_q = b(at_r, p_), s_i = b(at_s, p_i), r_i = b(at_r, p_i);
    Entry *const own = a_row(local_), *const in_window = a_window(row_);
    const Entry q_r = own[at_r], q_s = own[at_s], i_r = in_window[at_r], i_s = in_window[at_s];
    const Delta d_q = static_cast<Delta>(q_r) - q_s, d_i = static_cast<Delta>(i_r) - i_s, e_q = s_q - r_q, e_i = s_i - r_i;
    f_qq_ = (q_is_r ? first.v[2] : q_is_s ? first.v[3] : f_qq_) + d_q * e_q;
    f_ii_ = (is_r ? first.v[2] : is_s ? first.v[3] : f_ii_) + d_i * e_i;
    u_ += d_i * e_q;
    v_ += d_q * e_i;
    b_qq_ = q_is_r ? s_q : q_is_s ? r_q : b_qq_;
    b_ii_ = is_r ? s_i : is_s ? r_i : b_ii_;
    b_iq_ = is_r ? s_q : is_s ? r_q : q_is_r ? s_i : q_is_s ? r_i : b_iq_;
    const bool with_s = s / (32 * P::blocks) == warp_ % P::row_warps, owns_s = with_s && s % P::blocks == rank_;
    Delta f_is = 0;  // of the column that s had
    if (owns_s && i_ > r && i_ < s) f_is = product_of(in_window, at_r);
    multiply_columns(rows);
    meet_testers();
    if (is_r || is_s) {
      const auto* const parts = reinterpret_cast<const int4*>(m_.sums[is_s][local_]);
      v_ = d_q * e_i;
#pragma unroll
      for (int g = 0; g < P::groups / 4; ++g) v_ += parts[g].x + parts[g].y + parts[g].z + parts[g].w;
    }
    if (q_is_s && i_ > r && i_ < s) u_ = f_is + d_i * e_q;
    if (row_ == 0) m_.diagonal[local_] = f_qq_;  // for other blocks' next windows
    first_key_ = key_of(first) + 1;
    end_key_ = m_.window.limit_key;
    if (with_s && lane_ == 0) {
      in_window[at_r] = i_s;
      in_window[at_s] = i_r;
    }
    if (row_ == (row_r + 1) % P::rows) {
      own[at_r] = q_s;
      own[at_s] = q_r;
    }
  }
  /// This warp's part of F[q][s] and F[q][r] before the swap.
  __device__ __forceinline__ void multiply_columns(const uint4& rows) {
    std::int32_t sum[2][4] = {};
    each_stretch([&](int k, std::int32_t) {
      const std::int32_t from = 8 * k + lane_ % 8;
      const uint4 columns{__shfl_sync(~0u, rows.x, from), __shfl_sync(~0u, rows.y, from), __shfl_sync(~0u, rows.z, from),
                          __shfl_sync(~0u, rows.w, from)};
      add_products(sum[0], sum[1], tile_low_[k], tile_high_[k], columns);
    });
    if (stretches_ < 0 || lane_ % 4 != 0) return;
#pragma unroll
    for (int c = 0; c < 4; ++c) m_.sums[c % 2][tile_ * 16 + lane_ / 4 + c / 2 * 8][group_] = sum[0][c] + sum[1][c];
  }

  const DeviceQap<Entry>& qap_;
  Memory& m_;
  std::int32_t *current_, *best_;
  std::int64_t limit_;
  std::int32_t n_, pitch_, pairs_, rank_, lane_, warp_;
  // Of a tester: its row of the window, its column, its part of products.
  std::int32_t row_, local_, q_column_, tile_, group_;
  std::int32_t stretches_;  ///< -1: no facility in its tile

  std::int32_t first_row_ = 0;
  unsigned first_key_ = 0;  ///< of the first pair still to be decided
  unsigned step_ = 1;
  // Of the last warp.
  std::int64_t sweep_ = 0, sweep_q_ = 0, q_ = 0;  ///< the next proposal is q_, when a window opens
  std::int64_t window_end_ = 0, end_ = 0;         ///< proposals before end_ can be decided at the present temperatures
  std::int64_t epoch_start_ = 0, cost_ = 0, best_cost_ = 0;
  std::int32_t epoch_swaps_ = 0;
  bool stays_ = false;  ///< no run of rejections changes the schedule
  bool improved_ = false;
  bool follows_ = false;  ///< RowsWindow::follows

  // Of a tester.
  unsigned end_key_ = 0;
  std::int32_t i_ = 0, p_ = 0;                 ///< the row's facility;  the column's location
  std::int32_t locations_ = 0;                 ///< of the window's facility `lane_`
  Delta u_ = 0, v_ = 0, f_ii_ = 0, f_qq_ = 0;  ///< F[i][q], F[q][i] and the diagonals; and those of B and its element
  Delta b_ii_ = 0, b_qq_ = 0, b_iq_ = 0, alpha_ = 0;
  float inverse_ = 0, threshold_ = 0;
  Drawn ahead_{};  ///< of the next window
  unsigned key_ = WindowKey::none;
  uint4 tile_low_[P::stretches] = {}, tile_high_[P::stretches] = {};
};

template <class P>
__global__ void __launch_bounds__(P::threads, 1)
    window_kernel(const __grid_constant__ DeviceQap<std::uint8_t> qap, Chains chains, std::int64_t chain, std::int64_t limit) {
  ChainState* const state = chains.state + chain;
  if (state->next >= limit) return;
  WindowSearch<P>(qap, chains, chain, limit, static_cast<int>(blockIdx.x)).run(state);
}

// --- the host's side -------------------------------------------------------------------------------------------------------

/// gpu-tuned of symmetric matrices of bytes. Where the chain is quiet, `Rest` goes on.
template <class Rest>
class Windowed {
 public:
  using Types = typename Rest::Types;
  using Near = WindowPolicy<1, true>;
  using Far = WindowPolicy<2, false>;
  static constexpr std::int32_t least = 201;  ///< facilities; of fewer the search of annealing.cuh is as fast or faster

  Windowed(const qap::Qap& qap, const DeviceQap<std::uint8_t>& matrices, const annealing::Task& task)
      : matrices_(matrices),
        rest_(qap, matrices, task),
        kernel_(fits<Near>(matrices) ? launch_of<Near>(matrices) : launch_of<Far>(matrices)) {}

  [[nodiscard]] static bool fits(std::int32_t n) {
    if (n < least) return false;
    DeviceQap<std::uint8_t> matrices{};
    matrices.n = n;
    matrices.pitch = divide_up(n, 16) * 16;
    return fits<Near>(matrices) || fits<Far>(matrices);
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    rest_.launch_hot(chains, first, count, limit, stream);
    VICINITY_CUDA_CHECK(cuda::launch(kernel_.shape, stream, kernel_.kernel, matrices_, chains, first, limit));
    rest_.permute(chains, first, static_cast<unsigned>(count), stream);
    rest_.launch_rows(chains, first, count, limit, stream);
  }

  [[nodiscard]] std::int64_t batch_size() const { return 1; }
  [[nodiscard]] Policy policy() const {
    Policy policy = rest_.policy();
    policy["window_rows"] = kernel_.rows;
    policy["window_threads"] = kernel_.shape.threads;
    policy["window_shared_bytes"] = static_cast<std::int64_t>(kernel_.shape.shared_bytes);
    return policy;
  }
  [[nodiscard]] Work barriers(const ChainState& state) const { return rest_.barriers(state); }

 private:
  struct Kernel {
    cuda::Shape shape;
    void (*kernel)(DeviceQap<std::uint8_t>, Chains, std::int64_t, std::int64_t);
    std::int64_t rows;
  };

  template <class P>
  [[nodiscard]] static cuda::Shape shape_of(const DeviceQap<std::uint8_t>& matrices) {
    return {.blocks = P::blocks, .threads = P::threads, .shared_bytes = WindowSearch<P>::shared_bytes(matrices), .cluster = P::blocks};
  }
  template <class P>
  [[nodiscard]] static bool fits(const DeviceQap<std::uint8_t>& matrices) {
    constexpr std::size_t reserve = 1024;  // the system's
    if (matrices.n > P::size || WindowSearch<P>::shared_bytes(matrices) + reserve > cuda::most_shared()) return false;
    cuda::allow_shared(window_kernel<P>, WindowSearch<P>::shared_bytes(matrices));
    return cuda::clusters_at_a_time(shape_of<P>(matrices), window_kernel<P>) > 0;
  }
  template <class P>
  [[nodiscard]] static Kernel launch_of(const DeviceQap<std::uint8_t>& matrices) {
    return {shape_of<P>(matrices), &window_kernel<P>, P::rows};
  }

  DeviceQap<std::uint8_t> matrices_;
  Rest rest_;
  Kernel kernel_;
};

}  // namespace vicinity::sa
