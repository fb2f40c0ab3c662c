#pragma once
// The cold phase of the tuned annealing: all deltas kept in registers, all proposals of the next rows decided at once.
#include "kernels/sa/cold_layout.cuh"

namespace vicinity::sa {

/// inner[c] = sum over k and sides of a(k, c) b'(k, c). Mapping: blockIdx.y a chain, a warp a column.
template <class Types>
__global__ void __launch_bounds__(256)
    inner_kernel(DeviceQap<typename Types::Entry> qap, Chains chains, std::int64_t first, typename Types::Delta* inner) {
  const std::int32_t n = qap.n, c = blockIdx.x * 8 + threadIdx.x / 32;
  if (c >= n) return;
  const std::int32_t* p = chains.current + (first + blockIdx.y) * n;
  typename Types::Delta sum = 0;
  for (int side = 0; side < Types::sides; ++side) {
    const auto *a = qap.a_row(side, c), *b = qap.b_row(side, p[c]);
    for (std::int32_t k = threadIdx.x % 32; k < n; k += 32) sum += static_cast<typename Types::Delta>(a[k]) * b[p[k]];
  }
  sum = lane_sum<32>(sum);
  if (threadIdx.x % 32 == 0) inner[std::size_t(blockIdx.y) * n + c] = sum;
}

/// Mapping: a chain is one block, a cluster or the whole grid (ColdPolicy). A thread keeps the deltas of its units, four columns of a row
/// each, in registers; every pair is kept twice, (i, j) with the block of column j and (j, i) with that of column i. A step:
///  1. gather: rows r and s of A and of permuted B into shared memory; one thread does the bookkeeping;  [block barrier]
///  2. units: delta(i,j) += products of differences (Taillard's update, without gathers), then the test of the next rows' proposals;
///     meanwhile the other threads: deltas of r and s with the own columns from inner products, tested as well and sent to the owners of
///     the other copies, who take them over in the next step; random words for rows further on;          [block barrier]
///  3. exchange: the first accepted proposal of all blocks.                                               [exchange]
/// Without one, the next rows are tested. Cost of a step: n^2 / blocks updates, 4n / blocks inner products of length n, one exchange.
template <class Types, int Units>
class Cold {
 public:
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;

  __device__ __forceinline__ Cold(const DeviceQap<Entry>& qap, const ColdPolicy& policy, const Chains& chains,
                                  const ColdShared<Delta>& shared, std::size_t chain, std::size_t in_launch, std::int64_t limit, int rank,
                                  const ColdStorage<Types>& storage, ChainState& state, Standing& now, ExchangeStorage<Delta>& exchange)
      : qap_(qap),
        policy_(policy),
        m_(storage),
        state_(state),
        now_(now),
        exchange_(policy.space, rank, policy.blocks, exchange, shared.board + in_launch),
        fresh_(shared.fresh + in_launch * 4 * qap.n),
        inner_(shared.inner + in_launch * qap.n),
        current_(chains.current + chain * qap.n),
        best_(chains.best + chain * qap.n),
        limit_(limit),
        n_(qap.n),
        units_(policy.own * policy.rows),
        rank_(rank),
        lane_(threadIdx.x % 32),
        warp_(threadIdx.x / 32) {
#pragma unroll
    for (int k = 0; k < Units; ++k) {
      const std::int32_t unit = threadIdx.x + k * ColdPolicy::unit_threads;
      const std::int32_t row = unit % policy.rows, group = unit / policy.rows;  // groups from policy.own on: no unit
      unit_[k].packed = row << 16 | group;
      for (int w = 0; w < 4; ++w) {
        const std::int32_t j = first_column(group) + 16 * w;
        if (threadIdx.x < ColdPolicy::unit_threads && group < policy.own && row < j && j < n_) pairs_ |= Mask{1} << (4 * k + w);
      }
    }
  }

  /// Takes the chain up to the limit, or up to where it freezes and on.
  __device__ __forceinline__ void run() {
    start();
    while (more_) {
      exchange_.publish(found_);
      const Found<Delta> winner = exchange_.finish();
      found_ = {};
      if (winner.key == Found<Delta>::none)
        pass();
      else
        swap(winner);
    }
    if (rank_ != 0) return;
    for (std::int32_t k = threadIdx.x; k < n_; k += threads) current_[k] = p()[k];
    if (threadIdx.x == 0) state_.reject_until(now_.at.q, n_);
  }

 private:
  struct Unit {
    std::int32_t packed;

    [[nodiscard]] __device__ __forceinline__ std::int32_t row() const { return packed >> 16; }
    [[nodiscard]] __device__ __forceinline__ std::int32_t group() const { return packed & 0xFFFF; }
  };
  using Mask = std::conditional_t<Units <= 8, unsigned, unsigned long long>;
  static constexpr std::int32_t nobody = -1, threads = ColdPolicy::threads;
  static constexpr int key_bits = 12;

  [[nodiscard]] __device__ __forceinline__ std::uint16_t* p(int parity) const { return m_.p.data() + parity * n_; }
  [[nodiscard]] __device__ __forceinline__ const std::uint16_t* p() const { return p(parity_); }
  [[nodiscard]] __device__ __forceinline__ Entry* ax(int side, int x) const { return m_.ax.data() + (2 * side + x) * qap_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Entry* bx(int side, int x) const { return m_.bx.data() + (2 * side + x) * qap_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* row_u(int side) const { return m_.row_u.data() + side * policy_.rows; }
  [[nodiscard]] __device__ __forceinline__ Delta* row_w(int side) const { return m_.row_w.data() + side * policy_.rows; }
  [[nodiscard]] __device__ __forceinline__ Delta* column_u(int side) const { return m_.column_u.data() + side * 4 * policy_.own; }
  [[nodiscard]] __device__ __forceinline__ Delta* column_w(int side) const { return m_.column_w.data() + side * 4 * policy_.own; }
  [[nodiscard]] __device__ __forceinline__ Delta* fresh(int parity, int x) const {
    return m_.fresh.data() + (2 * parity + x) * 4 * policy_.own;
  }
  [[nodiscard]] __device__ __forceinline__ Delta* arrived(int parity, int x) const {
    return m_.arrived.data() + (2 * parity + x) * policy_.rows;
  }
  [[nodiscard]] __device__ __forceinline__ Delta* inner(int parity) const { return m_.inner.data() + 2 * parity; }
  [[nodiscard]] __device__ __forceinline__ Entry* resident(int side, int which, std::int32_t i) const {
    return m_.matrices.data() + ((2 * side + which) * n_ + i) * qap_.pitch;
  }
  [[nodiscard]] __device__ __forceinline__ const Entry* a_row(int side, std::int32_t i) const {
    return policy_.resident ? resident(side, 0, i) : qap_.a_row(side, i);
  }
  [[nodiscard]] __device__ __forceinline__ const Entry* b_row(int side, std::int32_t i) const {
    return policy_.resident ? resident(side, 1, i) : qap_.b_row(side, i);
  }
  [[nodiscard]] __device__ __forceinline__ bool keeps_books() const { return threadIdx.x == threads - 1; }
  /// Then their threads have time for other work.
  [[nodiscard]] __device__ __forceinline__ bool units_are_few() const { return units_ <= 2 * ColdPolicy::unit_threads; }
  [[nodiscard]] __device__ __forceinline__ bool holds_units() const { return threadIdx.x < ColdPolicy::unit_threads; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t first_column(std::int32_t group) const {
    const std::int32_t g = rank_ + group * policy_.blocks;
    return (g >> 4 << 6) + (g & 15);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t column(std::int32_t slot) const {
    return first_column(slot >> 2) + 16 * (slot & 3);
  }

  // --- start ---

  __device__ __forceinline__ void start() {
    if (policy_.resident)
      for (int side = 0; side < Types::sides; ++side)
        for (std::int32_t i = threadIdx.x; i < n_ * qap_.chunks(); i += threads) {
          reinterpret_cast<uint4*>(resident(side, 0, 0))[i] = chunk(qap_.a_row(side, 0), i);
          reinterpret_cast<uint4*>(resident(side, 1, 0))[i] = chunk(qap_.b_row(side, 0), i);
        }
    for (std::int32_t k = threadIdx.x; k < n_; k += threads) {
      p(0)[k] = static_cast<std::uint16_t>(current_[k]);
      const auto g = static_cast<std::int32_t>(annealing::block_of(k));
      m_.slot[k] = static_cast<std::int16_t>(g % policy_.blocks == rank_ ? g / policy_.blocks * 4 + annealing::word_of(k) : nobody);
    }
    const std::int32_t columns = 4 * policy_.own;
    for (std::int32_t slot = threadIdx.x; slot < columns; slot += threads) m_.diagonal[slot] = column(slot) < n_ ? inner_[column(slot)] : 0;
    for (int side = 0; side < Types::sides; ++side)  // the padding must read as zero
      for (std::int32_t k = n_ + threadIdx.x; k < qap_.pitch; k += threads)
        for (int x = 0; x < 2; ++x) ax(side, x)[k] = bx(side, x)[k] = 0;
    if (threadIdx.x < 4) m_.inner[threadIdx.x] = 0;
    __syncthreads();
    for (std::int32_t slot = 0; slot < columns; slot += 2) build(slot);
    if (keeps_books())
      now_ = {Position::of(state_.next, n_), state_.end(annealing::pairs(n_), limit_), 0, 0, 0, 1 << 14, {0, 0}, true, false};
    __syncthreads();
    look_ahead();
    if (holds_units()) test(nobody, nobody);
  }

  /// All deltas of two own columns, into the registers of their units.
  __device__ __forceinline__ void build(std::int32_t slot) {
    const std::int32_t c0 = min(column(slot), n_ - 1), c1 = min(column(slot + 1), n_ - 1);
    for (std::int32_t k = threadIdx.x; k < n_; k += threads)
      for (int side = 0; side < Types::sides; ++side) {
        ax(side, 0)[p()[k]] = a_row(side, c0)[k];
        ax(side, 1)[p()[k]] = a_row(side, c1)[k];
        bx(side, 0)[k] = b_row(side, p()[c0])[p()[k]];
        bx(side, 1)[k] = b_row(side, p()[c1])[p()[k]];
      }
    __syncthreads();
    const auto store = [&](std::int32_t o, int x, Delta delta, std::int32_t, Delta) { (x == 0 ? row_u(0) : row_w(0))[o] = delta; };
    dots(
        0, n_, c0, c1, inner_[c0], inner_[c1], [](std::int32_t task) { return task; },
        [&](std::int32_t o, std::int32_t) { return inner_[o]; }, store);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Units; ++k) {
      if (!holds_units() || unit_[k].group() != slot >> 2) continue;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        delta_[k][w] = w == (slot & 3) ? row_u(0)[unit_[k].row()] : w == (slot & 3) + 1 ? row_w(0)[unit_[k].row()] : delta_[k][w];
      }
    }
    __syncthreads();
  }

  // --- inner products ---

  /// Deltas of swapping c0 and c1, whose rows are in shared memory, with the facilities other(0) .. other(tasks - 1) (those below n): calls
  /// store(facility, 0 or 1, delta, task, inner) from one lane each. Done by the threads from `from_thread` on. inner0, inner1 and
  /// inner_of(facility, task) are diagonals.
  template <class Other, class InnerOf, class Store>
  __device__ __forceinline__ void dots(std::int32_t from_thread, std::int32_t tasks, std::int32_t c0, std::int32_t c1, Delta inner0,
                                       Delta inner1, Other other, InnerOf inner_of, Store store) {
    if (qap_.chunks() > 8 && 4 * policy_.own * 32 <= threads - from_thread)
      dots_by<32>(from_thread, tasks, c0, c1, inner0, inner1, other, inner_of, store);
    else
      dots_by<8>(from_thread, tasks, c0, c1, inner0, inner1, other, inner_of, store);
  }
  template <int Lanes, class Other, class InnerOf, class Store>
  __device__ __forceinline__ void dots_by(std::int32_t from_thread, std::int32_t tasks, std::int32_t c0, std::int32_t c1, Delta inner0,
                                          Delta inner1, Other other, InnerOf inner_of, Store store) {
    const std::int32_t at_once = (threads - from_thread) / Lanes;
    for (std::int32_t base = 0; base < tasks; base += at_once) {
      const std::int32_t task = base + (static_cast<std::int32_t>(threadIdx.x) - from_thread) / Lanes, part = lane_ % Lanes;
      const std::int32_t o = task < tasks ? other(task) : n_;
      Delta sum0 = 0, sum1 = 0;
      if (o < n_)
        for (int side = 0; side < Types::sides; ++side) {
          const Entry *a = a_row(side, o), *b = b_row(side, p()[o]);
          for (std::int32_t i = part; i < qap_.chunks(); i += Lanes) {
            const uint4 ca = plain_chunk(a, i), cb = plain_chunk(b, i);
            sum0 = dot<Entry>(ca, plain_chunk(bx(side, 0), i), dot<Entry>(cb, plain_chunk(ax(side, 0), i), sum0));
            sum1 = dot<Entry>(ca, plain_chunk(bx(side, 1), i), dot<Entry>(cb, plain_chunk(ax(side, 1), i), sum1));
          }
        }
      sum0 = lane_sum<Lanes>(sum0);
      sum1 = lane_sum<Lanes>(sum1);
      const Delta of_o = o < n_ ? inner_of(o, task) : 0;
      __syncwarp();  // store() may overwrite what inner_of() read
      if (o >= n_ || part > 1) continue;
      store(o, part, delta_of(part, part == 0 ? c0 : c1, o, (part == 0 ? sum0 - inner0 : sum1 - inner1) - of_o), task, of_o);
    }
  }
  [[nodiscard]] static __device__ __forceinline__ uint4 plain_chunk(const Entry* row, std::int32_t i) {
    return reinterpret_cast<const uint4*>(row)[i];
  }

  /// The delta of swapping facility c (row x in shared memory) and o, from the sum over all k of one side or both.
  [[nodiscard]] __device__ __forceinline__ Delta delta_of(int x, std::int32_t c, std::int32_t o, Delta sum) const {
    const std::int32_t po = p()[o], pc = p()[c];
    constexpr int back = Types::sides - 1;
    const auto get = [](const auto& row, std::int32_t i) { return static_cast<Delta>(row[i]); };
    const Delta a_co = get(ax(0, x), po), a_oc = get(ax(back, x), po), a_cc = get(ax(0, x), pc), a_oo = get(a_row(0, o), o);
    const Delta b_co = get(bx(0, x), o), b_oc = get(bx(back, x), o), b_cc = get(bx(0, x), c), b_oo = get(b_row(0, po), po);
    if constexpr (Types::sides == 1) sum *= 2;
    return corrected(sum, a_cc, a_oo, a_co, a_oc, b_cc, b_oo, b_co, b_oc);
  }

  // --- proposals ---

  /// Takes over what the bookkeeper left; a block barrier lies between.
  __device__ __forceinline__ void catch_up() {
    r_ = now_.at.r;
    ring_ = now_.ring;
    window_ = now_.window;
    more_ = now_.at.q < now_.end;
  }
  /// Bookkeeping: goes on at `next`, `rows` further on. Rows decided in one step are some times as many as it took of late.
  __device__ __forceinline__ void stand(const Position& next, std::int32_t rows, std::int32_t ahead) {
    now_.at = next;
    now_.end = state_.end(annealing::pairs(n_), limit_);
    now_.ring += rows;
    now_.ahead = ahead;
    now_.window = min(min(ahead, n_ - 1), now_.rows_used / 32 + 2);
    now_.last = now_.end - next.q < std::int64_t{now_.window} * n_;
  }
  /// Rows from the next proposal's to row i, in the order of proposals.
  [[nodiscard]] __device__ __forceinline__ std::int32_t rows_to(std::int32_t i) const { return i - r_ + (i < r_ ? n_ - 1 : 0); }
  [[nodiscard]] __device__ __forceinline__ std::int64_t first_of_row(std::int32_t i) const {
    return (now_.at.lap + (i < r_ ? 1 : 0)) * annealing::pairs(n_) + annealing::row_start(n_, i);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t ring_row(std::int32_t rows) const { return (ring_ + rows) & (policy_.ring - 1); }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t* words_of(std::int32_t rows) const {
    return m_.words.data() + ring_row(rows) * (4 * policy_.own);
  }
  /// Decides the pair (i, j) exactly, if it is one of the proposals to decide now.
  __device__ __forceinline__ void decide(std::int32_t rows, std::int32_t i, std::int32_t j, Delta delta, std::uint32_t word) {
    const unsigned key = static_cast<unsigned>(rows) << key_bits | static_cast<unsigned>(j);
    if (key >= found_.key || (rows == 0 && j < now_.at.s)) return;
    if (now_.last && first_of_row(i) + (j - i - 1) >= now_.end) return;
    const annealing::RowTemperature temperature{m_.coldest[ring_row(rows)], static_cast<float>(state_.cooling.step)};
    if (annealing::accepts(delta, annealing::inverse_temperature(temperature, j - i - 1), annealing::level(word))) found_ = {key, delta};
  }
  /// A bound on the Metropolis test by approximate arithmetic: false only if the test surely fails. 1/T is at least `coldest`.
  [[nodiscard]] static __device__ __forceinline__ bool may_pass(Delta delta, float coldest, std::uint32_t word) {
    const float exponent = fmaf(-static_cast<float>(delta) * coldest, 1.44269504f, 32.01f);  // 2^0.01 is far above all rounding
    float bound;
    asm("ex2.approx.f32 %0, %1;" : "=f"(bound) : "f"(exponent));
    return static_cast<float>(word) <= bound;
  }

  /// Tests the units' pairs in the window, those of r and s left out: a quick bound on all, then exactly on the few that may pass.
  __device__ __forceinline__ void test(std::int32_t r, std::int32_t s) {
    Mask candidates = 0;
#pragma unroll
    for (int k = 0; k < Units; ++k) {
      if (k * ColdPolicy::unit_threads >= units_) break;
      const std::int32_t i = unit_[k].row(), rows = rows_to(i);
      if (unit_[k].group() >= policy_.own || rows >= window_ || first_column(unit_[k].group()) + 48 <= i) continue;
      const float coldest = m_.coldest[ring_row(rows)];
      const uint4 words = *reinterpret_cast<const uint4*>(words_of(rows) + 4 * unit_[k].group());
      const unsigned pass = may_pass(delta_[k][0], coldest, words.x) | may_pass(delta_[k][1], coldest, words.y) << 1 |
                            may_pass(delta_[k][2], coldest, words.z) << 2 | may_pass(delta_[k][3], coldest, words.w) << 3;
      candidates |= static_cast<Mask>(pass) << (4 * k);
    }
    candidates &= pairs_;
    while (candidates != 0) {
      const int bit = __ffsll(static_cast<long long>(candidates)) - 1;
      candidates &= candidates - 1;
      Unit unit{};
      Delta delta = 0;
#pragma unroll
      for (int k = 0; k < Units; ++k)
        unit.packed |= unit_[k].packed & -static_cast<std::int32_t>(k == bit >> 2);  // no index: a register array
#pragma unroll
      for (int e = 0; e < 4 * Units; ++e) delta = e == bit ? delta_[e / 4][e % 4] : delta;
      const std::int32_t i = unit.row(), j = first_column(unit.group()) + 16 * (bit & 3), rows = rows_to(i);
      if (i != r && i != s && j != r && j != s) decide(rows, i, j, delta, words_of(rows)[4 * unit.group() + (bit & 3)]);
    }
  }

  /// Random words of the rows beyond the window, as far as the ring holds: for the next steps.
  __device__ __forceinline__ void produce(std::int32_t from_thread, std::int32_t to_thread) {
    const std::int32_t mine = static_cast<std::int32_t>(threadIdx.x) - from_thread, helpers = to_thread - from_thread;
    const std::int32_t ahead = now_.ahead, items = (policy_.ring - ahead) << policy_.own_bits;
    for (std::int32_t item = mine; item < items; item += helpers) {
      const std::int32_t rows = ahead + (item >> policy_.own_bits), group = item & ((1 << policy_.own_bits) - 1), row = r_ + rows;
      if (group >= policy_.own) continue;
      const std::int32_t laps = row < n_ - 1 ? 0 : row / (n_ - 1), i = row - laps * (n_ - 1);
      if (group == 0)
        m_.coldest[ring_row(rows)] =
            annealing::row_temperature(state_.cooling, (now_.at.lap + laps) * annealing::pairs(n_) + annealing::row_start(n_, i)).base;
      if (min(first_column(group) + 48, n_ - 1) <= i) continue;
      const Philox4 block =
          annealing::words(state_.seed, now_.at.lap + laps, i, static_cast<std::uint32_t>(rank_ + group * policy_.blocks));
      *reinterpret_cast<uint4*>(words_of(rows) + 4 * group) = {block.word[0], block.word[1], block.word[2], block.word[3]};
    }
  }
  /// Fills the ring for this very step.
  __device__ __forceinline__ void look_ahead() {
    catch_up();
    produce(0, threads);
    __syncthreads();
    if (keeps_books()) stand(now_.at, 0, policy_.ring);
    __syncthreads();
    catch_up();
  }

  // --- steps ---

  /// No proposal of the window was accepted.
  __device__ __forceinline__ void pass() {
    if (keeps_books()) {
      const std::int32_t row = r_ + window_, laps = row >= n_ - 1 ? 1 : 0;
      Position next = now_.at;
      if (window_ > 0) {
        next = {0, now_.at.lap + laps, row - laps * (n_ - 1), row - laps * (n_ - 1) + 1};
        next.q = next.lap * annealing::pairs(n_) + annealing::row_start(n_, next.r);
      }
      const bool to_end = next.q >= now_.end;
      if (to_end) {
        next = Position::of(now_.end, n_);
        state_.reject_until(now_.end, n_);
      }
      now_.rows_used = min(4 * now_.rows_used, 1 << 20);
      const std::int32_t rows = static_cast<std::int32_t>(next.lap - now_.at.lap) * (n_ - 1) + next.r - r_;
      stand(next, rows, to_end ? 0 : policy_.ring - rows);  // at the end, `coldest` of the rows ahead was of other temperatures
    }
    __syncthreads();
    look_ahead();
    if (!holds_units()) return;
    refresh();
    test(nobody, nobody);
  }

  __device__ __forceinline__ void swap(Found<Delta> winner) {
    const auto rows = static_cast<std::int32_t>(winner.key >> key_bits), s = static_cast<std::int32_t>(winner.key & ((1u << key_bits) - 1));
    const std::int32_t row = r_ + rows, r = row - (row >= n_ - 1 ? n_ - 1 : 0);
    gather(r, s);
    if (keeps_books()) {
      const std::int64_t q = first_of_row(r) + (s - r - 1);
      now_.improved = state_.accept(q, winner.delta);
      now_.owner[0] = static_cast<std::int32_t>(annealing::block_of(r)) % policy_.blocks;
      now_.owner[1] = static_cast<std::int32_t>(annealing::block_of(s)) % policy_.blocks;
      const Position here{q, now_.at.lap + (r < r_ ? 1 : 0), r, s}, next = here.plus(1, n_);
      now_.rows_used += rows * 16 - now_.rows_used / 8;
      const std::int32_t moved = rows + (next.r != r ? 1 : 0);
      stand(next, moved, policy_.ring - moved);
    }
    __syncthreads();
    parity_ ^= 1;
    catch_up();
    if (holds_units()) {
      refresh();
      update();
      test(r, s);
      if (units_are_few()) produce(0, ColdPolicy::unit_threads);
    } else {
      renew(r, s);
      if (!units_are_few()) produce(ColdPolicy::unit_threads, threads);
      if (rank_ == 0 && now_.improved)
        for (std::int32_t k = threadIdx.x - ColdPolicy::unit_threads; k < n_; k += threads - ColdPolicy::unit_threads) best_[k] = p()[k];
    }
    parity_of_fresh_ = parity_;
    stale_r_ = r;
    stale_s_ = s;
  }

  /// Rows r and s of A and of B as permuted after the swap, their differences, their diagonals; the permutation after the swap.
  __device__ __forceinline__ void gather(std::int32_t r, std::int32_t s) {
    const std::uint16_t* old = p(parity_);
    std::uint16_t* renewed = p(parity_ ^ 1);
    const std::int32_t pr = old[s], ps = old[r];           // after the swap
    if (threadIdx.x < 2) inner(parity_)[threadIdx.x] = 0;  // for the step after this one
    Delta inner_r = 0, inner_s = 0;
    for (std::int32_t k = threadIdx.x; k < policy_.rows; k += threads) {
      if (k < n_) {
        const std::int32_t pk = k == r ? pr : k == s ? ps : old[k], slot = m_.slot[k];
        renewed[k] = static_cast<std::uint16_t>(pk);
#pragma unroll
        for (int side = 0; side < Types::sides; ++side) {
          const Entry ar = a_row(side, r)[k], as = a_row(side, s)[k], br = b_row(side, pr)[pk], bs = b_row(side, ps)[pk];
          ax(side, 0)[pk] = ar;
          ax(side, 1)[pk] = as;
          bx(side, 0)[k] = br;
          bx(side, 1)[k] = bs;
          const Delta u = (Types::sides == 1 ? 2 : 1) * (static_cast<Delta>(ar) - as), w = static_cast<Delta>(bs) - br;
          row_u(side)[k] = u;
          row_w(side)[k] = w;
          if (slot != nobody) {
            column_u(side)[slot] = u;
            column_w(side)[slot] = w;
          }
          inner_r += static_cast<Delta>(ar) * br;
          inner_s += static_cast<Delta>(as) * bs;
        }
      }
      if (k - lane_ + threads < policy_.rows) continue;  // the warp has more to add
      add_inner(inner_r, inner_s);
    }
  }
  __device__ __forceinline__ void add_inner(Delta inner_r, Delta inner_s) {
    inner_r = warp_sum(inner_r);
    inner_s = warp_sum(inner_s);
    if (lane_ != 0) return;
    Delta* to = inner(parity_ ^ 1);
    if constexpr (sizeof(Delta) == 4) {
      atomicAdd(to, inner_r);
      atomicAdd(to + 1, inner_s);
    } else {
      atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(inner_r));
      atomicAdd(reinterpret_cast<unsigned long long*>(to + 1), static_cast<unsigned long long>(inner_s));
    }
  }

  /// Brings in what the last swap left stale in the units: its two rows, its two columns.
  __device__ __forceinline__ void refresh() {
    if (stale_r_ == nobody) return;
    const int from = parity_of_fresh_;
    const std::int32_t stale[2] = {stale_r_, stale_s_};
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const std::int32_t slot = m_.slot[stale[x]];
#pragma unroll
      for (int k = 0; k < Units; ++k) {
        if (k * ColdPolicy::unit_threads >= units_) break;
        if (unit_[k].row() == stale[x] && unit_[k].group() < policy_.own) {
#pragma unroll
          for (int w = 0; w < 4; ++w) delta_[k][w] = fresh(from, x)[4 * unit_[k].group() + w];
        } else if (slot >> 2 == unit_[k].group() && unit_[k].row() < n_ && unit_[k].row() != stale[1 - x]) {
          const Delta value =
              policy_.space == Space::grid ? __ldcg(fresh_ + (2 * from + x) * n_ + unit_[k].row()) : arrived(from, x)[unit_[k].row()];
#pragma unroll
          for (int w = 0; w < 4; ++w) delta_[k][w] = w == (slot & 3) ? value : delta_[k][w];
        }
      }
    }
    stale_r_ = nobody;
  }

  /// Taillard's update of every unit; rows and columns r and s become garbage.
  __device__ __forceinline__ void update() {
#pragma unroll
    for (int k = 0; k < Units; ++k) {
      if (k * ColdPolicy::unit_threads >= units_) break;
      if (unit_[k].group() >= policy_.own) continue;
#pragma unroll
      for (int side = 0; side < Types::sides; ++side) {
        const Delta u = row_u(side)[unit_[k].row()], w = row_w(side)[unit_[k].row()];
        Delta four_u[4], four_w[4];
        load_four(four_u, column_u(side) + 4 * unit_[k].group());
        load_four(four_w, column_w(side) + 4 * unit_[k].group());
#pragma unroll
        for (int c = 0; c < 4; ++c) delta_[k][c] += (u - four_u[c]) * (w - four_w[c]);
      }
    }
  }
  static __device__ __forceinline__ void load_four(Delta (&to)[4], const Delta* from) {
    if constexpr (sizeof(Delta) == 4) {
      const int4 four = *reinterpret_cast<const int4*>(from);
      to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else {
      for (int c = 0; c < 4; ++c) to[c] = from[c];
    }
  }

  /// The deltas of r and s with the own columns, tested, and kept for refresh().
  __device__ __forceinline__ void renew(std::int32_t r, std::int32_t s) {
    const Delta inner_r = inner(parity_)[0], inner_s = inner(parity_)[1];
    const auto inner_of = [&](std::int32_t o, std::int32_t slot) {
      if (o == r) return inner_r;
      if (o == s) return inner_s;
      Delta value = m_.diagonal[slot];
      for (int side = 0; side < Types::sides; ++side) value -= column_u(side)[slot] * column_w(side)[slot] / (Types::sides == 1 ? 2 : 1);
      return value;
    };
    const auto store = [&](std::int32_t o, int x, Delta delta, std::int32_t slot, Delta of_o) {
      fresh(parity_, x)[slot] = delta;
      deliver(x, o, delta);
      if (x == 0) m_.diagonal[slot] = of_o;
    };
    // One of the new pairs for every thread, from the last one down, where no inner products keep it from making the random word meanwhile.
    const std::int32_t item = threads - 1 - static_cast<std::int32_t>(threadIdx.x), x = item & 1, slot = item >> 1;
    const std::int32_t facility = x == 0 ? r : s, o = slot < 4 * policy_.own ? column(slot) : n_;
    const std::int32_t i = min(facility, o), j = max(facility, o), rows = rows_to(i);
    const bool open = o < n_ && o != facility && !(x == 0 && o == s) && rows < window_;
    const std::uint32_t word = open ? word_at(rows, i, j, slot, j == o) : 0;
    dots(
        ColdPolicy::unit_threads, 4 * policy_.own, r, s, inner_r, inner_s, [&](std::int32_t task) { return column(task); }, inner_of,
        store);
    asm volatile("bar.sync 1, %0;" ::"n"(ColdPolicy::threads - ColdPolicy::unit_threads) : "memory");  // these threads alone
    if (!open) return;
    const Delta delta = fresh(parity_, x)[slot];
    if (may_pass(delta, m_.coldest[ring_row(rows)], word)) decide(rows, i, j, delta, word);
  }
  /// The random word of the pair (i, j): in the ring if j is an own column.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t word_at(std::int32_t rows, std::int32_t i, std::int32_t j, std::int32_t slot,
                                                                 bool own) const {
    if (own) return words_of(rows)[slot];
    return annealing::words(state_.seed, now_.at.lap + (i < r_ ? 1 : 0), i, annealing::block_of(j)).word[annealing::word_of(j)];
  }
  /// The delta of x and o to the block that holds column x.
  __device__ __forceinline__ void deliver(int x, std::int32_t o, Delta delta) {
    if (policy_.space == Space::grid) {
      fresh_[(2 * parity_ + x) * n_ + o] = delta;
      return;
    }
    Delta* to = arrived(parity_, x) + o;
#if __CUDA_ARCH__ >= 900
    if (policy_.space == Space::cluster) to = cooperative_groups::this_cluster().map_shared_rank(to, now_.owner[x]);
#endif
    *to = delta;
  }
  const DeviceQap<Entry>& qap_;
  const ColdPolicy& policy_;
  const ColdStorage<Types>& m_;
  ChainState& state_;
  Standing& now_;
  Exchange<Delta> exchange_;
  Delta *fresh_, *inner_;
  std::int32_t *current_, *best_;
  std::int64_t limit_;
  std::int32_t n_, units_, rank_, lane_, warp_;
  Unit unit_[Units];
  Mask pairs_ = 0;  ///< of the units' elements, those that are pairs (i, j), i < j
  Delta delta_[Units][4];
  std::int32_t r_ = 0, ring_ = 0, window_ = 0;  ///< copies of the standing
  bool more_ = true;
  Found<Delta> found_;
  int parity_ = 0, parity_of_fresh_ = 0;
  std::int32_t stale_r_ = nobody, stale_s_ = nobody;
};

template <class Types, int Units>
__global__ void __launch_bounds__(ColdPolicy::threads, 1)
    cold_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, const __grid_constant__ ColdPolicy policy,
                const __grid_constant__ ColdStorage<Types> storage, Chains chains, ColdShared<typename Types::Delta> shared,
                std::int64_t first, std::int64_t limit) {
  __shared__ ChainState state;
  __shared__ Standing now;
  __shared__ ExchangeStorage<typename Types::Delta> exchange;
  const int rank = static_cast<int>(blockIdx.x) % policy.blocks, in_launch = static_cast<int>(blockIdx.x) / policy.blocks;
  if (threadIdx.x == 0) state = chains.state[first + in_launch];
#if __CUDA_ARCH__ >= 900
  if (policy.space == Space::cluster) cooperative_groups::this_cluster().sync();  // before anyone writes to another's shared memory
#endif
  __syncthreads();
  Cold<Types, Units> cold(qap, policy, chains, shared, static_cast<std::size_t>(first + in_launch), static_cast<std::size_t>(in_launch),
                          limit, rank, storage, state, now, exchange);
  cold.run();
  if (rank == 0 && threadIdx.x == 0) chains.state[first + in_launch] = state;
}

}  // namespace vicinity::sa
