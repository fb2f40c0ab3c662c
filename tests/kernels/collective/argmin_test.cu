// The least key of a warp, a block, a cluster and a grid, against the host's.
#include <algorithm>

#include "kernels/cuda/collective/argmin.cuh"
#include "tests/kernels/collective/fixture.cuh"

namespace vicinity::cuda {
namespace {

template <class K>
class ArgMin : public Collective {};
using Keys = testing::Types<std::uint32_t, std::uint64_t, Key62, Key64, Key96, PointKey>;
TYPED_TEST_SUITE(ArgMin, Keys);

template <class K>
class ArgMinOfBlocks : public Collective {};
using MessageKeys = testing::Types<std::uint32_t, std::uint64_t, Key57, Key62, Key64, Key96>;
TYPED_TEST_SUITE(ArgMinOfBlocks, MessageKeys);

// --- warp and block --------------------------------------------------------------------------------------------------------

/// A block whose first `count` threads have keys. Of each thread: the warp's least, the block's for warp 0, the block's for all.
template <class K>
struct BlockResult {
  K of_warp, in_first_warp, in_all;
};
template <class K>
__global__ void block_kernel(Draw draw, std::uint32_t step, std::uint32_t count, BlockResult<K>* results) {
  __shared__ K slots[2][32], slots_of_first[32];
  const K mine = threadIdx.x < count ? key_at<K>(draw, step, threadIdx.x, count) : no_key<K>();
  results[threadIdx.x] = {warp_argmin(mine), block_argmin(mine, slots_of_first), block_argmin_for_all(mine, slots, step)};
}

TYPED_TEST(ArgMin, OfWarpsAndBlocks) {
  using K = TypeParam;
  const DeviceBuffer<BlockResult<K>> results(1024);
  for (const Draw draw : all_draws)
    for (std::uint32_t count = 1; count <= 1024; ++count) {
      const std::uint32_t threads = divide_up(count, 32u) * 32;
      block_kernel<<<1, threads, 0, this->stream().get()>>>(draw, count, count, results.data());
      VICINITY_CUDA_CHECK(cudaGetLastError());
      this->stream().synchronize();
      const auto got = results.to_host();
      const K least = least_of<K>(draw, count, count, count);
      for (std::uint32_t t = 0; t < threads; ++t) {
        K of_warp = no_key<K>();
        for (std::uint32_t w = t / 32 * 32; w < std::min(count, t / 32 * 32 + 32); ++w) {
          const K key = key_at<K>(draw, count, w, count);
          if (before(key, of_warp)) of_warp = key;
        }
        ASSERT_TRUE(got[t].of_warp == of_warp) << "draw " << int(draw) << ", " << count << " keys, thread " << t;
        ASSERT_TRUE(got[t].in_all == least) << "draw " << int(draw) << ", " << count << " keys, thread " << t;
        if (t < 32) ASSERT_TRUE(got[t].in_first_warp == least) << "draw " << int(draw) << ", " << count << " keys, thread " << t;
      }
    }
}

/// 10000 steps without anything between them: the slots of one are not those of the next.
template <class K>
__global__ void many_steps_kernel(Draw draw, std::uint32_t steps, K* results) {
  __shared__ K slots[2][32];
  for (std::uint32_t step = 0; step < steps; ++step) {
    const K least = block_argmin_for_all(key_at<K>(draw, step, threadIdx.x, blockDim.x), slots, step);
    if (threadIdx.x == step % blockDim.x) results[step] = least;
    if ((step + threadIdx.x / 32) % 8 == 0) __nanosleep(100);
  }
}
TYPED_TEST(ArgMin, ManySteps) {
  using K = TypeParam;
  constexpr std::uint32_t steps = 10'000, threads = 256;
  const DeviceBuffer<K> results(steps);
  for (const Draw draw : {Draw::random, Draw::ties}) {
    many_steps_kernel<<<1, threads, 0, this->stream().get()>>>(draw, steps, results.data());
    VICINITY_CUDA_CHECK(cudaGetLastError());
    this->stream().synchronize();
    const auto got = results.to_host();
    for (std::uint32_t step = 0; step < steps; ++step)
      ASSERT_TRUE(got[step] == least_of<K>(draw, step, threads, threads)) << "draw " << int(draw) << ", step " << step;
  }
}

// --- records ---------------------------------------------------------------------------------------------------------------

template <class K>
struct Candidate {
  K key = no_key<K>();
  std::uint32_t thread = ~0u;
};
/// Each warp leaves its record, and each finds the block's.
template <class K>
__global__ void records_kernel(Draw draw, std::uint32_t step, std::uint32_t count, Candidate<K>* results) {
  __shared__ Candidate<K> slots[32];
  Candidate<K> mine;
  if (threadIdx.x < count) mine = {key_at<K>(draw, step, threadIdx.x, count), threadIdx.x};
  leave_least(mine, slots[threadIdx.x / 32]);
  __syncthreads();
  results[threadIdx.x] = slots[least_slot(slots, static_cast<int>(blockDim.x / 32))];
}
TYPED_TEST(ArgMin, RecordsGoWithTheirKeys) {
  using K = TypeParam;
  const DeviceBuffer<Candidate<K>> results(1024);
  for (const Draw draw : {Draw::random, Draw::one, Draw::none})
    for (const std::uint32_t count : {1u, 2u, 31u, 32u, 33u, 100u, 256u, 1000u, 1024u}) {
      const std::uint32_t threads = divide_up(count, 32u) * 32;
      records_kernel<<<1, threads, 0, this->stream().get()>>>(draw, count, count, results.data());
      VICINITY_CUDA_CHECK(cudaGetLastError());
      this->stream().synchronize();
      const auto got = results.to_host();
      const K least = least_of<K>(draw, count, count, count);
      for (std::uint32_t t = 0; t < threads; ++t) {
        ASSERT_TRUE(got[t].key == least) << "draw " << int(draw) << ", " << count << " keys, thread " << t;
        if (draw == Draw::none) continue;
        ASSERT_TRUE(key_at<K>(draw, count, got[t].thread, count) == least) << count << " keys: the record of another thread";
      }
    }
}

// --- grid --------------------------------------------------------------------------------------------------------------------

/// Steps from `first` on; results: [step][block].
template <class K, unsigned Copies>
__global__ void grid_kernel(Draw draw, std::uint32_t first, std::uint32_t steps, const __grid_constant__ GridMailbox<K, Copies> mailbox,
                            K* results) {
  __shared__ K slots[33];
  const std::uint32_t worker = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::uint32_t step = first; step < first + steps; ++step) {
    delay(step);
    const K mine = key_at<K>(draw, step, worker, gridDim.x * blockDim.x);
    const K least = argmin_of_blocks(mine, slots, [&](const K& of_block) { return mailbox.argmin(of_block, step); });
    if (threadIdx.x == step % blockDim.x) results[std::size_t{step - first} * gridDim.x + blockIdx.x] = least;
  }
}

/// In slices: a launch goes on where the last one ended, with the same mailbox.
template <class K, unsigned Copies = 1>
void expect_grid(const Stream& stream, Draw draw, std::uint32_t blocks, std::uint32_t threads, std::uint32_t steps, int slices) {
  DeviceBuffer<KeyMessage<K>> messages(GridMailbox<K, Copies>::size(static_cast<std::int32_t>(blocks)));
  DeviceBuffer<K> results(std::size_t{steps} * blocks);
  messages.fill(0, stream);
  std::uint32_t first = 1;
  for (int slice = 0; slice < slices; ++slice, first += steps) {
    const Shape shape{.blocks = blocks, .threads = static_cast<std::int32_t>(threads), .cooperative = true};
    VICINITY_CUDA_CHECK(launch(shape, stream, grid_kernel<K, Copies>, draw, first, steps,
                               GridMailbox<K, Copies>{messages.data(), static_cast<std::int32_t>(blocks)}, results.data()));
    stream.synchronize();
    const auto got = results.to_host();
    for (std::uint32_t step = 0; step < steps; ++step) {
      const K least = least_of<K>(draw, first + step, blocks * threads, blocks * threads);
      for (std::uint32_t block = 0; block < blocks; ++block)
        ASSERT_TRUE(got[std::size_t{step} * blocks + block] == least)
            << "draw " << int(draw) << ", " << blocks << " blocks, block " << block << ", step " << first + step;
    }
  }
}

TYPED_TEST(ArgMinOfBlocks, OfGridsOfEverySize) {
  for (std::uint32_t blocks = 1; blocks <= static_cast<std::uint32_t>(multiprocessors()); ++blocks)
    for (const Draw draw : all_draws) expect_grid<TypeParam>(this->stream(), draw, blocks, 64, 20, 1);
}
TYPED_TEST(ArgMinOfBlocks, OfGridsInManySteps) {
  const auto blocks = static_cast<std::uint32_t>(multiprocessors());
  expect_grid<TypeParam>(this->stream(), Draw::random, blocks, 32, 10'000, 1);
  expect_grid<TypeParam>(this->stream(), Draw::ties, blocks, 32, 1000, 3);
}
TYPED_TEST(ArgMinOfBlocks, OfGridsByCopies) {
  for (const std::uint32_t blocks : {1u, 3u, 8u, static_cast<std::uint32_t>(multiprocessors())})
    for (const Draw draw : all_draws) expect_grid<TypeParam, 8>(this->stream(), draw, blocks, 64, 300, 2);
}
/// More than one round of polls a lane: two blocks a multiprocessor.
TYPED_TEST(ArgMinOfBlocks, OfMoreBlocksThanOneRoundOfPolls) {
  expect_grid<TypeParam>(this->stream(), Draw::random, 2 * static_cast<std::uint32_t>(multiprocessors()), 64, 1000, 2);
  expect_grid<TypeParam, 8>(this->stream(), Draw::random, 2 * static_cast<std::uint32_t>(multiprocessors()), 64, 1000, 2);
}

// --- cluster -------------------------------------------------------------------------------------------------------------------

/// By polled messages, by counted ones, and by slots and a cluster barrier.
enum class Way { polled, counted, barrier };

/// results: [step][block].
template <class K>
__global__ void cluster_kernel(Way way, Draw draw, std::uint32_t steps, std::int32_t blocks, K* results) {
  __shared__ K slots[33];
  __shared__ ClusterMailbox<K> mailbox;
  __shared__ Four<std::uint64_t> letters[2 * ClusterMailbox<K>::most_blocks];
  __shared__ std::uint64_t arrivals[2];
  extern __shared__ __align__(16) unsigned char dynamic[];  // [2][blocks][32] keys
  auto* const all_slots = reinterpret_cast<K*>(dynamic);
  const std::int32_t rank = static_cast<std::int32_t>(blockIdx.x) % blocks;
  const std::uint32_t cluster = blockIdx.x / static_cast<unsigned>(blocks), workers = static_cast<unsigned>(blocks) * blockDim.x,
                      worker = static_cast<unsigned>(rank) * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const CountedMailbox<std::uint64_t> counted{static_cast<std::uint32_t>(__cvta_generic_to_shared(letters)),
                                              {static_cast<std::uint32_t>(__cvta_generic_to_shared(arrivals))},
                                              blocks,
                                              rank};
  if (threadIdx.x < 32) (&mailbox.messages[0][0])[threadIdx.x] = {};
  for (std::uint32_t k = threadIdx.x; k < 2u * 32 * static_cast<unsigned>(blocks); k += blockDim.x) all_slots[k] = no_key<K>();
  if (threadIdx.x < 2) counted.arrivals.init(threadIdx.x);
  barrier_of_all<true>();
  for (std::uint32_t step = 1; step <= steps; ++step) {
    delay(step);
    const K mine = key_at<K>(draw, step + 1'000'000 * cluster, worker, workers);
    K least;
    if (way == Way::barrier) {
      least = cluster_argmin(mine, all_slots, blocks, rank, step);
    } else if (way == Way::polled) {
      least = argmin_of_blocks(mine, slots, [&](const K& of_block) { return mailbox.argmin(of_block, step, blocks, rank); });
    } else {  // the key in the first two numbers; every warp waits for itself
      const K of_block = block_argmin(mine, slots);
      if (threadIdx.x < 32) {
        Four<std::uint64_t> message{};
        memcpy(&message, &of_block, sizeof(K));
        counted.send(message, step);
      }
      const Four<std::uint64_t>* const heard = counted.wait(step);
      K other = no_key<K>();
      if (lane < static_cast<unsigned>(blocks)) memcpy(&other, heard + lane, sizeof(K));
      least = warp_argmin(other);
      __syncthreads();
    }
    if (threadIdx.x == step % blockDim.x) results[std::size_t{step - 1} * gridDim.x + blockIdx.x] = least;
  }
  barrier_of_all<true>();
}

template <class K>
void expect_clusters(const Stream& stream, Way way, Draw draw, std::int32_t blocks, std::uint32_t clusters, std::uint32_t steps) {
  constexpr std::int32_t threads = 96;
  const Shape shape{.blocks = blocks * static_cast<std::int64_t>(clusters),
                    .threads = threads,
                    .shared_bytes = 2 * 32 * static_cast<std::size_t>(blocks) * sizeof(K),
                    .cluster = blocks};
  allow_shared(cluster_kernel<K>, shape.shared_bytes);
  if (clusters_at_a_time(shape, cluster_kernel<K>) == 0) return;  // the GPU has no clusters of this size
  const auto all = static_cast<std::uint32_t>(shape.blocks);
  const DeviceBuffer<K> results(std::size_t{steps} * all);
  VICINITY_CUDA_CHECK(launch(shape, stream, cluster_kernel<K>, way, draw, steps, blocks, results.data()));
  stream.synchronize();
  const auto got = results.to_host();
  for (std::uint32_t step = 1; step <= steps; ++step)
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
      const auto workers = static_cast<std::uint32_t>(blocks * threads);
      const K least = least_of<K>(draw, step + 1'000'000 * cluster, workers, workers);
      for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(blocks); ++rank)
        ASSERT_TRUE(got[std::size_t{step - 1} * all + cluster * static_cast<std::uint32_t>(blocks) + rank] == least)
            << "way " << int(way) << ", draw " << int(draw) << ", " << blocks << " blocks, rank " << rank << ", step " << step;
    }
}

TYPED_TEST(ArgMinOfBlocks, OfClustersOfEverySize) {
  if (device::info()->compute_capability < 90) GTEST_SKIP() << "no clusters before sm_90";
  for (const Way way : {Way::polled, Way::counted, Way::barrier})
    for (std::int32_t blocks = 2; blocks <= 16; ++blocks)  // one block is no cluster: its launch has no addresses of shared::cluster
      for (const Draw draw : all_draws) expect_clusters<TypeParam>(this->stream(), way, draw, blocks, 3, 50);
}
TYPED_TEST(ArgMinOfBlocks, OfClustersInManySteps) {
  if (device::info()->compute_capability < 90) GTEST_SKIP() << "no clusters before sm_90";
  for (const Way way : {Way::polled, Way::counted, Way::barrier}) expect_clusters<TypeParam>(this->stream(), way, Draw::ties, 8, 2, 10'000);
}

}  // namespace
}  // namespace vicinity::cuda
