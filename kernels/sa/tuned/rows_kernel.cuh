#pragma once
// The kernel of the tuned annealing by rows.
#include "kernels/sa/tuned/rows_front.cuh"
#include "kernels/sa/tuned/rows_proposals.cuh"
#include "kernels/sa/tuned/rows_swaps.cuh"

namespace vicinity::sa {

template <class Types, int Columns, Resident Where, bool Letters>
__global__ void __launch_bounds__(RowsPolicy::most_threads, 1)
    rows_kernel(const __grid_constant__ DeviceQap<typename Types::Entry> qap, const __grid_constant__ RowsPolicy policy,
                const __grid_constant__ RowsStorage<Types> storage, Chains chains, RowsShared<typename Types::Delta> shared,
                std::int64_t first, std::int64_t limit) {
  __shared__ ChainState state;
  const int rank = static_cast<int>(blockIdx.x) % policy.blocks, in_launch = static_cast<int>(blockIdx.x) / policy.blocks;
  if (threadIdx.x == 0) state = chains.state[first + in_launch];
  __syncthreads();
  Rows<Types, Columns, Where, Letters>(qap, policy, storage, chains, shared, static_cast<std::size_t>(first + in_launch),
                                       static_cast<std::size_t>(in_launch), limit, rank, state)
      .run();
  __syncthreads();
  if (rank == 0 && threadIdx.x == 0) chains.state[first + in_launch] = state;
}

}  // namespace vicinity::sa
