#pragma once
// What the tuned searches of the QAP by swaps share (small.cu, block.cu, grid.cu): matrices and searches in device memory, how searches
// begin and end, the pair that a step chooses. F, alpha, beta and d, e are those of core/problems/qap/inner_products.hpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/lsm/result.hpp"
#include "core/methods/lsm/state.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/qap/inner_products.hpp"
#include "core/util/math.hpp"
#include "kernels/cuda/collective/key.cuh"
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::lsm {

using QapSwaps = local_search::QapExchange<2>;

/// One search by the whole grid, of any size: for instances that fit no block. The caller keeps the instance alive.
[[nodiscard]] std::unique_ptr<Run> qap_grid_run(const QapSwaps& neighborhood, const local_search::Task& task);

/// A search a block, of small symmetric instances; null for others. The caller keeps the instance alive.
[[nodiscard]] std::unique_ptr<Run> qap_small_run(const QapSwaps& neighborhood, const local_search::Task& task);

/// Deltas and what they are made of are of type `D`; symmetric matrices have one side.
template <class D, int Sides>
struct QapTypes {
  using Delta = D;
  using Difference = qap::SwapDifference<D, Sides>;
  static constexpr int sides = Sides;
};

/// The best pair i < j of a thread, a warp, a block or all. `high`: whether forbidden, and delta; `low`: i and j, whose order is that of
/// moves' numbers, below a flag that the search in a block uses.
template <class High>
struct alignas(2 * sizeof(High)) BestPair {
  static constexpr std::uint32_t flag = std::uint32_t{1} << 31;

  High high = static_cast<High>(~High{0});
  std::uint32_t low = ~flag;

  [[nodiscard]] static __device__ __forceinline__ std::uint32_t pair_of(std::int32_t i, std::int32_t j) {
    return static_cast<std::uint32_t>(i << 16 | j);
  }
  [[nodiscard]] static __device__ __forceinline__ moves::Move<2> swap_of(std::uint32_t pair) {
    return {{static_cast<std::int32_t>(pair >> 16), static_cast<std::int32_t>(pair & 0xFFFFu)}};
  }
  [[nodiscard]] __device__ __forceinline__ bool before(const BestPair& other) const {
    return high < other.high || (high == other.high && low < other.low);
  }
  [[nodiscard]] __device__ __forceinline__ bool operator==(const BestPair& other) const { return high == other.high && low == other.low; }
};

/// The instance and all searches of a launch.
template <class Types>
struct QapSearches {
  using Delta = typename Types::Delta;

  std::int32_t n;
  const std::int32_t *a, *a_transposed, *b, *b_transposed;  ///< [n][n]; of symmetric matrices both are one
  const Delta *alpha, *beta;                                ///< [n][n]; beta by location
  Delta* f;                                                 ///< [search][facility][facility]
  Delta* f_transposed;                                      ///< [search][location of y][x] = F[x][y]; may be null
  std::int32_t* until;                                      ///< [search][move]: tabu as long as fewer moves are taken
  std::int32_t *p, *best;                                   ///< [search][n]
  std::int32_t tenure;                                      ///< 0: a hill climbing

  [[nodiscard]] __device__ __forceinline__ std::size_t at(std::int32_t row, std::int32_t column) const {
    return std::size_t(row) * static_cast<std::size_t>(n) + static_cast<std::size_t>(column);
  }
  [[nodiscard]] __device__ __forceinline__ Delta* f_of(std::size_t search) const { return f + search * at(n, 0); }
  [[nodiscard]] __device__ __forceinline__ std::int32_t* until_of(std::size_t search) const {
    return until + search * static_cast<std::size_t>(moves::count<2>(n));
  }
  /// What the swap of r and s means for facility x, which lies at location `q` from then on; r at `new_r`, s at `new_s`.
  [[nodiscard]] __device__ __forceinline__ typename Types::Difference difference(std::int32_t r, std::int32_t s, std::int32_t new_r,
                                                                                 std::int32_t new_s, std::int32_t x, std::int32_t q) const {
    const auto entry = [&](const std::int32_t* m, std::int32_t row, std::int32_t column) {
      return static_cast<Delta>(__ldg(m + at(row, column)));
    };
    return qap::swap_difference<Delta, Types::sides>(
        [&](int side, std::int32_t row, std::int32_t column) { return entry(side == 0 ? a : a_transposed, row, column); },
        [&](int side, std::int32_t row, std::int32_t column) { return entry(side == 0 ? b : b_transposed, row, column); }, r, s, new_r,
        new_s, x, q);
  }
};

/// F from its definition. Mapping: a thread an element, neighbours in a warp along a row; blockIdx.z is the search. Synchronisation: none.
/// Cost: 2 n products and 5 n loads, which neighbours share or have in the same row of a matrix.
template <class Types>
__global__ void __launch_bounds__(256) qap_products_kernel(const __grid_constant__ QapSearches<Types> searches) {
  using Delta = typename Types::Delta;
  const auto y = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (y >= searches.n) return;
  const std::size_t search = blockIdx.z;
  const std::int32_t *p = searches.p + search * static_cast<std::size_t>(searches.n), u = p[y];
  for (auto x = static_cast<std::int32_t>(blockIdx.y); x < searches.n; x += static_cast<std::int32_t>(gridDim.y)) {
    Delta sum = 0;
    for (std::int32_t k = 0; k < searches.n; ++k) {
      const std::int32_t q = __ldg(p + k);
      sum += static_cast<Delta>(__ldg(searches.a + searches.at(x, k))) * __ldg(searches.b_transposed + searches.at(q, u)) +
             static_cast<Delta>(__ldg(searches.a_transposed + searches.at(x, k))) * __ldg(searches.b + searches.at(q, u));
    }
    searches.f_of(search)[searches.at(x, y)] = sum;
    if (searches.f_transposed != nullptr) searches.f_transposed[search * searches.at(searches.n, 0) + searches.at(u, x)] = sum;
  }
}

/// Owns what QapSearches points to.
template <class Types>
class QapMemory {
 public:
  using Delta = typename Types::Delta;

  QapMemory(const QapSwaps& neighborhood, const local_search::Task& task, std::int64_t batch_size, bool transposed = false)
      : n_(static_cast<std::size_t>(neighborhood.instance().size())),
        batch_size_(static_cast<std::size_t>(batch_size)),
        staged_(2 * batch_size_ * n_),
        p_(batch_size_ * n_),
        best_(batch_size_ * n_),
        until_(batch_size_ * static_cast<std::size_t>(neighborhood.moves())),
        f_(batch_size_ * n_ * n_),
        f_transposed_(transposed ? batch_size_ * n_ * n_ : 0) {
    const auto host = neighborhood.instance().view();
    view_.n = host.n;
    view_.a = upload(host.a, false);
    view_.b = upload(host.b, false);
    view_.a_transposed = Types::sides == 2 ? upload(host.a, true) : view_.a;
    view_.b_transposed = Types::sides == 2 ? upload(host.b, true) : view_.b;
    view_.alpha = upload_pair_factors(host.a);
    view_.beta = upload_pair_factors(host.b);
    view_.f = f_.data();
    view_.f_transposed = f_transposed_.data();
    view_.until = until_.data();
    view_.p = p_.data();
    view_.best = best_.data();
    view_.tenure =
        task.method == local_search::Method::tabu ? static_cast<std::int32_t>(local_search::tenure_of(task, neighborhood.moves())) : 0;
  }

  [[nodiscard]] const QapSearches<Types>& view() const noexcept { return view_; }

  void begin(const std::vector<local_search::SearchState<QapSwaps>>& states, const cuda::Stream& stream) {
    std::int32_t* to = staged_.data();
    for (const auto& state : states) to = std::copy(state.solution().begin(), state.solution().end(), to);
    const std::size_t bytes = states.size() * n_ * sizeof(std::int32_t);
    for (std::int32_t* device : {p_.data(), best_.data()})
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(device, staged_.data(), bytes, cudaMemcpyHostToDevice, stream.get()));
    until_.fill(0, stream);
    const auto n = static_cast<unsigned>(n_);
    constexpr unsigned most = 65535;
    const dim3 grid(divide_up(n, 256u), std::min(n, most), static_cast<unsigned>(states.size()));
    qap_products_kernel<Types><<<grid, 256, 0, stream.get()>>>(view_);
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }
  void finish(std::vector<local_search::SearchResult<QapSwaps::Solution>>& searches, const cuda::Stream& stream) {
    const std::size_t size = searches.size() * n_;
    const auto fetch = [&](std::int32_t* to, const std::int32_t* from) {
      VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, size * sizeof(std::int32_t), cudaMemcpyDeviceToHost, stream.get()));
    };
    fetch(staged_.data(), p_.data());
    fetch(staged_.data() + size, best_.data());
    stream.synchronize();
    for (std::size_t k = 0; k < searches.size(); ++k) {
      const std::int32_t* from = staged_.data() + k * n_;
      searches[k].current.assign(from, from + n_);
      searches[k].best.assign(from + size, from + size + n_);
    }
  }
  void poison(const cuda::Stream& stream) {
    for (auto* buffer : {&p_, &best_, &until_}) buffer->fill(0xA5, stream);
    for (auto* buffer : {&f_, &f_transposed_}) buffer->fill(0xA5, stream);
  }

 private:
  const std::int32_t* upload(const std::int32_t* matrix, bool transposed) {
    std::vector<std::int32_t> entries(matrix, matrix + n_ * n_);
    if (transposed)
      for (std::size_t x = 0; x < n_; ++x)
        for (std::size_t y = 0; y < n_; ++y) entries[x * n_ + y] = matrix[y * n_ + x];
    return matrices_.emplace_back(std::span<const std::int32_t>(entries)).data();
  }
  const Delta* upload_pair_factors(const std::int32_t* matrix) {
    std::vector<Delta> factors(n_ * n_);
    const auto entry = [&](std::size_t x, std::size_t y) { return static_cast<Delta>(matrix[x * n_ + y]); };
    for (std::size_t x = 0; x < n_; ++x)
      for (std::size_t y = 0; y < n_; ++y) factors[x * n_ + y] = qap::pair_factor(entry(x, x), entry(y, y), entry(x, y), entry(y, x));
    return factors_.emplace_back(std::span<const Delta>(factors)).data();
  }

  std::size_t n_, batch_size_;
  cuda::HostBuffer<std::int32_t> staged_;  ///< [current, best][search][n]
  cuda::DeviceBuffer<std::int32_t> p_, best_, until_;
  cuda::DeviceBuffer<Delta> f_, f_transposed_;
  std::vector<cuda::DeviceBuffer<std::int32_t>> matrices_;
  std::vector<cuda::DeviceBuffer<Delta>> factors_;
  QapSearches<Types> view_{};
};

}  // namespace vicinity::lsm
