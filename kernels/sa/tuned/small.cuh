#pragma once
// The tuned annealing of up to 64 facilities (gpu-tuned, gpu-chains): one warp decides, the other warps of its block work for it.
//
// Problem: with so few facilities a swap and the rows up to the next one are little work, and a step of annealing.cuh is all barriers and
// messages. Here nobody waits for the deciding warp, and it waits for others only when they have had the time of a test.
// Data layout: all in the shared memory of one block. F in the notation of core/problems/qap/inner_products.hpp, by location, so that a
// swap moves nothing: F[x][l] at x * pitch + l, in two copies, of which one is read while the other is made. The factors alpha of
// facilities and beta of locations never change. Lane j of the deciding warp has the location and F[j][j] of facility j, and of j + 32.
// Warps: the first decides; the next ones update F after a swap; one keeps the chain's state and the best permutation; the rest draw the
// thresholds of the next sweep.
// Synchronisation: named barriers, each of those concerned only (SmallBarrier).
// Cost: a swap is one test from the copy before it, with the products that it adds to a row and a column; the update hides behind that
// test.
#include <cstdint>
#include <memory>

#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/run.cuh"

namespace vicinity::sa {

/// How the warps of a block are dealt. Columns: facilities of a lane.
template <int Columns>
struct SmallPolicy {
  static constexpr int size = 32 * Columns;  ///< most facilities
  static constexpr int pitch = size + 1;     ///< so that neither rows nor columns share a bank
  static constexpr int updaters = 4 * Columns, drawers = 4;
  static constexpr int threads = 32 * (1 + updaters + 1 + drawers);
  static constexpr int rows = Columns == 1 ? 4 : 2;  ///< that are tested at once while no swap is under way; 2 otherwise
  static constexpr int tested = size + rows - 1;     ///< rows behind the last are tested, too, and never accepted
};

/// What the deciding warp tells.
struct SmallMessage {
  static constexpr std::int32_t freeze = -1, end = -2;
  std::int32_t r;         ///< the swap of r and s; or freeze, or end
  std::int32_t s, u, q;   ///< s, and the locations of r and s before it
  std::int64_t proposal;  ///< of the swap; or all before it are decided
  std::int64_t delta;     ///< of the swap; at the end the number of sweeps begun
};

/// 0 is the block's.
enum class SmallBarrier : std::uint8_t {
  swapped = 1,  ///< a message is there: updaters and keeper wait
  updated,      ///< the next copy of F is there: the deciding warp waits
  drawn,        ///< a sweep begins: drawers and the deciding warp wait
  kept          ///< the temperature is frozen: the deciding warp waits
};

/// Of `threads` threads; what they wrote before it all see behind it.
__device__ __forceinline__ void meet(SmallBarrier barrier, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(static_cast<int>(barrier)), "r"(threads) : "memory");
}
/// The same, without waiting.
__device__ __forceinline__ void announce(SmallBarrier barrier, int threads) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(static_cast<int>(barrier)), "r"(threads) : "memory");
}

template <ElementTypes Types, int Columns>
struct SmallMemory {
  using Policy = SmallPolicy<Columns>;
  using Delta = typename Types::Delta;
  static constexpr int elements = Policy::tested * Policy::pitch;

  SmallMessage message[2];
  annealing::Cooling cooling;                                         ///< once frozen
  Delta f[2][elements], alpha[elements], beta[elements];              ///< [facility][location], [facility][facility], [location][location]
  std::int32_t a[Types::sides][elements], b[Types::sides][elements];  ///< side 1: transposes
  float threshold[2][Policy::tested * Policy::size];                  ///< [parity of the sweep][row][column]
  annealing::RowTemperature temperature[Policy::tested];              ///< of the rows of the present sweep
  std::int32_t p[Policy::size];
  std::int64_t sweeps;  ///< of the launch; known at its end
};

template <ElementTypes Types, int Columns>
class SmallSearch {
 public:
  using Policy = SmallPolicy<Columns>;
  using Memory = SmallMemory<Types, Columns>;
  using Delta = typename Types::Delta;

  __device__ __forceinline__ SmallSearch(Memory& memory, std::int32_t n)
      : m_(memory), n_(n), pairs_(static_cast<std::int32_t>(annealing::pairs(n))), lane_(static_cast<std::int32_t>(threadIdx.x) % 32) {}

  /// Fills the shared memory; by all threads.
  __device__ __forceinline__ void load(const DeviceQap<typename Types::Entry>& qap, const std::int32_t* current) {
    const auto each = [](std::int32_t count, auto&& act) {
      for (std::int32_t k = threadIdx.x; k < count; k += Policy::threads) act(k);
    };
    each(Policy::size, [&](std::int32_t j) { m_.p[j] = j < n_ ? current[j] : j; });
    each(Memory::elements, [&](std::int32_t k) {
      const std::int32_t x = k / Policy::pitch, y = k % Policy::pitch;
      const bool in = x < n_ && y < n_;
      for (int side = 0; side < sides; ++side) {
        m_.a[side][k] = in ? static_cast<std::int32_t>(qap.a_row(side, x)[y]) : 0;
        m_.b[side][k] = in ? static_cast<std::int32_t>(qap.b_row(side, x)[y]) : 0;
      }
    });
    if (threadIdx.x == 0) m_.sweeps = std::int64_t{1} << 62;
    __syncthreads();
    each(Memory::elements, [&](std::int32_t k) {
      const std::int32_t x = k / Policy::pitch, y = k % Policy::pitch;
      const bool in = x < n_ && y < n_;
      m_.alpha[k] = in ? factor(m_.a, x, y) : 0;
      m_.beta[k] = in ? factor(m_.b, x, y) : 0;
      Delta sum = 0;
      for (int side = 0; side < sides && in; ++side)
        for (std::int32_t z = 0; z < n_; ++z)
          sum += static_cast<Delta>(m_.a[side][x * Policy::pitch + z]) * m_.b[side][y * Policy::pitch + m_.p[z]];
      m_.f[0][k] = m_.f[1][k] = doubled * sum;
    });
    __syncthreads();
  }

  /// By the first warp: takes the chain from `state` to the limit.
  __device__ __forceinline__ void decide(const ChainState& state, std::int64_t limit) {
    seed_columns();
    cooling_ = state.cooling;
    limit_ = limit;
    stays_ = state.frozen_at >= 0 || !cooling_.freezes();
    end_ = state.end(pairs_, limit);
    sweep_q_ = state.next / pairs_ * pairs_;
    go_to(static_cast<std::int32_t>(state.next - sweep_q_));
    begin_sweep();
    bool pending = false, ended = state.next >= limit;
    while (!ended) {
      const Found found = pending ? test<2, true>() : test<Policy::rows, false>();
      if (pending) take_update();
      pending = found.r >= 0;
      if (pending) swap(found);
      if (number() >= end_number_) {
        ended = end_ == limit_;
        if (!ended) freeze();
      }
      if (ended || row_ < n_ - 1) continue;
      sweep_q_ += pairs_;
      go_to(0);
      begin_sweep();
    }
    if (pending) take_update();
    if (lane_ == 0) {
      m_.message[parity_] = {.r = SmallMessage::end, .proposal = limit_, .delta = sweeps_};
      m_.sweeps = sweeps_;
    }
    __syncwarp();
    announce(SmallBarrier::swapped, told);
    meet(SmallBarrier::drawn, drawing);
  }

  /// By the `warp`-th of the updaters.
  __device__ __forceinline__ void update(int warp) {
    for (int parity = 0, read = 0;; parity ^= 1) {
      meet(SmallBarrier::swapped, told);
      const SmallMessage& message = m_.message[parity];
      if (message.r == SmallMessage::end) return;
      if (message.r == SmallMessage::freeze) continue;
      const std::int32_t r = message.r, s = message.s, u = message.u, q = message.q;
      const Delta* const from = m_.f[read];
      Delta* const to = m_.f[read ^ 1];
      Delta e[Columns][sides];
#pragma unroll
      for (int c = 0; c < Columns; ++c)
#pragma unroll
        for (int side = 0; side < sides; ++side) e[c][side] = difference(m_.b[side], q, u, lane_ + 32 * c);
#pragma unroll
      for (int k = 0; k < Policy::size / Policy::updaters; ++k) {
        const std::int32_t x = warp + k * Policy::updaters;
        if (x >= n_) break;
        Delta d[sides];
#pragma unroll
        for (int side = 0; side < sides; ++side) d[side] = doubled * difference(m_.a[side], r, s, x);
#pragma unroll
        for (int c = 0; c < Columns; ++c) {
          const std::int32_t at = x * Policy::pitch + lane_ + 32 * c;
          to[at] = from[at] + product(d, e[c]);
        }
      }
      read ^= 1;
      announce(SmallBarrier::updated, updating);
    }
  }

  /// By one warp. Leaves the state, the current permutation and the best one.
  __device__ __forceinline__ void keep(ChainState& kept, std::int32_t* current, std::int32_t* best) {
    seed_columns();
    ChainState state = kept;
    const auto store = [&](std::int32_t* to) {
#pragma unroll
      for (int c = 0; c < Columns; ++c)
        if (lane_ + 32 * c < n_) to[lane_ + 32 * c] = p_[c];
    };
    for (int parity = 0;; parity ^= 1) {
      meet(SmallBarrier::swapped, told);
      const SmallMessage message = m_.message[parity];
      if (message.r >= 0) {
        exchange(message);
        state.hot_barriers += 2;
        if (state.accept(message.proposal, message.delta)) store(best);
        continue;
      }
      state.reject_until(message.proposal, n_);
      if (message.r == SmallMessage::end) {
        state.hot_barriers += message.delta;
        store(current);
        if (lane_ == 0) kept = state;
        return;
      }
      if (lane_ == 0) m_.cooling = state.cooling;
      __syncwarp();
      announce(SmallBarrier::kept, 2 * 32);
    }
  }

  /// By the `warp`-th of the drawers: the thresholds of sweeps, from `sweep` on. A lane makes a Philox block of a row, which has every
  /// sixteenth column.
  __device__ __forceinline__ void draw(int warp, std::uint64_t seed, std::int64_t sweep) {
    const std::int64_t first = sweep;
    for (int parity = 0;; parity ^= 1, ++sweep) {
      const std::int32_t block = lane_ % 16;
      for (std::int32_t row = 2 * warp + lane_ / 16; row < n_ - 1; row += 2 * Policy::drawers) {
        const Philox4 words = annealing::words(seed, sweep, row, static_cast<std::uint32_t>(block));
#pragma unroll
        for (int w = 0; w < 2 * Columns; ++w)
          m_.threshold[parity][row * Policy::size + 16 * w + block] = annealing::threshold(words.word[w]);
      }
      meet(SmallBarrier::drawn, drawing);
      if (sweep - first == m_.sweeps) return;  // drawn in vain: the search ended in the sweep before
    }
  }

 private:
  static constexpr int sides = Types::sides;
  static constexpr Delta doubled = sides == 1 ? 2 : 1;  ///< rows and columns of symmetric matrices contribute the same
  static constexpr int told = 32 * (1 + Policy::updaters + 1), updating = 32 * (1 + Policy::updaters), drawing = 32 * (1 + Policy::drawers);

  /// The first accepted proposal of a test: its pair, and where the delta is.
  struct Found {
    std::int32_t r = -1, s = 0;  ///< r = -1: none
    Delta delta = 0;             ///< in lane s % 32
  };

  /// alpha[x][y] of a, or beta of b.
  [[nodiscard]] static __device__ __forceinline__ Delta factor(const std::int32_t (&m)[sides][Memory::elements], std::int32_t x,
                                                               std::int32_t y) {
    const auto at = [&](std::int32_t i, std::int32_t j) { return static_cast<Delta>(m[0][i * Policy::pitch + j]); };
    return at(x, x) + at(y, y) - at(x, y) - at(y, x);
  }
  /// row[i][k] - row[j][k] of a matrix.
  [[nodiscard]] static __device__ __forceinline__ Delta difference(const std::int32_t* m, std::int32_t i, std::int32_t j, std::int32_t k) {
    return static_cast<Delta>(m[i * Policy::pitch + k]) - static_cast<Delta>(m[j * Policy::pitch + k]);
  }
  [[nodiscard]] static __device__ __forceinline__ Delta product(const Delta (&d)[sides], const Delta (&e)[sides]) {
    Delta sum = d[0] * e[0];
    if constexpr (sides == 2) sum += d[1] * e[1];
    return sum;
  }

  __device__ __forceinline__ void seed_columns() {
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      p_[c] = m_.p[lane_ + 32 * c];
      f_jj_[c] = m_.f[0][(lane_ + 32 * c) * Policy::pitch + p_[c]];
    }
  }
  /// Of facility i, which is the same in all lanes.
  [[nodiscard]] __device__ __forceinline__ std::int32_t location(std::int32_t i) const {
    return __shfl_sync(~0u, Columns == 2 && i >= 32 ? p_[Columns - 1] : p_[0], i & 31);
  }
  __device__ __forceinline__ void exchange(const SmallMessage& swap) {
#pragma unroll
    for (int c = 0; c < Columns; ++c) p_[c] = lane_ + 32 * c == swap.r ? swap.q : lane_ + 32 * c == swap.s ? swap.u : p_[c];
  }

  // --- the position of the search: the same in all lanes of the first warp -----------------------------------------------------

  /// Of the next proposal within its sweep.
  [[nodiscard]] __device__ __forceinline__ std::int32_t number() const { return start_ + column_ - row_ - 1; }
  __device__ __forceinline__ void go_to(std::int32_t number) {
    const annealing::Swap at = annealing::pair_at(n_, number);  // of the last pair and of those behind it: in the last row
    row_ = at.r;
    column_ = at.s;
    start_ = number - (at.s - at.r - 1);
    if (column_ == n_) next_row();
  }
  __device__ __forceinline__ void next_row() {
    start_ += n_ - 1 - row_;
    ++row_;
    column_ = row_ + 1;
  }
  __device__ __forceinline__ void set_end() {
    const std::int64_t left = end_ - sweep_q_;
    end_number_ = static_cast<std::int32_t>(left < 2 * pairs_ ? left : 2 * pairs_);
  }
  __device__ __forceinline__ void begin_sweep() {
    set_end();
    set_temperatures();
    drawn_ ^= 1;
    ++sweeps_;
    meet(SmallBarrier::drawn, drawing);
  }
  __device__ __forceinline__ void set_temperatures() {
    for (std::int32_t i = lane_; i < n_ - 1; i += 32)
      m_.temperature[i] = annealing::row_temperature(cooling_, sweep_q_ + annealing::row_start(n_, i));
    __syncwarp();
  }
  /// All proposals before end_ are decided, and so many in a row were rejected that the temperature freezes.
  __device__ __forceinline__ void freeze() {
    go_to(end_number_);
    if (lane_ == 0) m_.message[parity_] = {.r = SmallMessage::freeze, .proposal = end_};
    parity_ ^= 1;
    __syncwarp();
    announce(SmallBarrier::swapped, told);
    meet(SmallBarrier::kept, 2 * 32);
    cooling_ = m_.cooling;
    stays_ = true;
    end_ = limit_;
    set_end();
    set_temperatures();
  }

  // --- tests and swaps -----------------------------------------------------------------------------------------------------------

  /// Tests the proposals of the next `Rows` rows of the sweep, from the next one on. Pending: swap_ has been carried out in the
  /// permutation, and is on its way in F. If none is accepted, row_ is behind these rows.
  template <int Rows, bool Pending>
  [[nodiscard]] __device__ __forceinline__ Found test() {
    const Delta* const f = m_.f[read_];
    Delta d[Columns][sides], e[Columns][sides];
    if constexpr (Pending) {
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        const std::int32_t j = lane_ + 32 * c;
#pragma unroll
        for (int side = 0; side < sides; ++side) {
          d[c][side] = doubled * difference(m_.a[side], swap_.r, swap_.s, j);
          e[c][side] = difference(m_.b[side], swap_.q, swap_.u, p_[c]);
        }
        f_jj_[c] = f[j * Policy::pitch + p_[c]] + product(d[c], e[c]);
      }
    }
    // Loads of all rows first, votes last: one chain of latencies for all.
    std::int32_t at[Rows];
#pragma unroll
    for (int k = 0; k < Rows; ++k) at[k] = location(row_ + k);
    bool accepted[Rows][Columns];
    Delta delta[Rows][Columns];
    std::int32_t start = start_;  // of row i
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const std::int32_t i = row_ + k, pi = at[k];
      Delta f_ii = f[i * Policy::pitch + pi], d_i[sides], e_i[sides];
      if constexpr (Pending) {
#pragma unroll
        for (int side = 0; side < sides; ++side) {
          d_i[side] = doubled * difference(m_.a[side], swap_.r, swap_.s, i);
          e_i[side] = difference(m_.b[side], swap_.q, swap_.u, pi);
        }
        f_ii += product(d_i, e_i);
      }
      const annealing::RowTemperature temperature = m_.temperature[i];
      const std::int32_t first = k == 0 ? column_ : i + 1, behind = min(n_, end_number_ - start + i + 1);
      start += n_ - 1 - i;
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        const std::int32_t j = lane_ + 32 * c;
        Delta f_ij = f[i * Policy::pitch + p_[c]], f_ji = f[j * Policy::pitch + pi];
        if constexpr (Pending) {
          f_ij += product(d_i, e[c]);
          f_ji += product(d[c], e_i);
        }
        delta[k][c] = f_ij + f_ji - f_ii - f_jj_[c] + m_.alpha[i * Policy::pitch + j] * m_.beta[pi * Policy::pitch + p_[c]];
        const bool passes = annealing::accepts(delta[k][c], annealing::inverse_temperature(temperature, j - i - 1),
                                               m_.threshold[drawn_][i * Policy::size + j]);
        accepted[k][c] = static_cast<int>(j >= first) & static_cast<int>(j < behind) & static_cast<int>(passes);
      }
    }
    unsigned votes[Rows][Columns];
#pragma unroll
    for (int k = 0; k < Rows; ++k)
#pragma unroll
      for (int c = 0; c < Columns; ++c) votes[k][c] = __ballot_sync(~0u, accepted[k][c]);
    Found found;
#pragma unroll
    for (int k = Rows - 1; k >= 0; --k)
#pragma unroll
      for (int c = Columns - 1; c >= 0; --c)
        if (votes[k][c] != 0) found = {row_ + k, __ffs(static_cast<int>(votes[k][c])) - 1 + 32 * c, delta[k][c]};
    if (found.r < 0) {
      const bool ends = row_ + Rows >= n_ - 1;
      row_ = ends ? n_ - 1 : row_ + Rows;
      column_ = row_ + 1;
      start_ = ends ? pairs_ : start;
    }
    return found;
  }
  /// Carries it out, and goes on behind it.
  __device__ __forceinline__ void swap(const Found& found) {
    row_ = found.r;
    column_ = found.s;
    start_ = row_ * (2 * n_ - row_ - 1) / 2;
    const std::int64_t proposal = sweep_q_ + number();
    swap_ = {.r = found.r, .s = found.s, .u = location(found.r), .q = location(found.s), .proposal = proposal, .delta = found.delta};
    if (lane_ == found.s % 32) m_.message[parity_] = swap_;
    parity_ ^= 1;
    __syncwarp();
    announce(SmallBarrier::swapped, told);
    exchange(swap_);
    if (++column_ == n_) next_row();
    if (stays_) return;
    end_ = min(limit_, proposal + pairs_ + 1);
    set_end();
  }
  /// F has the last swap.
  __device__ __forceinline__ void take_update() {
    meet(SmallBarrier::updated, updating);
    read_ ^= 1;
  }

  Memory& m_;
  std::int32_t n_, pairs_, lane_;
  std::int32_t p_[Columns];  ///< locations of this lane's facilities, and the next ones F[j][j]
  Delta f_jj_[Columns];
  annealing::Cooling cooling_{};
  std::int64_t limit_ = 0, end_ = 0, sweep_q_ = 0, sweeps_ = 0;     ///< proposals before end_ can be decided at the present temperatures
  std::int32_t row_ = 0, column_ = 0, start_ = 0, end_number_ = 0;  ///< the next proposal, and the first of its row and end_ in their sweep
  SmallMessage swap_{};                                             ///< the last
  int parity_ = 0, read_ = 0, drawn_ = 1;                           ///< of the next message; of the copy of F; of the thresholds
  bool stays_ = false;                                              ///< no run of rejections changes the schedule
};

template <ElementTypes Types, int Columns>
__global__ void __launch_bounds__(SmallPolicy<Columns>::threads, 1)
    small_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, Chains chains, std::int64_t first, std::int64_t limit) {
  using Policy = SmallPolicy<Columns>;
  extern __shared__ __align__(16) unsigned char small_memory[];
  const std::size_t chain = first + blockIdx.x;
  ChainState& state = chains.state[chain];
  std::int32_t *const current = chains.current + chain * qap.n, *const best = chains.best + chain * qap.n;
  SmallSearch<Types, Columns> search(*reinterpret_cast<SmallMemory<Types, Columns>*>(small_memory), qap.n);
  const ChainState before = state;
  search.load(qap, current);
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);  // so the compiler knows that a warp stays together
  if (warp == 0)
    search.decide(before, limit);
  else if (warp <= Policy::updaters)
    search.update(warp - 1);
  else if (warp == Policy::updaters + 1)
    search.keep(state, current, best);
  else
    search.draw(warp - Policy::updaters - 2, before.seed, before.next / annealing::pairs(qap.n));
}

// --- the host's side -------------------------------------------------------------------------------------------------------

/// gpu-tuned (one chain at a time) and gpu-chains (`Many`: all at once) of up to SmallPolicy<Columns>::size facilities.
template <ElementTypes T, int Columns, bool Many>
class Small {
 public:
  using Types = T;
  static constexpr std::size_t shared_bytes = sizeof(SmallMemory<Types, Columns>);

  Small(const qap::Qap&, const DeviceQap<typename Types::Entry>& matrices, const annealing::Task& task)
      : matrices_(matrices), batch_size_(Many ? task.chains : 1) {
    cuda::allow_shared(small_kernel<Types, Columns>, shared_bytes);
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    const cuda::Shape shape{.blocks = count, .threads = SmallPolicy<Columns>::threads, .shared_bytes = shared_bytes};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, small_kernel<Types, Columns>, matrices_, chains, first, limit));
  }

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  [[nodiscard]] Policy policy() const {
    return {
        {"threads", SmallPolicy<Columns>::threads}, {"blocks", 1}, {"cluster", 0}, {"columns", Columns}, {"shared_bytes", shared_bytes}};
  }
  /// Two named barriers a swap and one a sweep.
  [[nodiscard]] Work barriers(const ChainState& state) const { return {{Ceiling::block_barrier, static_cast<double>(state.hot_barriers)}}; }

 private:
  DeviceQap<typename Types::Entry> matrices_;
  std::int64_t batch_size_;
};

/// gpu-tuned, or gpu-chains (`many`); null where the instance is too large or the task names a scope. `team`: of DeviceChains.
[[nodiscard]] std::unique_ptr<Run> small_run(const qap::Qap& qap, const annealing::Task& task, bool many, Team* team);

}  // namespace vicinity::sa
