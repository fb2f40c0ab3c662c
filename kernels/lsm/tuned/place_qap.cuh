#pragma once
// Where a search of the quadratic assignment problem lives (kernels/lsm/tuned/place.cuh).
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/problems/moves.hpp"
#include "core/problems/qap/exchange.hpp"
#include "kernels/lsm/tuned/place.cuh"

namespace vicinity::lsm {

/// O(K n) a neighbour, once for rows and once for columns unless both matrices are symmetric. `Sum` holds any difference, in modular
/// arithmetic. `shared`: matrices and permutation are in shared memory.
template <int K, class Entry, class Sum, bool shared>
struct QapPlace : SolutionPlace<std::int32_t> {
  const Entry *a, *b;  ///< [n][n]
  std::int32_t n;
  bool symmetric;

  [[nodiscard]] static std::size_t shared_bytes(std::size_t n) { return shared ? n * sizeof(std::int32_t) + 2 * n * n * sizeof(Entry) : 0; }
  __device__ __forceinline__ void enter(const std::int32_t* from, std::int32_t size, std::uint64_t seed, uint4* room) {
    if constexpr (shared) {
      solution = reinterpret_cast<std::int32_t*>(room);
      copy_by_block(solution, from, size);
      auto* entries = reinterpret_cast<Entry*>(solution + n);
      copy_by_block(entries, a, n * n);
      copy_by_block(entries + n * n, b, n * n);
      a = entries;
      b = entries + n * n;
    } else {
      SolutionPlace::enter(from, size, seed, room);
    }
  }
  __device__ __forceinline__ std::int64_t value(std::int64_t f, std::int64_t, std::int64_t current) const {
    const moves::Move<K> move = moves::at<K>(n, f);
    std::int32_t places[K + 1];  // of the facilities; the first follows the last
#pragma unroll
    for (int t = 0; t <= K; ++t) places[t] = solution[move.at[t % K]];
    Sum delta = away(move, places, n, 1);
    delta = symmetric ? 2 * delta : delta + away(move, places, 1, n);
#pragma unroll
    for (int t = 0; t < K; ++t)
#pragma unroll
      for (int u = 0; u < K; ++u)
        delta += entry(a, move.at[t], n, move.at[u]) * (entry(b, places[t + 1], n, places[u + 1]) - entry(b, places[t], n, places[u]));
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
  [[nodiscard]] __device__ __forceinline__ Sum away(const moves::Move<K>& move, const std::int32_t (&places)[K + 1], std::int32_t along,
                                                    std::int32_t across) const {
    Sum sum = 0;
    for (std::int32_t k = 0; k < n; ++k) {
      const Entry *of_a = a + std::int64_t{k} * along, *of_b = b + std::int64_t{solution[k]} * along;
      bool moves = false;
      Sum part = 0, before = static_cast<Sum>(of_b[std::int64_t{places[0]} * across]);
      const Sum first = before;
#pragma unroll
      for (int t = 0; t < K; ++t) {
        const Sum after = t + 1 < K ? static_cast<Sum>(of_b[std::int64_t{places[t + 1]} * across]) : first;
        part += static_cast<Sum>(of_a[std::int64_t{move.at[t]} * across]) * (after - before);
        before = after;
        moves |= k == move.at[t];
      }
      if (!moves) sum += part;
    }
    return sum;
  }
};

template <int K, class Entry, class Sum, bool shared>
class QapResidence : public ThinResidence {
 public:
  using Neighborhood = local_search::QapExchange<K>;
  using Place = QapPlace<K, Entry, Sum, shared>;

  QapResidence(const Neighborhood& neighborhood, std::int32_t places, const cuda::Stream&)
      : qap_(neighborhood.instance()),
        a_(placed(qap_.view().a)),
        b_(placed(qap_.view().b)),
        solutions_(shared ? 0 : elements(neighborhood) * static_cast<std::size_t>(places)) {}

  [[nodiscard]] static std::size_t elements(const Neighborhood& neighborhood) {
    return static_cast<std::size_t>(neighborhood.instance().size());
  }
  [[nodiscard]] static std::size_t bytes_a_place(const Neighborhood& neighborhood) { return sizeof(std::int32_t) * elements(neighborhood); }
  [[nodiscard]] static std::size_t shared_bytes(const Neighborhood& neighborhood, std::int32_t) {
    return Place::shared_bytes(elements(neighborhood));
  }
  [[nodiscard]] Place place() const { return {{solutions_.data()}, a_.data(), b_.data(), qap_.size(), qap_.symmetric()}; }

 private:
  [[nodiscard]] cuda::DeviceBuffer<Entry> placed(const std::int32_t* matrix) const {
    const std::vector<Entry> entries(matrix, matrix + std::int64_t{qap_.size()} * qap_.size());
    return cuda::DeviceBuffer<Entry>(std::span<const Entry>(entries));
  }

  const qap::Qap& qap_;
  cuda::DeviceBuffer<Entry> a_, b_;
  cuda::DeviceBuffer<std::int32_t> solutions_;
};

/// visit.operator()<Residence>(), with the smallest types that are exact, in shared memory where there is room.
template <int K, class Visit>
[[nodiscard]] auto with_residence(const local_search::QapExchange<K>& neighborhood, std::size_t most_shared, const Visit& visit) {
  using Bytes = QapResidence<K, std::uint8_t, std::uint32_t, true>;
  using Words = QapResidence<K, std::int32_t, std::int64_t, true>;
  const qap::Qap& qap = neighborhood.instance();
  if (qap.bytes() && qap.narrow() && Bytes::shared_bytes(neighborhood, 0) <= most_shared) return visit.template operator()<Bytes>();
  if (Words::shared_bytes(neighborhood, 0) <= most_shared) return visit.template operator()<Words>();
  return visit.template operator()<QapResidence<K, std::int32_t, std::int64_t, false>>();
}

}  // namespace vicinity::lsm
