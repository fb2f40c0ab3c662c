#pragma once
// The tuned annealing (gpu-tuned, gpu-chains): one kernel, many blocks, no barrier among them.
//
// Problem: one chain decides its proposals in order, and each accepted swap changes the deltas of all that follow. What can run at the
// same time are the tests of the proposals up to the next accepted one, and the update after it.
// Data layout: rows.cuh. A row of proposals, the pairs (i, i + 1) ... (i, n - 1), belongs to a team of warps of the block that keeps the
// rows of facility i; a thread has `Columns` columns of it. The state of the search is the same in all threads of all blocks.
// Phases of a launch: hot phase (hot_phase.cuh) while most proposals are accepted; F from scratch (products_kernel); then steps:
//  1. every thread carries out the last swap on its columns and tests them in its team's next row, against thresholds made before
//                                                                                                         [block barrier]
//  2. the progress warp sends the block's first accepted proposal to all blocks; while messages are on their way, the other warps bring F
//     up to date and prepare the next row                                                                 [block barrier]
//  3. the first accepted proposal of all blocks is the next swap.
// After two steps without an accepted proposal a step tests whole sweeps, twice as many each time (test_sweeps).
// Synchronisation: two block barriers a step, and messages between blocks: counted stores, which every warp reads for itself, or polled
// words, which the progress warp reads (RowsPolicy::counted).
// Cost of a step: one message latency, and one more where r and s belong to different blocks; 2 n^2 / blocks products beside them.
#include <cooperative_groups.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/run.cuh"
#include "kernels/sa/tuned/hot_phase.cuh"
#include "kernels/sa/tuned/rows.cuh"

namespace vicinity::sa {

/// The delta of a pair of facilities, and what it is made of that a swap of the two needs.
template <class Delta>
struct PairDelta {
  Delta delta, f_ij, f_ji;
};

/// A row of proposals as its team prepares it.
template <class Delta, int Columns>
struct TeamRow {
  std::int32_t row;    ///< -1: this team has none
  std::int32_t local;  ///< its number among the block's rows
  std::int64_t sweep;
  std::int32_t ahead;        ///< rows from that of the next proposal to it
  std::int64_t q;            ///< its first proposal
  float threshold[Columns];  ///< of this thread's columns
  float inverse[Columns];    ///< 1/T
  Delta a[Columns];          ///< the factor of A in a delta
};

/// A row of a sweep.
struct SweepRow {
  std::int32_t row;
  std::int64_t sweep;
};

/// The search of one chain. Mapping: a thread that scans has the columns thread, thread + team, ... of its team's row and, of the
/// permutation, the diagonals and the vectors of a swap, the elements of those columns in registers; in update() it has a group of four
/// columns of every update_lanes_-th of the block's rows. The progress warp, the last one, has nothing of a row.
/// Counted: RowsPolicy::counted(), known when compiling: a kernel without the other ways is shorter, and faster at n = 100.
template <ElementTypes Types, int Columns, SharedMatrices Where, bool Counted>
class ChainSearch {
 public:
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;

  __device__ __forceinline__ ChainSearch(const DeviceQap<Entry>& qap, const RowsPolicy& policy, const RowsLayout<Types>& layout,
                                         const Chains& chains, const RowsWorkspace<Delta>& workspace, std::size_t chain,
                                         std::size_t in_launch, std::int64_t limit, int rank, ChainState& state)
      : qap_(qap),
        policy_(policy),
        layout_(layout),
        state_(state),
        memory_(rows_memory_address()),
        mailbox_(policy.scope == Scope::grid ? workspace.mailbox + in_launch * 2 * policy.blocks : layout_.mailbox.in(memory_)),
        inbox_(policy.scope == Scope::grid ? workspace.inbox + in_launch * inbox_words<Delta>(policy.pitch) : layout_.inbox.in(memory_)),
        f_(workspace.f + in_launch * qap.n * qap.n),
        current_(chains.current + chain * qap.n),
        best_(chains.best + chain * qap.n),
        limit_(limit),
        n_(qap.n),
        rank_(rank),
        teams_(policy.blocks * policy.teams),
        thread_(static_cast<std::int32_t>(threadIdx.x) < policy.scanners() ? static_cast<std::int32_t>(threadIdx.x) % policy.team : -1),
        warp_(static_cast<std::int32_t>(threadIdx.x) / 32),
        update_lanes_(many_columns ? 1 : policy.scanners() / policy.groups()),
        update_lane_(many_columns ? 0 : static_cast<std::int32_t>(threadIdx.x) / policy.groups()),
        update_group_(static_cast<std::int32_t>(threadIdx.x) - update_lane_ * policy.groups()),
        last_team_((qap.n - 2) % (policy.blocks * policy.teams)),
        own_team_(static_cast<std::int32_t>(threadIdx.x) / policy.team * policy.blocks + rank),
        pairs_(static_cast<std::int32_t>(annealing::pairs(qap.n))) {}

  /// Takes the chain up to the limit.
  __device__ __forceinline__ void run() {
    start();
    while (q_ < limit_) {
      if (sweeping())
        test_sweeps();
      else
        test_row();
      if (!in_progress_warp()) cuda::leave_least(accepted_, slots()[warp_]);
      __syncthreads();
      if (in_progress_warp()) {
        exchange_first();
      } else {
        if (swapped()) update();
        if (stage_ < ready) prepare(next_);
      }
      __syncthreads();
      const FirstAccepted<Delta> first = Counted ? first_counted() : *first_polled();
      set_swap(first);
      if (swapped()) swap();  // first of all, since others wait for its messages
      advance(first);
      if (swapped() && in_progress_warp() && threadIdx.x % 32 == 0) state_.accept(last_accepted_, delta_);
    }
    finish();
  }

 private:
  static constexpr int sides = Types::sides;
  static constexpr bool many_columns = Columns > RowsPolicy::some_columns;  ///< a row has more groups of four columns than scanners
  static constexpr Delta scale = sides == 1 ? 2 : 1;                        ///< of F in a delta
  static constexpr std::int32_t never = 1 << 30;
  static constexpr int ready = 3;                     ///< stages of preparing a row
  static constexpr std::int32_t most_rows = 1 << 20;  ///< of a step, for keys
  static constexpr std::int32_t most_doublings = 20;  ///< of the sweeps of a step
  static constexpr unsigned first_step = 1;

  [[nodiscard]] __device__ __forceinline__ bool in_progress_warp() const { return thread_ < 0; }
  [[nodiscard]] __device__ __forceinline__ bool swapped() const { return r_ >= 0; }
  [[nodiscard]] __device__ __forceinline__ bool in_block() const { return !Counted && policy_.scope == Scope::block; }
  [[nodiscard]] __device__ __forceinline__ bool in_cluster() const { return Counted || policy_.scope == Scope::cluster; }
  [[nodiscard]] __device__ __forceinline__ bool sweeping() const { return empty_steps_ >= 2; }
  [[nodiscard]] __device__ __forceinline__ int parity() const { return static_cast<int>(step_ & 1); }
  [[nodiscard]] __device__ __forceinline__ FirstAccepted<Delta>* slots() const { return layout_.slots.in(memory_); }
  [[nodiscard]] __device__ __forceinline__ FirstAccepted<Delta>* first_polled() const { return slots() + RowsPolicy::most_scanners / 32; }

  /// Of this thread, the k-th; may be n or more.
  [[nodiscard]] __device__ __forceinline__ std::int32_t column(int k) const { return thread_ + k * policy_.team; }
  /// Of facility j, after the last swap.
  [[nodiscard]] __device__ __forceinline__ std::int32_t location(std::int32_t j) const { return p(swaps_)[j]; }
  /// `parity`: of the last swap, swaps_; of the one before, 1 - swaps_.
  [[nodiscard]] __device__ __forceinline__ std::uint16_t* p(int parity) const { return layout_.p.in(memory_) + parity * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* diagonal(int parity) const {
    return layout_.diagonal.in(memory_) + parity * policy_.pitch;
  }
  /// F[i][.] and F[.][i] of the block's k-th facility i.
  [[nodiscard]] __device__ __forceinline__ Delta* f_row(std::int32_t k) const { return layout_.f.in(memory_) + k * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* f_column(std::int32_t k) const { return f_row(policy_.rows + k); }
  [[nodiscard]] __device__ __forceinline__ Delta* d(int side) const { return layout_.d.in(memory_) + side * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* e(int side) const { return layout_.e.in(memory_) + side * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ const Entry* a_row(int side, std::int32_t i) const {
    if constexpr (Where == SharedMatrices::both) return layout_.a.in(memory_) + (side * n_ + i) * qap_.pitch;
    return qap_.a_row(side, i);
  }
  [[nodiscard]] __device__ __forceinline__ const Entry* b_row(int side, std::int32_t i) const {
    if constexpr (Where != SharedMatrices::none) return layout_.b.in(memory_) + (side * n_ + i) * qap_.pitch;
    return qap_.b_row(side, i);
  }
  /// Where column i was before the swap.
  [[nodiscard]] __device__ __forceinline__ std::int32_t before(std::int32_t i) const { return i == r_ ? s_ : i == s_ ? r_ : i; }
  /// m(i, j) + m(j, i); row(side) is row i of m or of its transpose.
  template <class MatrixRow>
  [[nodiscard]] __device__ __forceinline__ static Delta both_ways(const MatrixRow& row, std::int32_t j) {
    if constexpr (sides == 1) return 2 * static_cast<Delta>(row(0)[j]);
    return static_cast<Delta>(row(0)[j]) + static_cast<Delta>(row(1)[j]);
  }
  [[nodiscard]] __device__ __forceinline__ static Delta difference(const Entry* r, const Entry* s, std::int32_t k) {
    return static_cast<Delta>(r[k]) - static_cast<Delta>(s[k]);
  }

  // --- start and end -----------------------------------------------------------------------------------------------------

  __device__ __forceinline__ void start() {
    load();
    if (in_cluster()) {
      const auto zero = [](Word* words, std::int32_t count) {
        for (std::int32_t k = threadIdx.x; k < count; k += blockDim.x) words[k] = 0;
      };
      zero(layout_.inbox.in(memory_), inbox_words<Delta>(policy_.pitch));
      if constexpr (Counted) {
        if (threadIdx.x < 2) counted_mailbox().arrivals.init(threadIdx.x);
      } else {
        zero(reinterpret_cast<Word*>(layout_.mailbox.in(memory_)),
             2 * policy_.blocks * static_cast<std::int32_t>(sizeof(AcceptedMessage<Delta>) / sizeof(Word)));
      }
    }
    cluster_barrier();
    cooling_ = state_.cooling;
    seed_ = state_.seed;
    cost_ = state_.cost;
    best_cost_ = state_.best_cost;
    last_accepted_ = state_.last_accepted;
    stays_ = state_.frozen_at >= 0 || !cooling_.freezes();
    end_ = state_.end(annealing::pairs(n_), limit_);
    q_ = state_.next;
    set_position(q_);
    if (!in_progress_warp()) find_row();
    __syncthreads();
  }
  /// Fills shared memory and registers from device memory.
  __device__ __forceinline__ void load() {
    const auto each = [](std::int32_t count, auto&& store) {
      for (std::int32_t j = threadIdx.x; j < count; j += blockDim.x) store(j);
    };
    const std::int32_t pitch = policy_.pitch;
    for (int side = 0; side < sides; ++side) {
      if (Where == SharedMatrices::both)
        each(n_ * qap_.pitch, [&](std::int32_t k) { layout_.a.in(memory_)[side * n_ * qap_.pitch + k] = qap_.a[side][k]; });
      if (Where != SharedMatrices::none)
        each(n_ * qap_.pitch, [&](std::int32_t k) { layout_.b.in(memory_)[side * n_ * qap_.pitch + k] = qap_.b[side][k]; });
    }
    for (std::int32_t k = 0, i = rank_; i < n_; ++k, i += policy_.blocks)
      each(pitch, [&](std::int32_t j) {
        f_row(k)[j] = j < n_ ? f_[std::size_t(i) * n_ + j] : 0;
        if (!in_block()) f_column(k)[j] = j < n_ ? f_[std::size_t(j) * n_ + i] : 0;
      });
    each(pitch, [&](std::int32_t j) {
      const bool in = j < n_;
      const std::int32_t pj = in ? current_[j] : 0;
      p(0)[j] = static_cast<std::uint16_t>(pj);
      diagonal(0)[j] = in ? f_[std::size_t(j) * n_ + j] : 0;
      layout_.a_diagonal.in(memory_)[j] = in ? static_cast<Delta>(qap_.a_row(0, j)[j]) : 0;
      for (int side = 0; side < sides; ++side) d(side)[j] = e(side)[j] = 0;
    });
#pragma unroll
    for (int k = 0; k < Columns; ++k) {
      const std::int32_t j = in_progress_warp() ? 0 : min(column(k), n_ - 1);
      p_[k] = current_[j];
      f_jj_[k] = f_[std::size_t(j) * n_ + j];
      b_jj_[k] = static_cast<Delta>(qap_.b_row(0, p_[k])[p_[k]]);
    }
  }
  __device__ __forceinline__ void finish() {
    __syncthreads();
    if (swapped() && in_progress_warp()) publish_best();
    cluster_barrier();
    if (rank_ != 0) return;
    for (std::int32_t j = threadIdx.x; j < n_; j += blockDim.x) current_[j] = location(j);
    if (threadIdx.x != 0) return;
    state_.reject_until(q_, n_);
    state_.steps += step_ - first_step;
  }
  /// Before any block writes to another's shared memory, and before any leaves.
  __device__ __forceinline__ void cluster_barrier() const {
    __syncthreads();
#if __CUDA_ARCH__ >= 900
    if (in_cluster()) cooperative_groups::this_cluster().sync();
#endif
  }
  /// By the progress warp, after a swap.
  __device__ __forceinline__ void publish_best() const {
    if (!improved_ || rank_ != 0) return;
    for (std::int32_t j = static_cast<std::int32_t>(threadIdx.x) % 32; j < n_; j += 32) best_[j] = location(j);
  }

  // --- the position of the search: the same in all threads of all blocks ----------------------------------------------------

  /// The next proposal is q.
  __device__ __forceinline__ void set_position(std::int64_t q) {
    const Position at = Position::of(q, n_);
    row_ = at.r;
    sweep_ = at.sweep;
    column_ = at.s;
    sweep_q_ = sweep_ * pairs_;
    row_q_ = q - (at.s - at.r - 1);
    choose_window();
  }
  /// Goes to the start of a row, so many rows on.
  __device__ __forceinline__ void advance_rows(std::int32_t rows) {
    row_ += rows;
    at_.ahead -= rows;
    next_.ahead -= rows;
    if (row_ > n_ - 2) {
      const std::int32_t sweeps = row_ / (n_ - 1);
      sweep_ += sweeps;
      sweep_q_ += std::int64_t{sweeps} * pairs_;
      row_ -= sweeps * (n_ - 1);
    }
    column_ = row_ + 1;
    row_q_ = sweep_q_ + row_ * (2 * n_ - row_ - 1) / 2;
    q_ = row_q_;
  }
  /// Rows of the next step: as far as every row is the next one of its team, or whole sweeps.
  __device__ __forceinline__ void choose_window() {
    const std::int32_t left = n_ - 1 - row_;
    if (sweeping()) {
      const std::int32_t sweeps = 1 << min(empty_steps_ - 2 + usual_doublings_, most_doublings);
      window_ = left + min(sweeps - 1, most_rows / (n_ - 1) - 1) * (n_ - 1);
    } else if (teams_ < left) {
      window_ = teams_;
    } else {
      const std::int32_t first = row_ - policy_.by_all_teams(row_) * teams_;
      window_ = left + (first <= last_team_ ? first : 0);
    }
  }
  /// The next step, with the swap that ended the last one, if there is one.
  __device__ __forceinline__ void set_swap(const FirstAccepted<Delta>& first) {
    ++step_;
    r_ = s_ = -1;
    if (first.key == FirstAccepted<Delta>::none) return;
    r_ = row_ + first.row();
    if (r_ > n_ - 2) r_ %= n_ - 1;
    s_ = first.column();
    f_rs_ = first.f_rs;
    f_sr_ = first.f_sr;
    delta_ = first.delta;
  }
  /// Goes on behind the accepted proposal or, if there is none, behind the window.
  __device__ __forceinline__ void advance(const FirstAccepted<Delta>& first) {
    const bool swept = sweeping();
    bool restart = false;  // the team's row is another than the one it has prepared
    if (first.key == FirstAccepted<Delta>::none) {
      ++empty_steps_;
      advance_rows(window_);
      if (q_ >= end_) {
        q_ = end_;
        if (end_ == limit_) return;
        if (threadIdx.x == 0) state_.reject_until(end_, n_);
        __syncthreads();
        cooling_ = state_.cooling;
        stays_ = true;
        end_ = limit_;
        set_position(q_);
        restart = true;
      }
      restart |= sweeping() != swept;
    } else {
      const std::int32_t rows = first.row();
      if (rows > 0) advance_rows(rows);
      last_accepted_ = row_q_ + s_ - r_ - 1;
      if (!stays_) end_ = min(limit_, last_accepted_ + pairs_ + 1);
      if (in_progress_warp()) {
        cost_ += delta_;
        improved_ = cost_ < best_cost_;
        if (improved_) best_cost_ = cost_;
      }
      q_ = last_accepted_ + 1;
      column_ = s_ + 1;
      if (column_ == n_) advance_rows(1);
      usual_doublings_ = max((swept ? min(empty_steps_ - 2 + usual_doublings_, most_doublings) : usual_doublings_) - 1, 0);
      empty_steps_ = 0;
      restart = swept;
    }
    choose_window();
    if (sweeping() || in_progress_warp()) return;
    if (restart) {
      find_row();
    } else if (at_.ahead < 0) {
      while (stage_ < ready) prepare(next_);
      at_ = next_;
      stage_ = 0;
    }
  }

  // --- preparing a row ---------------------------------------------------------------------------------------------------

  /// The team's first row from the next proposal's on.
  __device__ __forceinline__ void find_row() {
    std::int32_t steps = row_ <= own_team_ ? 0 : policy_.by_all_teams(row_ - own_team_ + teams_ - 1);
    SweepRow at{own_team_ + steps * teams_, sweep_};
    if (at.row > n_ - 2) at = {own_team_, sweep_ + 1};
    if (own_team_ > n_ - 2) at.row = -1;
    begin_row(at_, at);
    draw_words(at_);
    make_thresholds(at_);
    stage_ = 0;
  }
  /// The next stage of the team's row after at_: a stage a step, so that none keeps others waiting.
  __device__ __forceinline__ void prepare(TeamRow<Delta, Columns>& row) {
    if (stage_ == 0)
      begin_row(row, after(at_));
    else if (stage_ == 1)
      draw_words(row);
    else
      make_thresholds(row);
    ++stage_;
  }
  [[nodiscard]] __device__ __forceinline__ SweepRow after(const TeamRow<Delta, Columns>& at) const {
    if (at.row < 0) return {-1, 0};
    return at.row + teams_ <= n_ - 2 ? SweepRow{at.row + teams_, at.sweep} : SweepRow{own_team_, at.sweep + 1};
  }
  __device__ __forceinline__ void begin_row(TeamRow<Delta, Columns>& to, SweepRow at) const {
    to.row = at.row;
    to.sweep = at.sweep;
    to.ahead = never;
    if (at.row < 0) return;
    to.ahead = static_cast<std::int32_t>(at.sweep - sweep_) * (n_ - 1) + at.row - row_;
    to.local = policy_.by_blocks(at.row);
    to.q = at.sweep * annealing::pairs(n_) + annealing::row_start(n_, at.row);
    const annealing::RowTemperature temperature = annealing::row_temperature(cooling_, to.q);
#pragma unroll
    for (int k = 0; k < Columns; ++k) {
      const std::int32_t j = min(column(k), n_ - 1);
      to.inverse[k] = annealing::inverse_temperature(temperature, j - at.row - 1);
      to.a[k] = factor_of_a(at.row, j);
    }
  }
  /// Random words, where the thresholds will be.
  __device__ __forceinline__ void draw_words(TeamRow<Delta, Columns>& to) const {
    if (to.row < 0) return;
#pragma unroll
    for (int k = 0; k < Columns; ++k) {
      const std::int32_t j = min(column(k), n_ - 1);
      const Philox4 words = annealing::words(seed_, to.sweep, to.row, annealing::block_of(j));
      const int word = annealing::word_of(j);
      const unsigned drawn = word == 0 ? words.word[0] : word == 1 ? words.word[1] : word == 2 ? words.word[2] : words.word[3];
      to.threshold[k] = float_of(static_cast<std::int32_t>(drawn));
    }
  }
  __device__ __forceinline__ static void make_thresholds(TeamRow<Delta, Columns>& to) {
#pragma unroll
    for (int k = 0; k < Columns; ++k) to.threshold[k] = annealing::threshold(static_cast<unsigned>(bits_of(to.threshold[k])));
  }

  // --- deltas ------------------------------------------------------------------------------------------------------------

  /// -alpha[i][j]; beta is negative too.
  [[nodiscard]] __device__ __forceinline__ Delta factor_of_a(std::int32_t i, std::int32_t j) const {
    return both_ways([&](int side) { return a_row(side, i); }, j) - layout_.a_diagonal.in(memory_)[i] - layout_.a_diagonal.in(memory_)[j];
  }

  /// What the deltas of a row have in common.
  struct Row {
    std::int32_t p;
    Delta f_ii, b_ii;
    Delta d[sides], e[sides];  ///< of a swap on its way
  };
  /// The team's row after the last swap, before update(). Of the permutation and the diagonal, elements of other threads' columns may be on
  /// their way still: they are taken from before the swap.
  [[nodiscard]] __device__ __forceinline__ Row pending_row() const {
    const std::int32_t i = at_.row;
    const int earlier = swapped() ? swaps_ ^ 1 : swaps_;
    Row row;
    row.p = p(earlier)[i];
    row.f_ii = diagonal(earlier)[i];
    if (swapped()) {
      const bool is_r = i == r_, is_s = i == s_;
      row.p = is_r ? ps_ : is_s ? pr_ : row.p;
      row.f_ii = is_r ? f_rs_ : is_s ? f_sr_ : row.f_ii;
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        row.d[side] = difference(a_row(side, r_), a_row(side, s_), i);
        row.e[side] = difference(b_row(side, pr_), b_row(side, ps_), row.p);
        row.f_ii -= row.d[side] * row.e[side];
      }
    }
    row.b_ii = static_cast<Delta>(b_row(0, row.p)[row.p]);
    return row;
  }
  /// Of this row, pending_row(), and this thread's k-th column.
  [[nodiscard]] __device__ __forceinline__ PairDelta<Delta> pending_pair(const Row& row, int k) const {
    const std::int32_t i = at_.row, j = min(column(k), n_ - 1);
    Delta f_ij = f_row(at_.local)[before(j)], f_ji = in_block() ? f_row(j)[before(i)] : f_column(at_.local)[j];
    if (swapped()) {
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        f_ij -= row.d[side] * e_[k][side];
        f_ji -= d_[k][side] * row.e[side];
      }
      if (!in_block() && (i == r_ || i == s_)) f_ji = receive_element(inbox(i == r_ ? 0 : 1) + j);
    }
    const Delta factor_of_b = both_ways([&](int side) { return b_row(side, row.p); }, p_[k]) - row.b_ii - b_jj_[k];
    return {scale * (f_ij + f_ji - row.f_ii - f_jj_[k]) + at_.a[k] * factor_of_b, f_ij, f_ji};
  }

  /// The same where no swap is on its way, for any column j.
  [[nodiscard]] __device__ __forceinline__ Row settled_row(std::int32_t i) const {
    Row row;
    row.p = location(i);
    row.f_ii = diagonal(swaps_)[i];
    row.b_ii = static_cast<Delta>(b_row(0, row.p)[row.p]);
    return row;
  }
  [[nodiscard]] __device__ __forceinline__ PairDelta<Delta> settled_pair(const Row& row, std::int32_t i, std::int32_t local_i,
                                                                         std::int32_t j) const {
    const std::int32_t pj = location(j);
    const Delta f_ij = f_row(local_i)[j], f_ji = in_block() ? f_row(j)[i] : f_column(local_i)[j];
    const Delta factor_of_b = both_ways([&](int side) { return b_row(side, row.p); }, pj) - row.b_ii - static_cast<Delta>(b_row(0, pj)[pj]);
    return {scale * (f_ij + f_ji - row.f_ii - diagonal(swaps_)[j]) + factor_of_a(i, j) * factor_of_b, f_ij, f_ji};
  }

  // --- tests -------------------------------------------------------------------------------------------------------------

  /// Tests the team's next row.
  __device__ __forceinline__ void test_row() {
    accepted_ = {};
    const std::int32_t ahead = at_.ahead;
    if (in_progress_warp() || ahead >= window_) return;
    const std::int32_t i = at_.row, first = ahead == 0 ? column_ : i + 1;
    const std::int64_t left = end_ - at_.q;
    const std::int32_t behind = left < n_ ? i + 1 + static_cast<std::int32_t>(left) : n_;
    const Row row = pending_row();
#pragma unroll
    for (int k = Columns - 1; k >= 0; --k) {
      const std::int32_t j = min(column(k), n_ - 1);
      const PairDelta<Delta> pair = pending_pair(row, k);
      if (j >= first && j < behind && column(k) < n_ && annealing::accepts(pair.delta, at_.inverse[k], at_.threshold[k]))
        accepted_ = {FirstAccepted<Delta>::key_of(ahead, j), pair.delta, pair.f_ij, pair.f_ji};
    }
  }

  /// Tests all rows of the window, the sweeps of one row after the other. A pair's delta is the same in all sweeps, and so is a bound that
  /// few random words pass: these are tested.
  __device__ __forceinline__ void test_sweeps() {
    accepted_ = {};
    if (in_progress_warp()) return;
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t worker = divide_up(divide_up(n_, 64) * 16, 32) * 32;  // threads of a row
    if constexpr (many_columns)
      for (std::int32_t k = thread; k < worker; k += policy_.scanners()) test_sweeps(k, 0, 1);
    else
      test_sweeps(thread % worker, thread / worker, policy_.scanners() / worker);
  }
  /// Four columns, those of a Philox block, of every `workers`-th of the block's rows, from row `first` on; by whole warps.
  __device__ __forceinline__ void test_sweeps(std::int32_t thread, std::int32_t first, std::int32_t workers) {
    const std::int32_t sweep_rows = n_ - 1;
    const auto column = [&](int word) { return (thread & ~15) << 2 | word << 4 | (thread & 15); };
    const float coldest = least_inverse_temperature();
    for (std::int32_t k = first; k < policy_.rows; k += workers) {
      const std::int32_t i = rank_ + k * policy_.blocks, first_sweep = i < row_ ? 1 : 0;
      if (i >= sweep_rows || first_sweep * sweep_rows + i - row_ >= window_) continue;
      const Row row = settled_row(i);
      PairDelta<Delta> pair[4];
      unsigned bound[4];
      bool any = false;
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        pair[w] = settled_pair(row, i, k, min(column(w), n_ - 1));
        bound[w] = column(w) > i && column(w) < n_ ? highest_word(pair[w].delta, coldest) : 0;
        any |= bound[w] != 0;
      }
      if (!__any_sync(~0u, any)) continue;
      for (std::int32_t sweep = first_sweep; any; sweep += 2) {  // two at a time hide each other's latency
        const std::int32_t ahead = sweep * sweep_rows + i - row_;
        if (ahead >= window_ || FirstAccepted<Delta>::key_of(ahead, 0) > accepted_.key) break;
        const Philox4 words[2]{annealing::words(seed_, sweep_ + sweep, i, static_cast<std::uint32_t>(thread)),
                               annealing::words(seed_, sweep_ + sweep + 1, i, static_cast<std::uint32_t>(thread))};
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int w = 0; w < 4; ++w)
            if (bound[w] != 0 && words[half].word[w] <= bound[w])
              test_pair(ahead + half * sweep_rows, sweep + half, i, column(w), pair[w], words[half].word[w]);
      }
    }
  }
  /// 1/T is at least this within the window.
  [[nodiscard]] __device__ __forceinline__ float least_inverse_temperature() const {
    return annealing::least_inverse_temperature(cooling_, row_q_, row_q_ + std::int64_t{window_} * n_) * (1 - 1e-6f);
  }
  /// A word that accepts `delta` at this 1/T or a higher one is at most this; 0: none does. The error of exp2 and of annealing::threshold
  /// is below 1e-5.
  [[nodiscard]] __device__ __forceinline__ static unsigned highest_word(Delta delta, float inverse_temperature) {
    if (delta <= 0) return ~0u;
    const float x = static_cast<float>(delta) * inverse_temperature;
    if (x > annealing::highest_threshold + 0.1f) return 0;
    return __float2uint_ru(exp2f(x * -1.44269504f) * 4294967296.0f * 1.0001f + 16.0f);
  }
  __device__ __forceinline__ void test_pair(std::int32_t ahead, std::int32_t sweep, std::int32_t i, std::int32_t j,
                                            const PairDelta<Delta>& pair, unsigned word) {
    const unsigned key = FirstAccepted<Delta>::key_of(ahead, j);
    const std::int64_t first = (sweep_ + sweep) * annealing::pairs(n_) + annealing::row_start(n_, i);
    if (key >= accepted_.key || ahead >= window_ || (ahead == 0 && j < column_) || first + j - i - 1 >= end_) return;
    const float inverse = annealing::inverse_temperature(annealing::row_temperature(cooling_, first), j - i - 1);
    if (annealing::accepts(pair.delta, inverse, annealing::threshold(word))) accepted_ = {key, pair.delta, pair.f_ij, pair.f_ji};
  }

  // --- swaps -------------------------------------------------------------------------------------------------------------

  /// Takes r and s to each other's locations: the elements of this thread's columns; columns r and s of F on their way.
  __device__ __forceinline__ void swap() {
    const std::int32_t pr = location(r_), ps = location(s_);
    pr_ = pr;
    ps_ = ps;
    const std::int32_t k_r = policy_.by_blocks(r_), k_s = policy_.by_blocks(s_), owner_r = r_ - k_r * policy_.blocks,
                       owner_s = s_ - k_s * policy_.blocks;
    const bool send_r = !in_block() && owner_s == rank_, send_s = !in_block() && owner_r == rank_, first_team = threadIdx.x < policy_.team;
    swaps_ ^= 1;
    if (in_progress_warp()) {
      constexpr int lanes = RowsPolicy::progress_threads;
      for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x) % lanes; k < policy_.rows; k += lanes) {
        layout_.old.in(memory_)[k] = f_row(k)[r_];
        layout_.old.in(memory_)[policy_.rows + k] = f_row(k)[s_];
      }
      return;
    }
#pragma unroll
    for (int k = 0; k < Columns; ++k) {
      const std::int32_t j = column(k), in = min(j, n_ - 1);
      const bool is_r = in == r_, is_s = in == s_;
      if (is_r || is_s) {
        p_[k] = is_r ? ps : pr;
        f_jj_[k] = is_r ? f_rs_ : f_sr_;
        b_jj_[k] = static_cast<Delta>(b_row(0, p_[k])[p_[k]]);
      }
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        d_[k][side] = difference(a_row(side, r_), a_row(side, s_), in);
        e_[k][side] = difference(b_row(side, pr), b_row(side, ps), p_[k]);
        f_jj_[k] -= d_[k][side] * e_[k][side];
      }
      if (!first_team || j >= n_) continue;
      if (send_r) send_element(owner_r, 0, j, exchanged(f_column(k_s)[j], pr, ps, ps, k));
      if (send_s) send_element(owner_s, 1, j, exchanged(f_column(k_r)[j], pr, ps, pr, k));
      p(swaps_)[j] = static_cast<std::uint16_t>(p_[k]);
      diagonal(swaps_)[j] = f_jj_[k];
      for (int side = 0; side < sides; ++side) {
        d(side)[j] = d_[k][side];
        e(side)[j] = e_[k][side];
      }
    }
  }

  /// Brings up to date the block's rows and columns of F. By the threads that scan, after swap() and a block barrier.
  __device__ __forceinline__ void update() {
    if constexpr (many_columns)
      for (std::int32_t group = update_group_; group < policy_.groups(); group += policy_.scanners()) update(group);
    else if (update_lane_ < update_lanes_)
      update(update_group_);
    if (in_block()) return;
    receive_column(r_, 0);
    receive_column(s_, 1);
  }
  /// Four columns of this thread's rows.
  __device__ __forceinline__ void update(std::int32_t group) {
    using Four = cuda::Four<Delta>;
    const std::int32_t lanes = update_lanes_, lane = update_lane_;
    const auto four = [&](Delta* from) -> Four& { return reinterpret_cast<Four*>(from)[group]; };
    Four dj[sides], ej[sides];
#pragma unroll
    for (int side = 0; side < sides; ++side) {
      dj[side] = four(d(side));
      ej[side] = four(e(side));
    }
    const bool has_r = r_ / 4 == group, has_s = s_ / 4 == group;
#pragma unroll 2
    for (std::int32_t k = lane, i = rank_ + lane * policy_.blocks; i < n_; k += lanes, i += lanes * policy_.blocks) {
      const bool sent = i == r_ || i == s_;  // receive_column() may be writing this column: anything else is read instead
      Four row = four(f_row(k)), col{};
      if (!in_block()) col = four(f_row(sent ? k : policy_.rows + k));
      Delta f_ir = layout_.old.in(memory_)[policy_.rows + k], f_is = layout_.old.in(memory_)[k];
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        const Delta di = d(side)[i], ei = e(side)[i];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          row.v[c] -= di * ej[side].v[c];
          col.v[c] -= dj[side].v[c] * ei;
        }
        if (has_r) f_ir -= di * e(side)[r_];
        if (has_s) f_is -= di * e(side)[s_];
      }
      four(f_row(k)) = row;
      if (!in_block() && !sent) four(f_column(k)) = col;
      if (has_r) f_row(k)[r_] = f_ir;
      if (has_s) f_row(k)[s_] = f_is;
    }
  }

  // --- columns r and s on their way

  [[nodiscard]] __device__ __forceinline__ Word* inbox(int which) const {
    return inbox_ + (2 * static_cast<int>(step_ & 1) + which) * cuda::words_of<Delta> * policy_.pitch;
  }
  /// F[j][.] of this thread's k-th column j at `location`, after the swap, from f_ji before it.
  [[nodiscard]] __device__ __forceinline__ Delta exchanged(Delta f_ji, std::int32_t pr, std::int32_t ps, std::int32_t location,
                                                           int k) const {
#pragma unroll
    for (int side = 0; side < sides; ++side) f_ji -= d_[k][side] * difference(b_row(side, pr), b_row(side, ps), location);
    return f_ji;
  }
  __device__ __forceinline__ void send_element(std::int32_t owner, int which, std::int32_t j, Delta value) const {
    Word* const to = inbox(which) + j;
    cuda::send(in_cluster() ? cuda::in_block(to, owner) : to, policy_.pitch, value, step_);
  }
  [[nodiscard]] __device__ __forceinline__ Delta receive_element(const Word* from) const {
    Delta value[1];
    cuda::receive(value, from, policy_.pitch, step_);
    return value[0];
  }
  /// From another block, if `facility` is the block's own.
  __device__ __forceinline__ void receive_column(std::int32_t facility, int which) const {
    const std::int32_t k = policy_.by_blocks(facility);
    if (facility - k * policy_.blocks != rank_) return;
    for (std::int32_t j = threadIdx.x; j < n_; j += policy_.scanners()) f_column(k)[j] = receive_element(inbox(which) + j);
  }

  // --- the first accepted proposal of all blocks ---------------------------------------------------------------------------

  [[nodiscard]] __device__ __forceinline__ cuda::CountedMailbox<Delta> counted_mailbox() const {
    return {memory_ + layout_.counted.offset, {memory_ + layout_.mbarriers.offset}, policy_.blocks, rank_};
  }
  /// By the progress warp: the block's to all blocks and, unless the stores are counted, theirs back.
  __device__ __forceinline__ void exchange_first() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const FirstAccepted<Delta> first = slots()[cuda::least_slot(slots(), policy_.scanners() / 32)];
    if constexpr (Counted) {
      counted_mailbox().send({{static_cast<Delta>(first.key), first.delta, first.f_rs, first.f_sr}}, step_);
    } else if (!in_block()) {
      AcceptedMessage<Delta>* const to = mailbox_ + parity() * policy_.blocks + rank_;
      if (in_cluster()) {
        if (lane < policy_.blocks) cuda::in_block(to, lane)->write(first, step_);
      } else if (lane == 0) {
        to->write(first, step_);
      }
    }
    if (swapped()) publish_best();
    if constexpr (Counted) return;
    if (in_block()) {
      if (lane == 0) *first_polled() = first;
      return;
    }
    const AcceptedMessage<Delta>* const messages = mailbox_ + parity() * policy_.blocks;
    unsigned own = FirstAccepted<Delta>::none;
    const AcceptedMessage<Delta>* from = nullptr;
    cuda::poll<typename AcceptedMessage<Delta>::Key>(
        policy_.blocks, step_, [&](int k) { return &messages[k].key; },
        [&](int k, const typename AcceptedMessage<Delta>::Key& message) {
          if (message.key() >= own) return;
          own = message.key();
          from = &messages[k];
        });
    const unsigned key = cuda::warp_argmin(own);
    if (key == FirstAccepted<Delta>::none)
      first_polled()->key = key;
    else if (own == key)
      *first_polled() = from->read(key, step_);
  }
  /// From the messages of this step, once they are there; by whole warps.
  [[nodiscard]] __device__ __forceinline__ FirstAccepted<Delta> first_counted() const {
    const auto lane = static_cast<std::int32_t>(threadIdx.x) % 32;
    const cuda::Four<Delta>* const messages = counted_mailbox().wait(step_);
    const unsigned mine = lane < policy_.blocks ? static_cast<unsigned>(messages[lane].v[0]) : FirstAccepted<Delta>::none;
    const unsigned key = cuda::warp_argmin(mine);
    const cuda::Four<Delta> first = messages[__ffs(static_cast<int>(__ballot_sync(~0u, mine == key))) - 1];
    return {key, first.v[1], first.v[2], first.v[3]};
  }

  const DeviceQap<Entry>& qap_;
  const RowsPolicy& policy_;
  const RowsLayout<Types>& layout_;
  ChainState& state_;
  std::uint32_t memory_;
  AcceptedMessage<Delta>* mailbox_;
  Word* inbox_;
  const Delta* f_;
  std::int32_t *current_, *best_;
  std::int64_t limit_;
  std::int32_t n_, rank_, teams_, thread_, warp_, update_lanes_, update_lane_, update_group_, last_team_, own_team_;

  annealing::Cooling cooling_{};
  std::uint64_t seed_ = 0;
  std::int32_t pairs_;
  std::int64_t sweep_ = 0, sweep_q_ = 0, row_q_ = 0, q_ = 0;  ///< the next proposal is q_: pair (row_, column_) of sweep_
  std::int32_t row_ = 0, column_ = 0, window_ = 0;
  std::int64_t end_ = 0, last_accepted_ = -1;  ///< proposals before end_ can be decided at the present temperatures
  std::int64_t cost_ = 0, best_cost_ = 0;
  bool stays_ = false;  ///< no run of rejections changes the schedule
  bool improved_ = false;
  std::int32_t empty_steps_ = 0, usual_doublings_ = 0;  ///< the first step of sweeps takes 2^usual_doublings_
  int swaps_ = 0;                                       ///< parity of their number
  unsigned step_ = first_step;
  std::int32_t r_ = -1, s_ = -1;  ///< the swap of this step; -1: none
  std::int32_t pr_ = 0, ps_ = 0;  ///< their locations before it
  Delta f_rs_ = 0, f_sr_ = 0, delta_ = 0;
  std::int32_t p_[Columns];  ///< of this thread's columns, and the next four: diagonals of F and B', d, e
  Delta f_jj_[Columns], b_jj_[Columns], d_[Columns][sides], e_[Columns][sides];
  TeamRow<Delta, Columns> at_, next_;
  int stage_ = 0;                  ///< of next_
  FirstAccepted<Delta> accepted_;  ///< by this thread in this step
};

template <ElementTypes Types, int Columns, SharedMatrices Where, bool Counted>
__global__ void __launch_bounds__(RowsPolicy::most_threads, 1)
    search_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, const __grid_constant__ RowsPolicy policy,
                  const __grid_constant__ RowsLayout<Types> layout, Chains chains, RowsWorkspace<typename Types::Delta> workspace,
                  std::int64_t first, std::int64_t limit) {
  __shared__ ChainState state;
  const int rank = static_cast<int>(blockIdx.x) % policy.blocks, in_launch = static_cast<int>(blockIdx.x) / policy.blocks;
  if (threadIdx.x == 0) state = chains.state[first + in_launch];
  __syncthreads();
  if (state.next >= limit) return;
  ChainSearch<Types, Columns, Where, Counted>(qap, policy, layout, chains, workspace, static_cast<std::size_t>(first + in_launch),
                                              static_cast<std::size_t>(in_launch), limit, rank, state)
      .run();
  __syncthreads();
  if (rank == 0 && threadIdx.x == 0) chains.state[first + in_launch] = state;
}

// --- the host's side -------------------------------------------------------------------------------------------------------

/// What is chosen for an instance, a number of chains and a GPU.
template <ElementTypes Types>
struct TunedPolicy {
  RowsPolicy rows;
  RowsLayout<Types> layout;

  [[nodiscard]] Policy record() const {
    return {{"hot_threads", HotPolicy::threads},
            {"threads", rows.threads()},
            {"teams", rows.teams},
            {"blocks", rows.blocks},
            {"cluster", rows.scope == Scope::cluster ? rows.blocks : 0},
            {"matrices_in_shared", static_cast<std::int64_t>(rows.matrices)},
            {"shared_bytes", layout.bytes}};
  }
  [[nodiscard]] cuda::Shape shape(std::int64_t chains) const {
    return {.blocks = chains * rows.blocks,
            .threads = rows.threads(),
            .shared_bytes = layout.bytes,
            .cluster = rows.scope == Scope::cluster ? rows.blocks : 1,
            .cooperative = rows.scope == Scope::grid};
  }
  [[nodiscard]] auto kernel() const {
    constexpr auto none = SharedMatrices::none, b = SharedMatrices::b, both = SharedMatrices::both;
    if (rows.columns == RowsPolicy::most_columns) return &search_kernel<Types, RowsPolicy::most_columns, none, false>;
    if (rows.columns == RowsPolicy::some_columns) return &search_kernel<Types, RowsPolicy::some_columns, none, false>;
    if (rows.counted()) return &search_kernel<Types, 1, both, true>;
    return rows.matrices == both ? &search_kernel<Types, 1, both, false>
           : rows.matrices == b  ? &search_kernel<Types, 1, b, false>
                                 : &search_kernel<Types, 1, none, false>;
  }
};

/// The first policy that fits this GPU, with B and then A in shared memory if they fit. Throws DoesNotFit.
template <ElementTypes Types>
[[nodiscard]] TunedPolicy<Types> tuned_policy(const DeviceQap<typename Types::Entry>& matrices, const annealing::Task& task, bool many) {
  const std::size_t most = cuda::most_shared();
  for (RowsPolicy rows : rows_policies(matrices.n, many ? task.chains : 1, task.scope)) {
    const auto fits = [&](SharedMatrices in_shared) {
      constexpr std::uint32_t reserve = 2048;  // what the kernel declares itself
      rows.matrices = in_shared;
      return RowsLayout<Types>(rows, matrices.n, matrices.pitch).bytes + reserve <= most;
    };
    if (matrices.n > RowsPolicy::largest_size || rows.threads() > RowsPolicy::most_threads || !fits(SharedMatrices::none)) continue;
    if (rows.columns == 1 && !fits(SharedMatrices::both) && !fits(SharedMatrices::b)) rows.matrices = SharedMatrices::none;
    const TunedPolicy<Types> policy{rows, RowsLayout<Types>(rows, matrices.n, matrices.pitch)};
    cuda::allow_shared(policy.kernel(), policy.layout.bytes);
    if (rows.scope != Scope::cluster || cuda::clusters_at_a_time(policy.shape(1), policy.kernel()) > 0) return policy;
  }
  throw DoesNotFit("size " + std::to_string(matrices.n) + " is too large for the shared memory of this GPU; use gpu" +
                   (many ? ", or gpu-tuned for one chain after the other" : ""));
}

/// gpu-tuned (one chain at a time) and gpu-chains (`Many`: all at once).
template <ElementTypes T, bool Many>
class Tuned {
 public:
  using Types = T;
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;

  Tuned(const qap::Qap&, const DeviceQap<Entry>& matrices, const annealing::Task& task)
      : matrices_(matrices),
        batch_size_(Many ? task.chains : 1),
        policy_(tuned_policy<Types>(matrices, task, Many)),
        resident_(hot_bytes<Types>(matrices.n, true) + sizeof(HotMemory<Delta>) + 1024 <= cuda::most_shared()),
        f_(chains() * size() * size()),
        inbox_(in_grid() ? chains() * static_cast<std::size_t>(inbox_words<Delta>(policy_.rows.pitch)) : 0),
        mailbox_(in_grid() ? chains() * 2 * static_cast<std::size_t>(policy_.rows.blocks) : 0),
        permuted_(chains() * Types::sides * size() * static_cast<std::size_t>(matrices.pitch)) {
    cuda::allow_shared(hot(), hot_bytes<Types>(matrices.n, resident_));
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    launch_hot(chains, first, count, limit, stream);
    launch_rows(chains, first, count, limit, stream);
  }
  /// The hot phase. It leaves B' as the permutation puts it.
  void launch_hot(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    const auto together = static_cast<unsigned>(count);
    permute(chains, first, together, stream);
    hot()<<<together, HotPolicy::threads, hot_bytes<Types>(matrices_.n, resident_), stream.get()>>>(matrices_, chains, permuted_.data(),
                                                                                                    first, limit);
  }
  /// What comes behind it, from B'.
  void launch_rows(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    const auto together = static_cast<unsigned>(count), tiles = static_cast<unsigned>(divide_up(matrices_.n, 32));
    products_kernel<Types>
        <<<dim3(tiles, tiles, together), 256, 0, stream.get()>>>(matrices_, permuted_.data(), f_.data(), chains.state + first, limit);
    inbox_.fill(0, stream);
    mailbox_.fill(0, stream);
    const RowsWorkspace<Delta> workspace{f_.data(), inbox_.data(), mailbox_.data()};
    VICINITY_CUDA_CHECK(cuda::launch(policy_.shape(count), stream, policy_.kernel(), matrices_, policy_.rows, policy_.layout, chains,
                                     workspace, first, limit));
  }
  /// Makes B' anew.
  void permute(const Chains& chains, std::int64_t first, unsigned together, const cuda::Stream& stream) {
    permute_kernel<Types>
        <<<dim3(static_cast<unsigned>(matrices_.n), together), 256, 0, stream.get()>>>(matrices_, chains, first, permuted_.data());
  }

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  [[nodiscard]] Policy policy() const { return policy_.record(); }
  /// Two barriers of a block a step; the messages between blocks are counted as a barrier of the blocks that exchange them.
  [[nodiscard]] Work barriers(const ChainState& state) const {
    const auto steps = static_cast<double>(state.steps);
    Work work{{Ceiling::block_barrier, 2 * steps + static_cast<double>(state.hot_barriers)}};
    if (policy_.rows.scope == Scope::cluster) work[Ceiling::cluster_barrier] = steps;
    if (policy_.rows.scope == Scope::grid) work[Ceiling::grid_barrier] = steps;
    return work;
  }

 private:
  [[nodiscard]] std::size_t chains() const { return static_cast<std::size_t>(batch_size_); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(matrices_.n); }
  [[nodiscard]] bool in_grid() const { return policy_.rows.scope == Scope::grid; }
  [[nodiscard]] auto hot() const { return resident_ ? &hot_kernel<Types, true> : &hot_kernel<Types, false>; }

  DeviceQap<Entry> matrices_;
  std::int64_t batch_size_;
  TunedPolicy<Types> policy_;
  bool resident_;  ///< in the hot phase, B' in shared memory
  cuda::DeviceBuffer<Delta> f_;
  cuda::DeviceBuffer<Word> inbox_;
  cuda::DeviceBuffer<AcceptedMessage<Delta>> mailbox_;
  cuda::DeviceBuffer<Entry> permuted_;
};

}  // namespace vicinity::sa
