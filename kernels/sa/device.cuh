#pragma once
// What the annealing's CUDA implementations share on the device: matrices, the state of a chain, small arithmetic.
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "core/util/digest.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::sa {

/// Entries are bytes where they fit, deltas 32 bits where they fit (qap::Qap::bytes, narrow). Symmetric matrices have one side: what rows
/// and columns contribute to a delta is the same.
template <class E, class D, int Sides>
struct Types {
  using Entry = E;
  using Delta = D;
  static constexpr int sides = Sides;
};

/// Matrices on the device. Rows are `pitch` entries apart, padded with zeros to whole 16 bytes. Side 0 holds A and B, side 1 (asymmetric
/// instances only) their transposes.
template <class Entry>
struct DeviceQap {
  static constexpr std::int32_t per_chunk = 16 / sizeof(Entry);  ///< entries of one 16-byte load

  const Entry* a[2];
  const Entry* b[2];
  std::int32_t n;
  std::int32_t pitch;

  [[nodiscard]] __device__ __forceinline__ const Entry* a_row(int side, std::int32_t i) const { return a[side] + std::size_t(i) * pitch; }
  [[nodiscard]] __device__ __forceinline__ const Entry* b_row(int side, std::int32_t i) const { return b[side] + std::size_t(i) * pitch; }
  [[nodiscard]] __device__ __forceinline__ std::int32_t chunks() const { return pitch / per_chunk; }
};

/// A chain between two launches. Searches of all implementations start and stop here.
struct ChainState {
  std::int64_t next;           ///< the next proposal
  std::int64_t last_accepted;  ///< -1: none yet
  std::int64_t accepted;
  std::int64_t cost, best_cost;
  std::int64_t best_proposal, frozen_at;
  Digest digest;
  annealing::Cooling cooling;
  std::uint64_t seed;

  /// Proposals up to this one, excluded, can be decided at the present temperatures.
  [[nodiscard]] __device__ std::int64_t end(std::int64_t pairs, std::int64_t limit) const {
    const std::int64_t freeze = last_accepted + pairs + 1;
    return frozen_at < 0 && freeze < limit ? freeze : limit;
  }
  /// All proposals before `q` are decided; freezes if they were as many rejections as that takes.
  __device__ void reject_until(std::int64_t q, std::int32_t n) {
    next = q;
    if (frozen_at >= 0 || q <= last_accepted + annealing::pairs(n)) return;
    frozen_at = q - 1;
    cooling = annealing::frozen(cooling, n, best_proposal);
  }
  /// Proposal q was accepted. Returns whether the cost is a new best.
  __device__ bool accept(std::int64_t q, std::int64_t delta) {
    last_accepted = q;
    next = q + 1;
    ++accepted;
    digest.add(static_cast<std::uint64_t>(q));
    cost += delta;
    if (cost >= best_cost) return false;
    best_cost = cost;
    best_proposal = q;
    return true;
  }
};

/// All chains of a run.
struct Chains {
  ChainState* state;      ///< [chains]
  std::int32_t* current;  ///< [chains][n]
  std::int32_t* best;     ///< [chains][n]
};

/// One 16-byte load of entries that never change.
template <class Entry>
[[nodiscard]] __device__ __forceinline__ uint4 chunk(const Entry* row, std::int32_t index) {
  return __ldg(reinterpret_cast<const uint4*>(row) + index);
}

/// sum + the inner product of two chunks of bytes (four dp4a) or of 32-bit entries.
template <class Entry, class Delta>
[[nodiscard]] __device__ __forceinline__ Delta dot(uint4 x, uint4 y, Delta sum) {
  if constexpr (sizeof(Entry) == 1) {
    auto narrow = static_cast<unsigned>(sum);
    narrow = __dp4a(x.x, y.x, narrow);
    narrow = __dp4a(x.y, y.y, narrow);
    narrow = __dp4a(x.z, y.z, narrow);
    return static_cast<Delta>(__dp4a(x.w, y.w, narrow));
  } else {
    const auto product = [](unsigned p, unsigned q) {
      return static_cast<Delta>(static_cast<std::int32_t>(p)) * static_cast<std::int32_t>(q);
    };
    return sum + product(x.x, y.x) + product(x.y, y.y) + product(x.z, y.z) + product(x.w, y.w);
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

/// This lane's part of the delta of swapping r and s: the facilities lane, lane + 32, ... The warp's parts add up to the delta.
template <int Sides, class Entry, class P>
[[nodiscard]] __device__ __forceinline__ std::int64_t partial_delta(const DeviceQap<Entry>& qap, const P* p, std::int32_t r, std::int32_t s,
                                                                    int lane) {
  const std::int32_t pr = p[r], ps = p[s];
  std::int64_t sum = 0;
  for (int side = 0; side < Sides; ++side) {  // rows, then columns
    const Entry *ar = qap.a_row(side, r), *as = qap.a_row(side, s), *br = qap.b_row(side, pr), *bs = qap.b_row(side, ps);
    for (std::int32_t k = lane; k < qap.n; k += 32) {
      if (k == r || k == s) continue;
      const std::int32_t pk = p[k];
      sum += (static_cast<std::int64_t>(ar[k]) - as[k]) * (static_cast<std::int64_t>(bs[pk]) - br[pk]);
    }
  }
  if constexpr (Sides == 1) sum *= 2;
  if (lane == 0) {
    const auto entry = [](const Entry* row, std::int32_t k) { return static_cast<std::int64_t>(row[k]); };
    sum += (entry(qap.a_row(0, r), r) - entry(qap.a_row(0, s), s)) * (entry(qap.b_row(0, ps), ps) - entry(qap.b_row(0, pr), pr)) +
           (entry(qap.a_row(0, r), s) - entry(qap.a_row(0, s), r)) * (entry(qap.b_row(0, ps), pr) - entry(qap.b_row(0, pr), ps));
  }
  return sum;
}

/// The instance in device memory.
template <class Entry>
class DeviceMatrices {
 public:
  DeviceMatrices(const qap::Qap& qap, int sides) {
    const auto host = qap.view();
    view_.n = host.n;
    view_.pitch = divide_up(host.n, DeviceQap<Entry>::per_chunk) * DeviceQap<Entry>::per_chunk;
    for (int side = 0; side < sides; ++side) {
      view_.a[side] = place(host.a, side == 1);
      view_.b[side] = place(host.b, side == 1);
    }
  }
  [[nodiscard]] const DeviceQap<Entry>& view() const noexcept { return view_; }

 private:
  const Entry* place(const std::int32_t* matrix, bool transposed) {
    const auto n = static_cast<std::size_t>(view_.n), pitch = static_cast<std::size_t>(view_.pitch);
    std::vector<Entry> padded(n * pitch);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) padded[i * pitch + j] = static_cast<Entry>(transposed ? matrix[j * n + i] : matrix[i * n + j]);
    buffers_.emplace_back(std::span<const Entry>(padded));
    return buffers_.back().data();
  }

  DeviceQap<Entry> view_{};
  std::vector<cuda::DeviceBuffer<Entry>> buffers_;
};

}  // namespace vicinity::sa
