#pragma once
// Evaluator of the quadratic assignment problem (kernels/lsm/tuned/generic/search.cuh): a thread a neighbour, in O(K n), over rows and
// columns of both matrices. Data layout: matrices and permutation in shared memory where they fit, with the smallest types that are exact,
// else in device memory.
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/qap/exchange.hpp"
#include "kernels/lsm/tuned/generic/search.cuh"

namespace vicinity::lsm {

/// Goes through the rows, and through the columns as well unless both matrices are symmetric. `Sum` holds any difference, in modular
/// arithmetic. `in_shared`: matrices and permutation are in shared memory.
template <int K, class Entry, class Sum, bool in_shared>
struct QapEvaluator : DeviceSolution<std::int32_t> {
  const Entry *a, *b;  ///< [n][n]
  std::int32_t n;
  bool symmetric;

  [[nodiscard]] static std::size_t shared_bytes(std::size_t n) {
    return in_shared ? n * sizeof(std::int32_t) + 2 * n * n * sizeof(Entry) : 0;
  }
  __device__ __forceinline__ void load(const std::int32_t* from, std::int32_t size, std::uint64_t seed, uint4* shared) {
    if constexpr (in_shared) {
      solution = reinterpret_cast<std::int32_t*>(shared);
      copy_by_block(solution, from, size);
      auto* entries = reinterpret_cast<Entry*>(solution + n);
      copy_by_block(entries, a, n * n);
      copy_by_block(entries + n * n, b, n * n);
      a = entries;
      b = entries + n * n;
    } else {
      DeviceSolution::load(from, size, seed, shared);
    }
  }
  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t current) const {
    const moves::Move<K> move = moves::at<K>(n, f);
    std::int32_t locations[K + 1];  // of the facilities; the first follows the last
#pragma unroll
    for (int t = 0; t <= K; ++t) locations[t] = solution[move.at[t % K]];
    Sum delta = of_unmoved(move, locations, n, 1);
    delta = symmetric ? 2 * delta : delta + of_unmoved(move, locations, 1, n);
#pragma unroll
    for (int t = 0; t < K; ++t)
#pragma unroll
      for (int u = 0; u < K; ++u)
        delta += entry(a, move.at[t], n, move.at[u]) *
                 (entry(b, locations[t + 1], n, locations[u + 1]) - entry(b, locations[t], n, locations[u]));
    return current + static_cast<std::make_signed_t<Sum>>(delta);
  }
  __device__ __forceinline__ void apply(std::int64_t, std::int64_t f) {
    if (threadIdx.x == 0) moves::exchange(solution, moves::at<K>(n, f));
  }

 private:
  [[nodiscard]] static __device__ __forceinline__ Sum entry(const Entry* matrix, std::int32_t i, std::int32_t n, std::int32_t j) {
    return static_cast<Sum>(matrix[std::int64_t{i} * n + j]);
  }
  /// The part of the facilities k that do not move: `along` apart are entries of neighbouring k, `across` those of neighbouring facilities.
  [[nodiscard]] __device__ __forceinline__ Sum of_unmoved(const moves::Move<K>& move, const std::int32_t (&locations)[K + 1],
                                                          std::int32_t along, std::int32_t across) const {
    Sum sum = 0;
    for (std::int32_t k = 0; k < n; ++k) {
      const Entry *of_a = a + std::int64_t{k} * along, *of_b = b + std::int64_t{solution[k]} * along;
      bool moves = false;
      Sum part = 0, before = static_cast<Sum>(of_b[std::int64_t{locations[0]} * across]);
      const Sum first = before;
#pragma unroll
      for (int t = 0; t < K; ++t) {
        const Sum after = t + 1 < K ? static_cast<Sum>(of_b[std::int64_t{locations[t + 1]} * across]) : first;
        part += static_cast<Sum>(of_a[std::int64_t{move.at[t]} * across]) * (after - before);
        before = after;
        moves |= k == move.at[t];
      }
      if (!moves) sum += part;
    }
    return sum;
  }
};

template <int K, class Entry, class Sum, bool in_shared>
class QapStorage {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Evaluator = QapEvaluator<K, Entry, Sum, in_shared>;

  QapStorage(const Neighborhood& neighborhood, std::int32_t blocks, const cuda::Stream&)
      : qap_(neighborhood.instance()),
        a_(matrix(qap_.view().a)),
        b_(matrix(qap_.view().b)),
        solutions_(in_shared ? 0 : elements(neighborhood) * static_cast<std::size_t>(blocks)) {}

  /// 0 also where `Entry` or `Sum` is too small.
  [[nodiscard]] static std::int64_t most_threads(const Neighborhood& neighborhood, std::size_t most_shared) {
    const qap::Qap& qap = neighborhood.instance();
    const bool exact = std::is_same_v<Entry, std::int32_t> || (qap.bytes() && qap.narrow());
    return exact && shared_bytes(neighborhood, 0) <= most_shared ? Evaluator::most_threads : 0;
  }
  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().size());
  }
  [[nodiscard]] static std::size_t bytes_a_block(const Neighborhood& neighborhood) { return sizeof(std::int32_t) * elements(neighborhood); }
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood& neighborhood, std::int32_t) {
    return Evaluator::shared_bytes(elements(neighborhood));
  }
  [[nodiscard]] Evaluator evaluator() const { return {{solutions_.data()}, a_.data(), b_.data(), qap_.size(), qap_.symmetric()}; }

 private:
  [[nodiscard]] cuda::DeviceBuffer<Entry> matrix(const std::int32_t* of) const {
    const std::vector<Entry> entries(of, of + std::int64_t{qap_.size()} * qap_.size());
    return cuda::DeviceBuffer<Entry>(std::span<const Entry>(entries));
  }

  const qap::Qap& qap_;
  cuda::DeviceBuffer<Entry> a_, b_;
  cuda::DeviceBuffer<std::int32_t> solutions_;
};

template <int K>
struct Evaluators<local_search::QapExchange<K>> {
  using Storages = StorageList<QapStorage<K, std::uint8_t, std::uint32_t, true>, QapStorage<K, std::int32_t, std::int64_t, true>,
                               QapStorage<K, std::int32_t, std::int64_t, false>>;
};

}  // namespace vicinity::lsm
