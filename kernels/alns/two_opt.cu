// 2-opt (two_opt.cuh) on the device.
//
// Mapping: a block a tour; a warp a row of reversals with the same `from`, its lanes the ends. Synchronisation: three block barriers a
// reversal. Cost: length^2 / 2 evaluations a reversal, of four distances.
#include "kernels/alns/two_opt.cuh"

#include <algorithm>
#include <vector>

#include "core/problems/vrp/delta.hpp"
#include "kernels/alns/solution.hpp"
#include "kernels/cuda/collective/argmin.cuh"

namespace vicinity::alns {
namespace {

constexpr std::int32_t two_opt_block = 512;

/// Tour b is order[first[b]] .. order[first[b + 1] - 1].
__global__ void __launch_bounds__(two_opt_block)
    two_opt_kernel(const vrp::View vrp, std::int32_t* order, const std::int32_t* first, std::int32_t* change) {
  constexpr auto none = cuda::no_key<std::uint64_t>();
  __shared__ std::uint64_t slots[32];
  __shared__ std::uint64_t best;
  std::int32_t* const tour = order + first[blockIdx.x];
  const std::int32_t length = first[blockIdx.x + 1] - first[blockIdx.x];
  const auto thread = static_cast<std::int32_t>(threadIdx.x), threads = static_cast<std::int32_t>(blockDim.x);
  const auto at = [=](std::int32_t i) { return i < 0 || i >= length ? 0 : tour[i]; };
  std::int32_t sum = 0;
  while (true) {
    std::uint64_t mine = none;
    for (std::int32_t i = thread / 32; i < length; i += threads / 32)
      for (std::int32_t j = i + 1 + thread % 32; j < length; j += 32) {
        const std::int32_t delta = vrp::two_opt_delta(vrp, at(i - 1), tour[i], tour[j], at(j + 1));
        if (delta < 0) cuda::lower(mine, std::uint64_t{ordered(delta)} << 32 | static_cast<std::uint32_t>(i << 16 | j));
      }
    const std::uint64_t least = cuda::block_argmin(mine, slots);
    if (thread == 0) best = least;
    __syncthreads();
    if (best == none) break;
    sum += number_of(static_cast<std::uint32_t>(best >> 32));
    const auto i = static_cast<std::int32_t>(best >> 16 & 0xFFFF), j = static_cast<std::int32_t>(best & 0xFFFF);
    for (std::int32_t x = thread; x < (j - i + 1) / 2; x += threads) {
      const std::int32_t swapped = tour[i + x];
      tour[i + x] = tour[j - x];
      tour[j - x] = swapped;
    }
    __syncthreads();
  }
  if (thread == 0) change[blockIdx.x] = sum;
}

}  // namespace

std::int64_t TwoOpt::operator()(Tours& tours, const cuda::Stream& stream) {
  std::vector<std::int32_t> order, first{0}, change(tours.size());
  for (const auto& tour : tours) {
    order.insert(order.end(), tour.begin(), tour.end());
    first.push_back(static_cast<std::int32_t>(order.size()));
  }
  const auto copy = [&](std::int32_t* to, const std::int32_t* from, std::size_t count) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(std::int32_t), cudaMemcpyDefault, stream.get()));
  };
  copy(order_.data(), order.data(), order.size());
  copy(first_.data(), first.data(), first.size());
  two_opt_kernel<<<static_cast<unsigned>(tours.size()), two_opt_block, 0, stream.get()>>>(vrp_, order_.data(), first_.data(),
                                                                                          change_.data());
  VICINITY_CUDA_CHECK(cudaGetLastError());
  copy(order.data(), order_.data(), order.size());
  copy(change.data(), change_.data(), change.size());
  stream.synchronize();
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < tours.size(); ++t) {
    std::copy(order.begin() + first[t], order.begin() + first[t + 1], tours[t].begin());
    sum += change[t];
  }
  return sum;
}

}  // namespace vicinity::alns
