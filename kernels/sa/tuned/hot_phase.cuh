#pragma once
// The hot phase of the tuned annealing.
//
// Problem: at first most proposals are accepted; then bringing all inner products up to date costs more than a delta from scratch.
// Data layout: B' = B as the permutation puts it, so that all loads are coalesced, [sides][n][pitch] entries a chain in device memory
// (permute_kernel makes it), and meanwhile in shared memory where it fits; the permutation in shared memory. One block a chain.
// Phases of a round: each of the 32 warps evaluates one of the next 32 proposals, lanes over the n terms in chunks of 16 bytes; the first
// accepted one in order is carried out in B' and the permutation. Random thresholds are made 1024 at a time. Ends at the limit, or when
// fewer than one proposal in HotPolicy::rejections was accepted.
// Synchronisation: one block barrier a round, a second one after a swap.
// Cost: 4n entries a proposal and 4n moved a swap; the chain of a round is a load, a sum over a warp, and what the barriers take.
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

/// Launch policy, and when the phase ends.
struct HotPolicy {
  static constexpr int threads = 1024;  ///< a warp a proposal
  static constexpr int epoch = 4096;    ///< proposals over which acceptance is judged
  static constexpr int rejections = 8;  ///< the phase ends when fewer than one in so many was accepted
  static constexpr int warps = threads / 32;

  /// Between rows of B' in shared memory: whole chunks, an odd number of them, so that a column has eight banks.
  template <class Entry>
  [[nodiscard]] static VICINITY_HD std::int32_t pitch(std::int32_t n) {
    constexpr std::int32_t entries = 16 / static_cast<std::int32_t>(sizeof(Entry));
    return ((n + entries - 1) / entries | 1) * entries;
  }
};

/// Proposal q is pair (r, s) of `sweep`.
struct Position {
  std::int64_t q, sweep;
  std::int32_t r, s;

  [[nodiscard]] static __device__ __forceinline__ Position of(std::int64_t q, std::int32_t n) {
    const std::int64_t sweep = q / annealing::pairs(n);
    const annealing::Swap swap = annealing::pair_at(n, q - sweep * annealing::pairs(n));
    return {q, sweep, swap.r, swap.s};
  }
  [[nodiscard]] __device__ __forceinline__ Position plus(std::int32_t steps, std::int32_t n) const {
    Position moved{q + steps, sweep, r, s + steps};
    while (moved.s >= n) {
      const std::int32_t over = moved.s - n;
      if (++moved.r == n - 1) {
        moved.r = 0;
        ++moved.sweep;
      }
      moved.s = moved.r + 1 + over;
    }
    return moved;
  }
};

/// Makes B'[i][j] = B[p[i]][p[j]], and its transpose for the second side. Mapping: blockIdx.y the chain, blockIdx.x a row, a thread
/// a column after another; the padding becomes zero.
template <ElementTypes Types>
__global__ void __launch_bounds__(256)
    permute_kernel(DeviceQap<typename Types::Entry> qap, Chains chains, std::int64_t first, typename Types::Entry* permuted) {
  const std::int32_t* p = chains.current + (first + blockIdx.y) * qap.n;
  for (int side = 0; side < Types::sides; ++side) {
    typename Types::Entry* row = permuted + ((std::size_t(blockIdx.y) * Types::sides + side) * qap.n + blockIdx.x) * qap.pitch;
    const auto* from = qap.b_row(side, p[blockIdx.x]);
    for (std::int32_t k = threadIdx.x; k < qap.pitch; k += blockDim.x) row[k] = k < qap.n ? from[p[k]] : 0;
  }
}

/// The delta of swapping facilities c and o from `sum`, the sum over all k of (a(k,c) - a(k,o)) (b'(k,o) - b'(k,c)) of both sides: the
/// terms of k = c and k = o are taken out, what they really contribute is put in. b'(i,j) = b(p[i],p[j]).
template <class Delta>
[[nodiscard]] __device__ __forceinline__ Delta corrected(Delta sum, Delta a_cc, Delta a_oo, Delta a_co, Delta a_oc, Delta b_cc, Delta b_oo,
                                                         Delta b_co, Delta b_oc) {
  return sum - (a_cc - a_co) * (b_co - b_cc) - (a_cc - a_oc) * (b_oc - b_cc) - (a_oc - a_oo) * (b_oo - b_oc) -
         (a_co - a_oo) * (b_oo - b_co) + (a_cc - a_oo) * (b_oo - b_cc) + (a_co - a_oc) * (b_oc - b_co);
}

/// What the warps of a round tell each other, twice, for rounds in turns.
template <class Delta>
struct HotRound {
  Delta delta[HotPolicy::warps];
  bool accepted[HotPolicy::warps];
};

/// Shared memory of a block but for B'.
template <class Delta>
struct HotMemory {
  HotRound<Delta> round[2];
  float threshold[2 * HotPolicy::threads];  ///< of proposal q at q modulo its size
  ChainState state;
};

/// One chain. `permuted`: B' [sides][n][pitch], in shared or in device memory.
template <ElementTypes Types>
class HotPhase {
 public:
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;

  __device__ HotPhase(const DeviceQap<Entry>& qap, Entry* permuted, std::int32_t pitch, std::uint16_t* p, HotMemory<Delta>& memory)
      : qap_(qap),
        permuted_(permuted),
        pitch_(pitch),
        p_(p),
        m_(memory),
        warp_(static_cast<std::int32_t>(threadIdx.x) / 32),
        lane_(static_cast<std::int32_t>(threadIdx.x) % 32) {}

  __device__ __forceinline__ void run(std::int64_t limit, std::int32_t* best) {
    const std::int32_t n = qap_.n;
    ChainState& state = m_.state;
    Position base = Position::of(state.next, n);
    std::int64_t end = state.end(annealing::pairs(n), limit), epoch_start = base.q, drawn = base.q, best_cost = state.best_cost,
                 cost = state.cost, barriers = 0;
    bool freezes = state.frozen_at < 0 && state.cooling.freezes();
    std::int32_t accepted = 0;
    for (int parity = 0; base.q < end; parity ^= 1) {
      if (base.q + HotPolicy::warps > drawn) {
        draw(drawn);
        drawn += HotPolicy::threads;
        ++barriers;
      }
      const Position mine = base.plus(warp_, n);
      const Delta delta = delta_of(mine.r, mine.s);
      if (lane_ == 0) {
        m_.round[parity].delta[warp_] = delta;
        m_.round[parity].accepted[warp_] = mine.q < end && accepts(mine, delta);
      }
      __syncthreads();
      ++barriers;
      const unsigned votes = __ballot_sync(~0u, m_.round[parity].accepted[lane_]);
      if (votes == 0) {
        base = base.plus(static_cast<std::int32_t>(min(std::int64_t{HotPolicy::warps}, end - base.q)), n);
        if (base.q == end && end < limit) {
          if (threadIdx.x == 0) state.reject_until(end, n);
          __syncthreads();
          end = limit;
          freezes = false;
        }
      } else {
        const std::int32_t won = __ffs(static_cast<int>(votes)) - 1;
        base = base.plus(won, n);
        const Delta change = m_.round[parity].delta[won];
        cost += change;
        swap(base.r, base.s);
        if (threadIdx.x == HotPolicy::threads - 1) state.accept(base.q, change);
        __syncthreads();
        ++barriers;
        if (cost < best_cost) {
          best_cost = cost;
          for (std::int32_t k = threadIdx.x; k < n; k += HotPolicy::threads) best[k] = p_[k];
        }
        if (freezes) end = min(limit, base.q + annealing::pairs(n) + 1);
        base = base.plus(1, n);
        ++accepted;
      }
      if (base.q - epoch_start < HotPolicy::epoch) continue;
      if (std::int64_t{accepted} * HotPolicy::rejections < base.q - epoch_start) break;
      epoch_start = base.q;
      accepted = 0;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    state.reject_until(base.q, n);
    state.hot_barriers += barriers;
  }

 private:
  [[nodiscard]] __device__ __forceinline__ Entry* permuted_row(int side, std::int32_t i) const {
    return permuted_ + (std::size_t(side) * qap_.n + i) * pitch_;
  }

  /// The thresholds of the next proposals from q on, one a thread. Of those before q no more than the ring has room for are needed.
  __device__ __forceinline__ void draw(std::int64_t q) {
    const Position at = Position::of(q + threadIdx.x, qap_.n);
    m_.threshold[at.q % (2 * HotPolicy::threads)] = annealing::threshold_at(m_.state.seed, at.sweep, at.r, at.s);
    __syncthreads();
  }

  /// In all lanes. They take the chunks of row r of A, then those of row s.
  [[nodiscard]] __device__ __forceinline__ Delta delta_of(std::int32_t r, std::int32_t s) const {
    Delta sum = 0;
    const std::int32_t chunks = qap_.chunks();
    for (int side = 0; side < Types::sides; ++side) {
      const Entry *ar = qap_.a_row(side, r), *as = qap_.a_row(side, s), *br = permuted_row(side, r), *bs = permuted_row(side, s);
#pragma unroll 2
      for (std::int32_t k = lane_; k < 2 * chunks; k += 32) {
        const bool of_r = k < chunks;
        const std::int32_t i = of_r ? k : k - chunks;
        const uint4 a = chunk(of_r ? ar : as, i), add = reinterpret_cast<const uint4*>(of_r ? bs : br)[i],
                    subtract = reinterpret_cast<const uint4*>(of_r ? br : bs)[i];
        sum += dot<Entry>(a, add, Delta{0}) - dot<Entry>(a, subtract, Delta{0});
      }
    }
    constexpr int back = Types::sides - 1;
    const auto get = [](const Entry* row, std::int32_t i) { return static_cast<Delta>(row[i]); };
    const Delta a_rr = get(qap_.a_row(0, r), r), a_ss = get(qap_.a_row(0, s), s), a_rs = get(qap_.a_row(0, r), s),
                a_sr = get(qap_.a_row(back, r), s);
    const Delta b_rr = get(permuted_row(0, r), r), b_ss = get(permuted_row(0, s), s), b_rs = get(permuted_row(0, r), s),
                b_sr = get(permuted_row(back, r), s);
    if constexpr (sizeof(Delta) == 4)
      sum = cuda::warp_sum(sum);
    else
      sum = cuda::shuffled_sum(sum);
    return corrected(static_cast<Delta>(Types::sides == 1 ? 2 * sum : sum), a_rr, a_ss, a_rs, a_sr, b_rr, b_ss, b_rs, b_sr);
  }

  [[nodiscard]] __device__ __forceinline__ bool accepts(const Position& at, Delta delta) const {
    const std::int32_t position = at.s - at.r - 1;
    const auto row = annealing::row_temperature(m_.state.cooling, at.q - position);
    return annealing::accepts(delta, annealing::inverse_temperature(row, position), m_.threshold[at.q % (2 * HotPolicy::threads)]);
  }

  /// Exchanges rows and columns r and s of permuted B, and the two locations.
  __device__ __forceinline__ void swap(std::int32_t r, std::int32_t s) {
    const auto exchange = [](auto& x, auto& y) {
      const auto value = x;
      x = y;
      y = value;
    };
    for (std::int32_t at = threadIdx.x; at < 2 * Types::sides * qap_.n; at += HotPolicy::threads) {  // rows, then columns, of each side
      const std::int32_t which = at / qap_.n, k = at - which * qap_.n, side = which / 2;
      if (k == r || k == s) continue;
      if (which % 2 == 0)
        exchange(permuted_row(side, r)[k], permuted_row(side, s)[k]);
      else
        exchange(permuted_row(side, k)[r], permuted_row(side, k)[s]);
    }
    if (threadIdx.x >= HotPolicy::threads - Types::sides) {
      const int side = HotPolicy::threads - 1 - static_cast<int>(threadIdx.x);
      exchange(permuted_row(side, r)[r], permuted_row(side, s)[s]);
      exchange(permuted_row(side, r)[s], permuted_row(side, s)[r]);
    }
    if (threadIdx.x == HotPolicy::threads - 32) exchange(p_[r], p_[s]);
  }

  const DeviceQap<Entry>& qap_;
  Entry* permuted_;
  std::int32_t pitch_;
  std::uint16_t* p_;
  HotMemory<Delta>& m_;
  std::int32_t warp_, lane_;
};

/// Bytes of dynamic shared memory: the permutation behind B', if that is there, too.
template <ElementTypes Types>
[[nodiscard]] VICINITY_HD std::size_t hot_bytes(std::int32_t n, bool resident) {
  const auto size = static_cast<std::size_t>(n);
  const std::size_t entries = resident ? Types::sides * size * static_cast<std::size_t>(HotPolicy::pitch<typename Types::Entry>(n)) : 0;
  return entries * sizeof(typename Types::Entry) + size * sizeof(std::uint16_t);
}

/// Resident: B' is in shared memory meanwhile.
template <ElementTypes Types, bool Resident>
__global__ void __launch_bounds__(HotPolicy::threads)
    hot_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, Chains chains, typename Types::Entry* permuted,
               std::int64_t first, std::int64_t limit) {
  using Entry = typename Types::Entry;
  extern __shared__ __align__(16) unsigned char hot_memory[];
  using Memory = HotMemory<typename Types::Delta>;
  __shared__ alignas(Memory) unsigned char memory_bytes[sizeof(Memory)];  // members of it have initialisers, which do nothing there
  auto& memory = *reinterpret_cast<Memory*>(memory_bytes);
  const std::size_t chain = first + blockIdx.x;
  const std::int32_t pitch = Resident ? HotPolicy::pitch<Entry>(qap.n) : qap.pitch, rows = Types::sides * qap.n;
  std::int32_t *current = chains.current + chain * qap.n, *best = chains.best + chain * qap.n;
  auto* const inside = reinterpret_cast<Entry*>(hot_memory);
  auto* const p = reinterpret_cast<std::uint16_t*>(inside + (Resident ? rows * pitch : 0));
  permuted += std::size_t(blockIdx.x) * rows * qap.pitch;
  // Whole chunks, from and to device memory.
  const auto each_chunk = [&](auto&& move) {
    for (std::int32_t k = threadIdx.x; k < rows * qap.chunks(); k += HotPolicy::threads) {
      const std::int32_t row = k / qap.chunks(), at = k - row * qap.chunks();
      move(reinterpret_cast<uint4*>(inside + row * pitch)[at], reinterpret_cast<uint4*>(permuted + std::size_t(row) * qap.pitch)[at]);
    }
  };
  for (std::int32_t k = threadIdx.x; k < qap.n; k += blockDim.x) p[k] = static_cast<std::uint16_t>(current[k]);
  if constexpr (Resident) each_chunk([](uint4& in, const uint4& out) { in = out; });
  if (threadIdx.x == 0) memory.state = chains.state[chain];
  __syncthreads();
  HotPhase<Types>(qap, Resident ? inside : permuted, pitch, p, memory).run(limit, best);
  if constexpr (Resident) each_chunk([](const uint4& in, uint4& out) { out = in; });
  for (std::int32_t k = threadIdx.x; k < qap.n; k += blockDim.x) current[k] = p[k];
  if (threadIdx.x == 0) chains.state[chain] = memory.state;
}

}  // namespace vicinity::sa
