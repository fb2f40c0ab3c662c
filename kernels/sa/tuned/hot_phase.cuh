#pragma once
// The hot phase of the tuned annealing.
//
// Problem: at first most proposals are accepted; then bringing all inner products up to date costs more than a delta from scratch.
// Data layout: B' = B as the permutation puts it, so that all loads are coalesced, [sides][n][pitch] entries a chain in device memory
// (permute_kernel makes it); the permutation in shared memory. One block a chain.
// Phases of a round: each of the 32 warps evaluates one of the next 32 proposals, lanes over the n terms in chunks of 16 bytes; the first
// accepted one in order is carried out in B' and the permutation. Ends at the limit, or when fewer than one proposal in
// HotPolicy::rejections was accepted.
// Synchronisation: one block barrier a round, a second one after a swap.
// Cost: 4n entries a proposal, from L1 or L2, and 4n moved a swap.
#include "kernels/cuda/collective/warp.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

/// Launch policy, and when the phase ends.
struct HotPolicy {
  static constexpr int threads = 1024;  ///< a warp a proposal
  static constexpr int epoch = 4096;    ///< proposals over which acceptance is judged
  static constexpr int rejections = 8;  ///< the phase ends when fewer than one in so many was accepted
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

/// One chain.
template <ElementTypes Types>
class HotPhase {
 public:
  using Entry = typename Types::Entry;
  using Delta = typename Types::Delta;

  __device__ HotPhase(const DeviceQap<Entry>& qap, Entry* permuted, std::uint16_t* p, ChainState& state)
      : qap_(qap), permuted_(permuted), p_(p), state_(state), warp_(threadIdx.x / 32), lane_(threadIdx.x % 32) {}

  __device__ __forceinline__ void run(std::int64_t limit, unsigned (&winner)[3], std::int32_t* best) {
    const std::int32_t n = qap_.n;
    Position base = Position::of(state_.next, n);
    std::int64_t end = state_.end(annealing::pairs(n), limit), epoch_start = base.q;
    std::int32_t accepted = 0;
    std::int64_t barriers = 0;
    for (unsigned round = 0; base.q < end; round = round == 2 ? 0 : round + 1) {
      const Position mine = base.plus(warp_, n);
      const Delta delta = mine.q < end ? delta_of(mine.r, mine.s) : 0;
      if (mine.q < end && lane_ == 0 && accepts(mine, delta)) atomicMin(&winner[round], static_cast<unsigned>(warp_));
      __syncthreads();
      ++barriers;
      const unsigned won = winner[round];
      if (threadIdx.x == 0) winner[round == 0 ? 2 : round - 1] = nobody;
      if (won == nobody) {
        base = base.plus(static_cast<std::int32_t>(min(std::int64_t{warps}, end - base.q)), n);
        if (base.q == end && end < limit) {
          if (threadIdx.x == 0) state_.reject_until(end, n);
          __syncthreads();
          end = state_.end(annealing::pairs(n), limit);
        }
      } else {
        base = base.plus(static_cast<std::int32_t>(won), n);
        if (warp_ == static_cast<std::int32_t>(won) && lane_ == 0) state_.accept(base.q, delta);
        swap(base.r, base.s);
        __syncthreads();
        ++barriers;
        if (state_.best_proposal == base.q)
          for (std::int32_t k = threadIdx.x; k < n; k += HotPolicy::threads) best[k] = p_[k];
        end = state_.end(annealing::pairs(n), limit);
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
    state_.reject_until(base.q, n);
    state_.hot_barriers += barriers;
  }

  static constexpr unsigned nobody = ~0u;

 private:
  static constexpr std::int32_t warps = HotPolicy::threads / 32;

  [[nodiscard]] __device__ __forceinline__ Entry* permuted_row(int side, std::int32_t i) const {
    return permuted_ + (std::size_t(side) * qap_.n + i) * qap_.pitch;
  }

  /// In all lanes.
  [[nodiscard]] __device__ __forceinline__ Delta delta_of(std::int32_t r, std::int32_t s) const {
    Delta sum = 0;
    for (int side = 0; side < Types::sides; ++side) {
      const Entry *ar = qap_.a_row(side, r), *as = qap_.a_row(side, s), *br = permuted_row(side, r), *bs = permuted_row(side, s);
#pragma unroll 2
      for (std::int32_t i = lane_; i < qap_.chunks(); i += 32) {
        const uint4 cr = chunk(ar, i), cs = chunk(as, i), dr = reinterpret_cast<const uint4*>(br)[i],
                    ds = reinterpret_cast<const uint4*>(bs)[i];
        sum += dot<Entry>(cr, ds, dot<Entry>(cs, dr, Delta{0})) - dot<Entry>(cr, dr, dot<Entry>(cs, ds, Delta{0}));
      }
    }
    constexpr int back = Types::sides - 1;
    const auto get = [](const Entry* row, std::int32_t i) { return static_cast<Delta>(row[i]); };
    const Delta a_rr = get(qap_.a_row(0, r), r), a_ss = get(qap_.a_row(0, s), s), a_rs = get(qap_.a_row(0, r), s),
                a_sr = get(qap_.a_row(back, r), s);
    const Delta b_rr = get(permuted_row(0, r), r), b_ss = get(permuted_row(0, s), s), b_rs = get(permuted_row(0, r), s),
                b_sr = get(permuted_row(back, r), s);
    sum = cuda::shuffled_sum(sum);
    return corrected(static_cast<Delta>(Types::sides == 1 ? 2 * sum : sum), a_rr, a_ss, a_rs, a_sr, b_rr, b_ss, b_rs, b_sr);
  }

  [[nodiscard]] __device__ __forceinline__ bool accepts(const Position& at, Delta delta) const {
    const std::int32_t position = at.s - at.r - 1;
    const auto row = annealing::row_temperature(state_.cooling, at.q - position);
    return annealing::accepts(delta, annealing::inverse_temperature(row, position),
                              annealing::threshold_at(state_.seed, at.sweep, at.r, at.s));
  }

  /// Exchanges rows and columns r and s of permuted B, and the two locations.
  __device__ __forceinline__ void swap(std::int32_t r, std::int32_t s) {
    const auto exchange = [](auto& x, auto& y) {
      const auto value = x;
      x = y;
      y = value;
    };
    for (int side = 0; side < Types::sides; ++side) {
      for (std::int32_t k = threadIdx.x; k < qap_.n; k += HotPolicy::threads) {
        if (k == r || k == s) continue;
        exchange(permuted_row(side, r)[k], permuted_row(side, s)[k]);
        exchange(permuted_row(side, k)[r], permuted_row(side, k)[s]);
      }
      if (threadIdx.x == HotPolicy::threads - 1) {
        exchange(permuted_row(side, r)[r], permuted_row(side, s)[s]);
        exchange(permuted_row(side, r)[s], permuted_row(side, s)[r]);
      }
    }
    if (threadIdx.x == 0) exchange(p_[r], p_[s]);
  }

  const DeviceQap<Entry>& qap_;
  Entry* permuted_;
  std::uint16_t* p_;
  ChainState& state_;
  std::int32_t warp_, lane_;
};

template <ElementTypes Types>
__global__ void __launch_bounds__(HotPolicy::threads)
    hot_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, Chains chains, typename Types::Entry* permuted,
               std::int64_t first, std::int64_t limit) {
  extern __shared__ std::uint16_t p[];
  __shared__ ChainState state;
  __shared__ unsigned winner[3];
  const std::size_t chain = first + blockIdx.x;
  std::int32_t *current = chains.current + chain * qap.n, *best = chains.best + chain * qap.n;
  for (std::int32_t k = threadIdx.x; k < qap.n; k += blockDim.x) p[k] = static_cast<std::uint16_t>(current[k]);
  if (threadIdx.x == 0) state = chains.state[chain];
  if (threadIdx.x < 3) winner[threadIdx.x] = HotPhase<Types>::nobody;
  __syncthreads();
  HotPhase<Types>(qap, permuted + std::size_t(blockIdx.x) * Types::sides * qap.n * qap.pitch, p, state).run(limit, winner, best);
  for (std::int32_t k = threadIdx.x; k < qap.n; k += blockDim.x) current[k] = p[k];
  if (threadIdx.x == 0) chains.state[chain] = state;
}

}  // namespace vicinity::sa
