#pragma once
// The tuned annealing of up to 64 facilities, thousands of chains at once (gpu-chains): a warp a chain.
//
// Problem: what counts is the number of instructions of all chains, not how soon one of them goes on. A block a chain (small.cuh) tests
// rows in vain behind every swap, draws into shared memory, and meets at barriers.
// Data layout: a block's matrices in its shared memory, once for all its chains; a chain's inner products F beside them, in the notation
// of core/problems/qap/inner_products.hpp, by location, so that a swap moves nothing: F[x][l] at x * pitch + l. Lane j has the location of
// facility j, and of j + 32, and F[j][p[j]]. The thresholds of two rows are in registers.
// Mapping: a warp takes a chain after another; a lane tests a column of a row, or two. As many warps are resident as have the registers:
// each hides the latencies of the others.
// Phases: for each sweep, the temperatures of rows, a lane a row; for each two rows, a Philox block a lane; for each row, a test, and as
// long as there is an accepted proposal, the first is carried out and what is behind it tested.
// Synchronisation: none but within the warp; a counter hands out the chains.
// Cost: a test is about thirty instructions, drawing a row forty to fifty, a swap four for each row of F and 120 more.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/problems/qap/inner_products.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/run.cuh"

namespace vicinity::sa {

/// Columns: facilities of a lane.
template <ElementTypes T, int Columns>
struct SmallWarps {
  using Types = T;
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;
  using Factor = std::conditional_t<sizeof(Entry) == 1, std::int16_t, Delta>;
  static constexpr int columns = Columns, sides = Types::sides;
  static constexpr int size = 32 * Columns;                                  ///< most facilities
  static constexpr int pitch = size + 1;                                     ///< of F: neither rows nor columns share a bank
  static constexpr int group = 8 / Columns;                                  ///< rows of F that an update loads before it stores them
  static constexpr int most_warps = Columns == 1 ? 8 : 16;                   ///< of a block, where the shared memory has room for them
  static constexpr int blocks = Columns == 1 && sizeof(Delta) == 4 ? 4 : 1;  ///< of a multiprocessor, at least, by registers
  /// Of a multiprocessor. Where there are fewer, the longest chain decides, and a warp takes several times as long for it as a block.
  static constexpr int least_chains = Columns == 1 ? 20 : 6;

  /// Of a block. [row][column]; zeros behind the last.
  struct Matrices {
    std::conditional_t<sizeof(Entry) == 1, std::int16_t, Entry> a[sides][size * size];  ///< side 1: transposes
    Entry b[sides][size * size];
    Factor alpha[size * size], beta[size * size];

    /// By all threads of a block.
    __device__ __forceinline__ void load(const DeviceQap<Entry>& qap) {
      const std::int32_t n = qap.n;
      for (std::int32_t k = threadIdx.x; k < size * size; k += blockDim.x) {
        const std::int32_t x = k / size, y = k % size;
        const bool in = x < n && y < n;
        for (int side = 0; side < sides; ++side) {
          a[side][k] = in ? qap.a_row(side, x)[y] : 0;
          b[side][k] = in ? qap.b_row(side, x)[y] : 0;
        }
        const auto factor = [&](const auto& row) {
          return static_cast<Factor>(in ? qap::pair_factor<Delta>(static_cast<Delta>(row(x)[x]), static_cast<Delta>(row(y)[y]),
                                                                  static_cast<Delta>(row(x)[y]), static_cast<Delta>(row(y)[x]))
                                        : 0);
        };
        alpha[k] = factor([&](std::int32_t i) { return qap.a_row(0, i); });
        beta[k] = factor([&](std::int32_t i) { return qap.b_row(0, i); });
      }
    }
  };
  struct alignas(16) Group {
    Delta of[group];
  };
  /// Of a chain; F behind it.
  struct alignas(16) Chain {
    Group d[sides][size / group];  ///< of the swap that is carried out; doubled where there is but one side
    ChainState state;
    [[nodiscard]] __device__ __forceinline__ Delta* f() { return reinterpret_cast<Delta*>(this + 1); }
  };

  [[nodiscard]] static VICINITY_HD std::int32_t rows(std::int32_t n) { return (n + group - 1) / group * group; }
  [[nodiscard]] static VICINITY_HD std::int32_t chain_bytes(std::int32_t n) {
    const auto bytes = static_cast<std::int32_t>(sizeof(Chain)) + rows(n) * pitch * static_cast<std::int32_t>(sizeof(Delta));
    return (bytes + 15) / 16 * 16;
  }
};

/// A warp's chain, from where its last launch left it.
template <class W>
class WarpSearch {
 public:
  using Delta = typename W::Delta;
  using Matrices = typename W::Matrices;
  using Memory = typename W::Chain;

  __device__ __forceinline__ WarpSearch(const Matrices& matrices, Memory& memory, std::int32_t n)
      : q_(matrices),
        m_(memory),
        n_(n),
        pairs_(static_cast<std::int32_t>(annealing::pairs(n))),
        lane_(static_cast<std::int32_t>(threadIdx.x) % 32) {}

  /// Takes the chain to the limit; leaves its state and permutations.
  __device__ __forceinline__ void run(ChainState& state, std::int32_t* current, std::int32_t* best, std::int64_t limit) {
    load(state, current);
    best_ = best;
    while (m_.state.next < limit) {
      phase(limit);
      __syncwarp();
      if (lane_ == 0) m_.state.reject_until(m_.state.end(pairs_, limit), n_);
      __syncwarp();
    }
    store(current);
    if (lane_ == 0) state = m_.state;
    __syncwarp();
  }

 private:
  static constexpr int columns = W::columns, sides = W::sides;

  __device__ __forceinline__ void load(const ChainState& state, const std::int32_t* current) {
    if (lane_ == 0) m_.state = state;
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const std::int32_t j = lane_ + 32 * c;
      p_[c] = j < n_ ? current[j] : j;
      row_of_f_[c] = min(j, n_ - 1) * W::pitch;
    }
    Delta* const f = m_.f();
    for (std::int32_t x = 0; x < W::rows(n_); ++x) {
      Delta sum[columns] = {};
      for (std::int32_t z = 0; z < n_; ++z) {
        const std::int32_t pz = of_facility(p_, z);
#pragma unroll
        for (int c = 0; c < columns; ++c)
#pragma unroll
          for (int side = 0; side < sides; ++side)
            sum[c] += doubled(q_.a[side][x * W::size + z]) * static_cast<Delta>(q_.b[side][(lane_ + 32 * c) * W::size + pz]);
      }
#pragma unroll
      for (int c = 0; c < columns; ++c) f[x * W::pitch + lane_ + 32 * c] = sum[c];
    }
    __syncwarp();
    load_diagonal();
  }
  [[nodiscard]] static __device__ __forceinline__ Delta doubled(std::int32_t a) { return static_cast<Delta>(sides == 1 ? 2 * a : a); }
  __device__ __forceinline__ void load_diagonal() {
#pragma unroll
    for (int c = 0; c < columns; ++c) f_jj_[c] = m_.f()[row_of_f_[c] + p_[c]];
  }
  __device__ __forceinline__ void store(std::int32_t* to) const {
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (lane_ + 32 * c < n_) to[lane_ + 32 * c] = p_[c];
  }
  /// Of facility i, which is the same in all lanes, from all facilities' values.
  template <class V>
  [[nodiscard]] static __device__ __forceinline__ V of_facility(const V (&values)[columns], std::int32_t i) {
    return __shfl_sync(~0u, columns == 2 && i >= 32 ? values[columns - 1] : values[0], i);
  }

  /// Sweeps to the limit, or until the temperature freezes.
  __device__ __forceinline__ void phase(std::int64_t limit) {
    cooling_ = m_.state.cooling;
    seed_ = m_.state.seed;
    std::int64_t sweep = m_.state.next / pairs_;
    auto from = static_cast<std::int32_t>(m_.state.next - sweep * pairs_);
    for (;; ++sweep, from = 0) {
      sweep_start_ = sweep * pairs_;
      to_limit_ = static_cast<std::int32_t>(min(limit - sweep_start_, std::int64_t{pairs_}));
      stop_ = static_cast<std::int32_t>(min(m_.state.end(pairs_, limit) - sweep_start_, std::int64_t{pairs_}));
      if (from >= stop_) return;
      make_sweep(sweep, from);
      if (stop_ < pairs_) return;
    }
  }
  /// From proposal `from` of the sweep to stop_, which a swap moves to the sweep's end or the limit.
  __device__ __forceinline__ void make_sweep(std::int64_t sweep, std::int32_t from) {
    float base[columns], step = 0;
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const annealing::RowTemperature row =
          annealing::row_temperature(cooling_, sweep_start_ + annealing::row_start(n_, min(lane_ + 32 * c, n_ - 1)));
      base[c] = row.base;
      step = row.step;
    }
    std::int32_t start = 0;  // number within the sweep of the row's first pair
    for (std::int32_t row = 0; row < n_ - 1; row += 2) {
      const std::int32_t second = start + n_ - 1 - row, behind = second + n_ - 2 - row;
      if (from < behind) {
        float thresholds[2][columns];
        draw(sweep, row, thresholds);
        test_row(row, start, second, thresholds[0], of_facility(base, row), step, from);
        test_row(row + 1, second, behind, thresholds[1], of_facility(base, row + 1), step, from);
        if (from >= stop_) return;
      }
      start = behind;
    }
  }
  /// Of a row and the next one: lanes 0 to 15 make the Philox blocks of the first, the others those of the second; each has words of
  /// columns sixteen apart, of which every other one is another lane's.
  __device__ __forceinline__ void draw(std::int64_t sweep, std::int32_t row, float (&thresholds)[2][columns]) const {
    const bool low = lane_ < 16;
    const Philox4 words = annealing::words(seed_, sweep, row + static_cast<std::int32_t>(!low), static_cast<std::uint32_t>(lane_ % 16));
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      if (row >= 32 * c + 16) {  // the lower half of these columns has no pairs
        thresholds[1][c] = annealing::threshold(words.word[2 * c + 1]);
        thresholds[0][c] = __shfl_xor_sync(~0u, thresholds[1][c], 16);
        continue;
      }
      const std::uint32_t kept = low ? words.word[2 * c] : words.word[2 * c + 1];
      const std::uint32_t other = __shfl_xor_sync(~0u, low ? words.word[2 * c + 1] : words.word[2 * c], 16);
      thresholds[0][c] = annealing::threshold(low ? kept : other);
      thresholds[1][c] = annealing::threshold(low ? other : kept);
    }
  }

  /// The proposals of row i from `from` on, which are numbers `start` to `behind` of the sweep. `from` goes behind them, or to stop_.
  __device__ __forceinline__ void test_row(std::int32_t i, std::int32_t start, std::int32_t behind, const float (&thresholds)[columns],
                                           float base, float step, std::int32_t& from) {
    float inverse[columns];
#pragma unroll
    for (int c = 0; c < columns; ++c) inverse[c] = annealing::inverse_temperature({base, step}, lane_ + 32 * c - i - 1);
    for (;;) {
      // Columns up to the diagonal have numbers before the row's.
      from = max(from, start);
      const std::int32_t stop = min(behind, stop_);
      if (from >= stop) return;
      const std::int32_t at = of_facility(p_, i);
      const Delta f_ii = of_facility(f_jj_, i);
      const Delta* const f = m_.f();
      Delta delta[columns];
      unsigned votes[columns];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        votes[c] = 0;
        delta[c] = 0;
        if (c + 1 < columns && i >= 32 * c + 31) continue;  // no pairs
        const std::int32_t j = lane_ + 32 * c, number = start + j - i - 1;
        const Delta factors = static_cast<Delta>(q_.alpha[i * W::size + j]) * static_cast<Delta>(q_.beta[at * W::size + p_[c]]);
        delta[c] = f[i * W::pitch + p_[c]] + f[row_of_f_[c] + at] - f_ii - f_jj_[c] + factors;
        const bool proposed = static_cast<std::uint32_t>(number - from) < static_cast<std::uint32_t>(stop - from);
        votes[c] = __ballot_sync(~0u, proposed & annealing::accepts(delta[c], inverse[c], thresholds[c]));
      }
      if ((votes[0] | votes[columns - 1]) == 0) {
        from = stop;
        return;
      }
      const std::int32_t s = votes[0] != 0 ? __ffs(static_cast<int>(votes[0])) - 1 : __ffs(static_cast<int>(votes[columns - 1])) + 31;
      from = start + s - i;
      swap(i, s, at);
      accept(from - 1, of_facility(delta, s));
    }
  }
  /// Carries out the swap of facilities r, at location u, and s.
  __device__ __forceinline__ void swap(std::int32_t r, std::int32_t s, std::int32_t u) {
    const std::int32_t q = of_facility(p_, s);
    Delta e[columns][sides];  // of location lane, and lane + 32
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const std::int32_t j = lane_ + 32 * c;
#pragma unroll
      for (int side = 0; side < sides; ++side) {
        const auto* const a = q_.a[side] + j;
        const auto* const b = q_.b[side] + j;
        m_.d[side][j / W::group].of[j % W::group] =
            doubled(static_cast<std::int32_t>(a[r * W::size])) - doubled(static_cast<std::int32_t>(a[s * W::size]));
        e[c][side] = static_cast<Delta>(b[q * W::size]) - static_cast<Delta>(b[u * W::size]);
      }
      p_[c] = j == r ? q : j == s ? u : p_[c];
    }
    __syncwarp();
    Delta* to = m_.f() + lane_;
    for (std::int32_t g = 0; g * W::group < n_; ++g, to += W::group * W::pitch) {
      typename W::Group d[sides];
#pragma unroll
      for (int side = 0; side < sides; ++side) d[side] = m_.d[side][g];
      Delta f[W::group][columns];
#pragma unroll
      for (int k = 0; k < W::group; ++k)
#pragma unroll
        for (int c = 0; c < columns; ++c) {
          f[k][c] = to[k * W::pitch + 32 * c] + d[0].of[k] * e[c][0];
          if constexpr (sides == 2) f[k][c] += d[1].of[k] * e[c][1];
        }
#pragma unroll
      for (int k = 0; k < W::group; ++k)
#pragma unroll
        for (int c = 0; c < columns; ++c) to[k * W::pitch + 32 * c] = f[k][c];
    }
    __syncwarp();
    load_diagonal();
  }
  /// What the chain keeps of proposal `number` of the sweep, which has been carried out.
  __device__ __forceinline__ void accept(std::int32_t number, Delta delta) {
    bool improves = false;
    if (lane_ == 0) improves = m_.state.accept(sweep_start_ + number, delta);
    __syncwarp();
    if (__shfl_sync(~0u, static_cast<int>(improves), 0) != 0) store(best_);
    stop_ = to_limit_;  // as many rejections as freeze the temperature end in the next sweep
  }

  const Matrices& q_;
  Memory& m_;
  std::int32_t n_, pairs_, lane_;
  std::int32_t* best_ = nullptr;
  std::int32_t p_[W::columns];         ///< locations of this lane's facilities
  std::int32_t row_of_f_[W::columns];  ///< where theirs begin; the last facility's, where there are no more
  Delta f_jj_[W::columns];
  annealing::Cooling cooling_{};
  std::uint64_t seed_ = 0;
  std::int64_t sweep_start_ = 0;          ///< number of its first proposal
  std::int32_t stop_ = 0, to_limit_ = 0;  ///< within the sweep: the first proposal that can not be decided yet, and the limit
};

/// A warp takes the next of the chains first .. first + count - 1 until there is none; `taken` starts at 0.
template <class W>
__global__ void __launch_bounds__(32 * W::most_warps, W::blocks)
    small_warps_kernel(const __grid_constant__ DeviceQap<typename W::Entry> qap, Chains chains, std::int64_t first, std::int64_t count,
                       std::int64_t limit, unsigned* taken) {
  auto* const memory = reinterpret_cast<unsigned char*>(__cvta_shared_to_generic(dynamic_shared_address()));
  auto& matrices = *reinterpret_cast<typename W::Matrices*>(memory);
  matrices.load(qap);
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  auto& chain_memory = *reinterpret_cast<typename W::Chain*>(memory + sizeof matrices + warp * W::chain_bytes(qap.n));
  for (;;) {
    unsigned next = 0;
    if (lane == 0) next = atomicAdd(taken, 1u);
    next = __shfl_sync(~0u, next, 0);
    if (next >= count) return;
    const std::size_t chain = first + next;
    WarpSearch<W> search(matrices, chain_memory, qap.n);
    search.run(chains.state[chain], chains.current + chain * qap.n, chains.best + chain * qap.n, limit);
  }
}

// --- the host's side -------------------------------------------------------------------------------------------------------

/// gpu-chains of up to SmallWarps::size facilities, all chains at once.
template <class W>
class ManySmall {
 public:
  using Types = typename W::Types;

  ManySmall(const qap::Qap&, const DeviceQap<typename Types::Entry>& matrices, const annealing::Task& task)
      : matrices_(matrices), chains_(task.chains), warps_(warps_of(matrices.n)) {
    shared_bytes_ = sizeof(typename W::Matrices) + static_cast<std::size_t>(warps_) * W::chain_bytes(matrices.n);
    cuda::allow_shared(small_warps_kernel<W>, shared_bytes_);
    int resident = 0;
    VICINITY_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, small_warps_kernel<W>, 32 * warps_, shared_bytes_));
    most_blocks_ = std::int64_t{resident} * cuda::multiprocessors();
  }
  /// Of a block.
  [[nodiscard]] static int warps_of(std::int32_t n) {
    constexpr std::int64_t reserve = 1024;  // the system's, of each block
    const std::int64_t left = static_cast<std::int64_t>(cuda::most_shared()) - reserve - std::int64_t{sizeof(typename W::Matrices)};
    return static_cast<int>(std::clamp<std::int64_t>(left / W::chain_bytes(n), 0, W::most_warps));
  }
  /// Of a multiprocessor, at least, at a time; 0: they do not fit.
  [[nodiscard]] static int chains_of(std::int32_t n) { return W::blocks * warps_of(n); }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    taken_.fill(0, stream);
    const cuda::Shape shape{
        .blocks = std::min(most_blocks_, divide_up(count, warps_)), .threads = 32 * warps_, .shared_bytes = shared_bytes_};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, small_warps_kernel<W>, matrices_, chains, first, count, limit, taken_.data()));
  }

  [[nodiscard]] std::int64_t batch_size() const { return chains_; }
  [[nodiscard]] Policy policy() const {
    return {{"threads", 32 * warps_}, {"blocks", 1},     {"cluster", 0},
            {"columns", W::columns},  {"warps", warps_}, {"shared_bytes", shared_bytes_}};
  }
  [[nodiscard]] Work barriers(const ChainState&) const { return {}; }

 private:
  DeviceQap<typename Types::Entry> matrices_;
  std::int64_t chains_, most_blocks_ = 0;
  int warps_;
  std::size_t shared_bytes_ = 0;
  cuda::DeviceBuffer<unsigned> taken_{1};
};

}  // namespace vicinity::sa
