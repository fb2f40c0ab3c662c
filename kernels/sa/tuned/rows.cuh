#pragma once
// The tuned annealing by rows: one kernel, many blocks, no barrier among them.
#include <cooperative_groups.h>

#include "kernels/sa/tuned/rows_layout.cuh"

namespace vicinity::sa {

/// A row of proposals as a team looks at it.
template <class Delta, int Columns>
struct TeamRow {
  std::int32_t row;  ///< -1: this team has none
  std::int32_t k;    ///< its place among the block's rows
  std::int64_t sweep;
  std::int32_t ahead;        ///< rows from the front's to it
  std::int64_t q;            ///< its first proposal
  float threshold[Columns];  ///< of this thread's columns
  float inverse[Columns];    ///< 1/T
  Delta a[Columns];          ///< their factors of A in a delta
};

/// Mapping: a chain is one block, a cluster or the whole grid; a row of proposals belongs to a team of warps of one block, a thread to
/// `Columns` columns (RowsPolicy). The blocks hold the rows of H and of its transpose that their deltas are made of, and follow every swap
/// with two products an element; the permutation and the diagonal of H are everyone's. A step:
///  1. every thread carries out the last swap (r, s) on what its columns need and tests them in its team's next row, against random
///  thresholds
///     made before; owner(s) sends its row of the transpose, which facility r needs from now on, to owner(r), and the other way round;
///                                                                                                         [block barrier]
///  2. a message with the block's first accepted proposal goes to all blocks; while these are under way: H follows the last swap,
///     thresholds of the rows after the next, bookkeeping;                                                     [block barrier]
///  3. the first accepted proposal of all messages is the next swap: letters are read by every warp, messages by one.
/// Where nothing is accepted for long, a step takes whole sweeps (sweep). Cost of a step: one message latency, and one more where r and s
/// belong to different blocks; 2 n^2 / blocks products beside them.
/// Letters: RowsPolicy::by_letters(), with a kernel of its own, since it is shorter by what the other ways need.
template <class Types, int Columns, Resident Where, bool Letters>
class Rows {
 public:
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;
  static constexpr int sides = Types::sides;

  __device__ __forceinline__ Rows(const DeviceQap<Entry>& qap, const RowsPolicy& policy, const RowsStorage<Types>& storage,
                                  const Chains& chains, const RowsShared<Delta>& shared, std::size_t chain, std::size_t in_launch,
                                  std::int64_t limit, int rank, ChainState& state)
      : qap_(qap),
        policy_(policy),
        m_(storage),
        state_(state),
        memory_(rows_memory_address()),
        board_(policy.space == Space::grid ? shared.board + in_launch * 2 * policy.blocks : m_.board.in(memory_)),
        inbox_(policy.space == Space::grid ? shared.inbox + in_launch * inbox_words<Delta>(policy.pitch) : m_.inbox.in(memory_)),
        h_(shared.h + in_launch * qap.n * qap.n),
        current_(chains.current + chain * qap.n),
        best_(chains.best + chain * qap.n),
        limit_(limit),
        n_(qap.n),
        rank_(rank),
        teams_(policy.blocks * policy.teams),
        thread_(static_cast<std::int32_t>(threadIdx.x) < policy.scanners() ? static_cast<std::int32_t>(threadIdx.x) % policy.team : -1),
        warp_(static_cast<std::int32_t>(threadIdx.x) / 32),
        follow_lanes_(many_columns ? 1 : policy.scanners() / policy.groups()),
        follow_lane_(many_columns ? 0 : static_cast<std::int32_t>(threadIdx.x) / policy.groups()),
        follow_group_(static_cast<std::int32_t>(threadIdx.x) - follow_lane_ * policy.groups()),
        last_team_((qap.n - 2) % (policy.blocks * policy.teams)),
        own_team_(static_cast<std::int32_t>(threadIdx.x) / policy.team * policy.blocks + rank),
        pairs_(static_cast<std::int32_t>(annealing::pairs(qap.n))) {}

  /// Takes the chain up to the limit.
  __device__ __forceinline__ void run() {
    start();
    while (q_ < limit_) {
      if (sweeping())
        sweep();
      else
        test();
      if (!clerk()) leave_first(found_, slots()[warp_]);
      __syncthreads();
      if (clerk()) {
        agree();
      } else {
        if (swapped()) follow();
        if (stage_ < ready) prepare(next_);
      }
      __syncthreads();
      const Found<Delta> first = Letters ? delivered() : *heard();
      ++step_;
      take(first);
      if (swapped()) swap();  // first of all, since others wait for its messages
      go_on(first);
      if (swapped() && clerk() && threadIdx.x % 32 == 0) state_.accept(last_accepted_, delta_);
    }
    finish();
  }

 private:
  static constexpr std::int32_t never = 1 << 30;
  static constexpr int ready = 3;                                           ///< stages of a row
  static constexpr Delta scale = sides == 1 ? 2 : 1;                        ///< of H in a delta
  static constexpr bool many_columns = Columns > RowsPolicy::some_columns;  ///< a row has more groups of four columns than scanners
  static constexpr std::int32_t most_rows = 1 << 20;                        ///< of a step, for keys

  /// A row of a sweep.
  struct Place {
    std::int32_t row;
    std::int64_t sweep;
  };
  [[nodiscard]] __device__ __forceinline__ bool clerk() const { return thread_ < 0; }
  [[nodiscard]] __device__ __forceinline__ bool swapped() const { return r_ >= 0; }
  [[nodiscard]] __device__ __forceinline__ bool alone() const { return !Letters && policy_.space == Space::block; }
  [[nodiscard]] __device__ __forceinline__ bool clustered() const { return Letters || policy_.space == Space::cluster; }
  [[nodiscard]] __device__ __forceinline__ bool sweeping() const { return empty_steps_ >= 2; }
  [[nodiscard]] __device__ __forceinline__ int parity() const { return static_cast<int>(step_ & 1); }
  [[nodiscard]] __device__ __forceinline__ Found<Delta>* slots() const { return m_.slots.in(memory_); }
  [[nodiscard]] __device__ __forceinline__ Found<Delta>* heard() const { return slots() + RowsPolicy::most_scanners / 32; }
  /// Of the last swap, 1 - `swaps_`: of the one before.
  [[nodiscard]] __device__ __forceinline__ std::uint16_t* p(int parity) const { return m_.p.in(memory_) + parity * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* diagonal(int parity) const { return m_.diagonal.in(memory_) + parity * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* x_row(std::int32_t k) const { return m_.x.in(memory_) + k * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* y_row(std::int32_t k) const { return x_row(policy_.rows + k); }
  [[nodiscard]] __device__ __forceinline__ Delta* u(int side) const { return m_.u.in(memory_) + side * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ Delta* w(int side) const { return m_.w.in(memory_) + side * policy_.pitch; }
  [[nodiscard]] __device__ __forceinline__ const Entry* a_row(int side, std::int32_t i) const {
    if constexpr (Where == Resident::both) return m_.a.in(memory_) + (side * n_ + i) * qap_.pitch;
    return qap_.a_row(side, i);
  }
  [[nodiscard]] __device__ __forceinline__ const Entry* b_row(int side, std::int32_t i) const {
    if constexpr (Where != Resident::none) return m_.b.in(memory_) + (side * n_ + i) * qap_.pitch;
    return qap_.b_row(side, i);
  }
  [[nodiscard]] __device__ __forceinline__ std::int32_t column(int k) const { return thread_ + k * policy_.team; }
  /// Where a facility's values are before the swap.
  [[nodiscard]] __device__ __forceinline__ std::int32_t before(std::int32_t i) const { return i == r_ ? s_ : i == s_ ? r_ : i; }
  [[nodiscard]] __device__ __forceinline__ Word* inbox(int which) const {
    return inbox_ + (2 * parity() + which) * words_of<Delta> * policy_.pitch;
  }
  /// The entries of a matrix' row and column that a delta needs: m(i, j) + m(j, i).
  template <class Row>
  [[nodiscard]] __device__ __forceinline__ static Delta both_ways(const Row& row, std::int32_t j) {
    if constexpr (sides == 1) return 2 * static_cast<Delta>(row(0)[j]);
    return static_cast<Delta>(row(0)[j]) + static_cast<Delta>(row(1)[j]);
  }

  // --- the start -------------------------------------------------------------------------------------------------------

  __device__ __forceinline__ void start() {
    const auto each = [](std::int32_t count, auto&& f) {
      for (std::int32_t j = threadIdx.x; j < count; j += blockDim.x) f(j);
    };
    const std::int32_t pitch = policy_.pitch;
    for (int side = 0; side < sides; ++side) {
      if (Where == Resident::both)
        each(n_ * qap_.pitch, [&](std::int32_t k) { m_.a.in(memory_)[side * n_ * qap_.pitch + k] = qap_.a[side][k]; });
      if (Where != Resident::none)
        each(n_ * qap_.pitch, [&](std::int32_t k) { m_.b.in(memory_)[side * n_ * qap_.pitch + k] = qap_.b[side][k]; });
    }
    for (std::int32_t k = 0, i = rank_; i < n_; ++k, i += policy_.blocks)
      each(pitch, [&](std::int32_t j) {
        x_row(k)[j] = j < n_ ? h_[std::size_t(i) * n_ + j] : 0;
        if (!alone()) y_row(k)[j] = j < n_ ? h_[std::size_t(j) * n_ + i] : 0;
      });
    each(pitch, [&](std::int32_t j) {
      const bool in = j < n_;
      const std::int32_t pj = in ? current_[j] : 0;
      p(0)[j] = static_cast<std::uint16_t>(pj);
      diagonal(0)[j] = in ? h_[std::size_t(j) * n_ + j] : 0;
      m_.a_diagonal.in(memory_)[j] = in ? static_cast<Delta>(qap_.a_row(0, j)[j]) : 0;
      for (int side = 0; side < sides; ++side) u(side)[j] = w(side)[j] = 0;
    });
#pragma unroll
    for (int k = 0; k < Columns; ++k) {
      const std::int32_t j = clerk() ? 0 : min(column(k), n_ - 1);
      p_[k] = current_[j];
      diagonal_[k] = h_[std::size_t(j) * n_ + j];
      b_diagonal_[k] = static_cast<Delta>(qap_.b_row(0, p_[k])[p_[k]]);
    }
    if (clustered()) {
      each(inbox_words<Delta>(pitch), [&](std::int32_t k) { m_.inbox.in(memory_)[k] = 0; });
      if constexpr (Letters) {
        if (threadIdx.x < 2) prepare_arrivals(memory_ + m_.arrivals.offset + 8 * threadIdx.x);
      } else {
        each(2 * policy_.blocks * static_cast<std::int32_t>(sizeof(Message<Delta>) / sizeof(Word)),
             [&](std::int32_t k) { reinterpret_cast<Word*>(m_.board.in(memory_))[k] = 0; });
      }
    }
    meet();
    cooling_ = state_.cooling;
    seed_ = state_.seed;
    cost_ = state_.cost;
    best_cost_ = state_.best_cost;
    last_accepted_ = state_.last_accepted;
    frozen_ = state_.frozen_at >= 0;
    end_ = state_.end(annealing::pairs(n_), limit_);
    q_ = state_.next;
    stand_at(q_);
    if (!clerk()) enter();
    __syncthreads();
  }
  /// All blocks of a cluster: before anyone writes to another's shared memory, and before anyone leaves.
  __device__ __forceinline__ void meet() const {
    __syncthreads();
#if __CUDA_ARCH__ >= 900
    if (clustered()) cooperative_groups::this_cluster().sync();
#endif
  }

  // --- where the search stands: the same in all threads of all blocks ----------------------------------------------------

  __device__ __forceinline__ void stand_at(std::int64_t q);
  /// Rows on from the front's, to the start of one.
  __device__ __forceinline__ void move(std::int32_t rows);
  /// Rows of the next step: as far as every row is the next one of its team; in a sweep whole sweeps.
  __device__ __forceinline__ void choose_window();
  __device__ __forceinline__ void take(const Found<Delta>& first);
  __device__ __forceinline__ void go_on(const Found<Delta>& first);
  /// By the clerks, after a swap.
  __device__ __forceinline__ void keep_best() const {
    if (!improved_ || rank_ != 0) return;
    for (std::int32_t j = static_cast<std::int32_t>(threadIdx.x) % 32; j < n_; j += 32) best_[j] = p(swaps_)[j];
  }
  __device__ __forceinline__ void finish() {
    __syncthreads();
    if (swapped() && clerk()) keep_best();
    meet();
    if (rank_ != 0) return;
    for (std::int32_t j = threadIdx.x; j < n_; j += blockDim.x) current_[j] = p(swaps_)[j];
    if (threadIdx.x == 0) state_.reject_until(q_, n_);
  }

  // --- rows of proposals -------------------------------------------------------------------------------------------------

  [[nodiscard]] __device__ __forceinline__ Place after(const TeamRow<Delta, Columns>& at) const {
    if (at.row < 0) return {-1, 0};
    return at.row + teams_ <= n_ - 2 ? Place{at.row + teams_, at.sweep} : Place{own_team_, at.sweep + 1};
  }
  /// The team's first row from the front on.
  __device__ __forceinline__ void enter();
  /// The next step of making a row, so that none keeps others waiting.
  __device__ __forceinline__ void prepare(TeamRow<Delta, Columns>& row);
  __device__ __forceinline__ void set(TeamRow<Delta, Columns>& to, Place place) const;
  /// Random words, where the thresholds will be.
  __device__ __forceinline__ void draw(TeamRow<Delta, Columns>& to) const;
  __device__ __forceinline__ static void thresholds(TeamRow<Delta, Columns>& to) {
#pragma unroll
    for (int k = 0; k < Columns; ++k) to.threshold[k] = annealing::threshold(static_cast<unsigned>(bits_of(to.threshold[k])));
  }
  [[nodiscard]] __device__ __forceinline__ Delta factor_of_a(std::int32_t i, std::int32_t j) const {
    return both_ways([&](int side) { return a_row(side, i); }, j) - m_.a_diagonal.in(memory_)[i] - m_.a_diagonal.in(memory_)[j];
  }

  /// Tests the team's next row. Of the permutation and the diagonal, others than this thread's columns may be on their way still: they are
  /// taken from before the swap.
  __device__ __forceinline__ void test();

  /// Tests all rows of the window, sweeps of one row after the other. Few words pass a bound that is the same for all sweeps; these are
  /// tested.
  __device__ __forceinline__ void sweep();
  /// Four columns of every `workers`-th of the block's rows, from row `first` on; by whole warps.
  __device__ __forceinline__ void sweep(std::int32_t thread, std::int32_t first, std::int32_t workers);
  /// 1/T is at least this within the window.
  [[nodiscard]] __device__ __forceinline__ float least_inverse_temperature() const;
  /// A word that accepts `delta` at this 1/T or a higher one is at most this; 0: none does. The error of exp2 and of annealing::threshold
  /// is below 1e-5.
  [[nodiscard]] __device__ __forceinline__ static unsigned highest_word(Delta delta, float inverse_temperature);
  __device__ __forceinline__ void decide(std::int32_t ahead, std::int32_t sweep, std::int32_t row, std::int32_t j, Delta delta, Delta x,
                                         Delta y, unsigned word);

  // --- swaps -------------------------------------------------------------------------------------------------------------

  template <class Row>
  [[nodiscard]] __device__ __forceinline__ static Delta difference(const Row* r, const Row* s, std::int32_t k) {
    return static_cast<Delta>(r[k]) - static_cast<Delta>(s[k]);
  }
  /// Takes r_ and s_ to each other's locations: what everyone has of this thread's columns; rows of the transpose on their way.
  __device__ __forceinline__ void swap();
  /// An element of the transpose's row of `location`, in column k of this thread, after the swap.
  [[nodiscard]] __device__ __forceinline__ Delta at_other(Delta y, std::int32_t pr, std::int32_t ps, std::int32_t location, int k) const {
#pragma unroll
    for (int side = 0; side < sides; ++side) y -= u_[k][side] * difference(b_row(side, pr), b_row(side, ps), location);
    return y;
  }
  __device__ __forceinline__ void deliver(std::int32_t owner, int which, std::int32_t j, Delta value) const {
    Word* const place = inbox(which) + j;
    send(clustered() ? in_block(place, owner) : place, policy_.pitch, value, step_);
  }

  [[nodiscard]] __device__ __forceinline__ Delta received(const Word* from) const {
    Delta value[1];
    receive(value, from, policy_.pitch, step_);
    return value[0];
  }

  /// H of the own rows follows the swap: a thread takes a group of four columns of every follow_lanes_-th row.
  __device__ __forceinline__ void follow();
  __device__ __forceinline__ void follow(std::int32_t group);
  /// A row of the transpose from another block, if `facility` is the block's own.
  __device__ __forceinline__ void take_in(std::int32_t facility, int which) const;

  // --- agreement ---------------------------------------------------------------------------------------------------------

  /// The first of up to 32 slots; by whole warps.
  [[nodiscard]] __device__ __forceinline__ static Found<Delta> least(const Found<Delta>* slots, int count) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned mine = lane < count ? slots[lane].key : Found<Delta>::none;
    const unsigned least = cuda::warp_min(mine);
    return slots[__ffs(static_cast<int>(__ballot_sync(~0u, mine == least))) - 1];
  }
  /// By one warp: the block's first proposal to all blocks; theirs back, unless they come as letters.
  __device__ __forceinline__ void agree();
  /// By one warp: a letter to all blocks of the cluster.
  __device__ __forceinline__ void send_letters(const Found<Delta>& found) const;
  /// The first of the letters of this step, once they are there; by whole warps.
  [[nodiscard]] __device__ __forceinline__ Found<Delta> delivered() const;

  const DeviceQap<Entry>& qap_;
  const RowsPolicy& policy_;
  const RowsStorage<Types>& m_;
  ChainState& state_;
  std::uint32_t memory_;
  Message<Delta>* board_;
  Word* inbox_;
  const Delta* h_;
  std::int32_t *current_, *best_;
  std::int64_t limit_;
  std::int32_t n_, rank_, teams_, thread_, warp_, follow_lanes_, follow_lane_, follow_group_, last_team_, own_team_;

  annealing::Cooling cooling_{};
  std::uint64_t seed_ = 0;
  std::int32_t pairs_;
  std::int64_t sweep_ = 0, lap_q_ = 0, row_q_ = 0, q_ = 0;  ///< the front: the next proposal is q_, pair (row_, column_) of sweep_
  std::int32_t row_ = 0, column_ = 0, window_ = 0;
  std::int64_t end_ = 0, last_accepted_ = -1;  ///< proposals before end_ can be decided at the present temperatures
  std::int64_t cost_ = 0, best_cost_ = 0;
  bool frozen_ = false, improved_ = false;
  std::int32_t empty_steps_ = 0, usual_laps_ = 0;  ///< a sweep starts with 2^usual_laps_ sweeps
  int swaps_ = 0;                                  ///< parity
  unsigned step_ = 1;
  std::int32_t r_ = -1, s_ = -1;  ///< the swap to carry out; -1: none
  std::int32_t pr_ = 0, ps_ = 0;  ///< their locations before
  Delta x_ = 0, y_ = 0, delta_ = 0;
  std::int32_t p_[Columns];  ///< of this thread's columns, and the next four
  Delta diagonal_[Columns], b_diagonal_[Columns], u_[Columns][sides], w_[Columns][sides];
  TeamRow<Delta, Columns> at_, next_;
  int stage_ = 0;  ///< of next_
  Found<Delta> found_;
};

}  // namespace vicinity::sa
