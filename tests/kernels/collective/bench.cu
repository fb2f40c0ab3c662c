// collective_bench: microseconds of a step of each collective, beside what CUDA's libraries offer for it. A step's keys follow from the
// result of the one before, as in a search.
#include <benchmark/benchmark.h>
#include <cooperative_groups.h>

#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <memory>
#include <string>

#include "core/api/device.hpp"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/collective/scan.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/memory.cuh"
#include "tests/kernels/collective/keys.cuh"

namespace vicinity::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr std::uint32_t steps = 2000;

/// The key of a thread after a step whose least key was `last`.
template <OrderedKey K>
[[nodiscard]] __device__ __forceinline__ K next_key(const K& last, unsigned step) {
  const unsigned drawn = (threadIdx.x + blockIdx.x * blockDim.x) * 0x9E3779B9u + step;
  if constexpr (std::unsigned_integral<K>) {
    return static_cast<K>(drawn ^ (last & 1)) >> 1;
  } else {
    K key = last;
    key.high = (drawn >> 1) ^ (last.high & 1);
    key.low = drawn >> 3;
    return key;
  }
}

template <OrderedKey K>
struct Lesser {
  __device__ K operator()(const K& a, const K& b) const { return before(b, a) ? b : a; }
};

// --- block -----------------------------------------------------------------------------------------------------------------

template <OrderedKey K>
__global__ void block_by_slots(K* result) {
  __shared__ K slots[2][32];
  K key{};
  for (unsigned step = 1; step <= steps; ++step) key = block_argmin_for_all(next_key(key, step), slots, step);
  if (threadIdx.x == 0) *result = key;
}
/// cub::BlockReduce gives it to thread 0 alone.
template <OrderedKey K, int Threads>
__global__ void block_by_cub(K* result) {
  using Reduce = cub::BlockReduce<K, Threads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ K least;
  K key{};
  for (unsigned step = 1; step <= steps; ++step) {
    const K of_block = Reduce(storage).Reduce(next_key(key, step), Lesser<K>{});
    if (threadIdx.x == 0) least = of_block;
    __syncthreads();
    key = least;
  }
  if (threadIdx.x == 0) *result = key;
}

// --- grid ------------------------------------------------------------------------------------------------------------------

/// `first`: the number of the first step, since the mailbox is that of the launch before.
template <PackableKey K, unsigned Copies>
__global__ void grid_by_mailbox(unsigned first, const __grid_constant__ GridMailbox<K, Copies> mailbox, K* result) {
  __shared__ K slots[33];
  K key{};
  for (unsigned step = first; step < first + steps; ++step)
    key = argmin_of_blocks(next_key(key, step), slots, [&](const K& of_block) { return mailbox.argmin(of_block, step); });
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = key;
}
/// The same with messages of release and acquire.
template <OrderedKey K>
__global__ void grid_by_stamps(unsigned first, Stamped<K>* messages, K* result) {
  __shared__ K slots[33];
  K key{};
  for (unsigned step = first; step < first + steps; ++step)
    key = argmin_of_blocks(next_key(key, step), slots, [&](const K& of_block) {
      Stamped<K>* const now = messages + (step & 1) * gridDim.x;
      if (threadIdx.x == 0) now[blockIdx.x].write(of_block, step);
      K least = no_key<K>();
      for (unsigned block = threadIdx.x; block < gridDim.x; block += 32) lower(least, now[block].read(step));
      return warp_argmin(least);
    });
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = key;
}
/// The blocks' keys in device memory, a barrier of cooperative groups, and a second pass by every block.
template <OrderedKey K>
__global__ void grid_by_sync(K* keys, K* result) {
  __shared__ K slots[33];
  const cg::grid_group grid = cg::this_grid();
  K key{};
  for (unsigned step = 1; step <= steps; ++step) {
    K* const now = keys + (step & 1) * gridDim.x;
    const K of_block = block_argmin(next_key(key, step), slots);
    if (threadIdx.x == 0) now[blockIdx.x] = of_block;
    grid.sync();
    K other = no_key<K>();
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) lower(other, now[block]);
    other = block_argmin(other, slots);
    if (threadIdx.x == 0) slots[32] = other;
    __syncthreads();
    key = slots[32];
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = key;
}

// --- cluster -----------------------------------------------------------------------------------------------------------------

template <PackableKey K>
__global__ void cluster_by_polls(std::int32_t blocks, K* result) {
  __shared__ K slots[33];
  __shared__ ClusterMailbox<K> mailbox;
  if (threadIdx.x < 32) (&mailbox.messages[0][0])[threadIdx.x] = {};
  barrier_of_all<true>();
  K key{};
  for (unsigned step = 1; step <= steps; ++step)
    key = argmin_of_blocks(next_key(key, step), slots, [&](const K& of_block) {
      return mailbox.argmin(of_block, step, blocks, static_cast<std::int32_t>(blockIdx.x));
    });
  barrier_of_all<true>();
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = key;
}
__global__ void cluster_by_counts(std::int32_t blocks, std::uint32_t* result) {
  __shared__ Four<std::uint32_t> letters[2 * 16];
  __shared__ std::uint64_t arrivals[2];
  __shared__ std::uint32_t slots[32];
  const CountedMailbox<std::uint32_t> mailbox{static_cast<std::uint32_t>(__cvta_generic_to_shared(letters)),
                                              {static_cast<std::uint32_t>(__cvta_generic_to_shared(arrivals))},
                                              blocks,
                                              static_cast<std::int32_t>(blockIdx.x)};
  if (threadIdx.x < 2) mailbox.arrivals.init(threadIdx.x);
  barrier_of_all<true>();
  std::uint32_t key = 0;
  for (unsigned step = 1; step <= steps; ++step) {
    const std::uint32_t of_block = block_argmin(next_key(key, step), slots);
    if (threadIdx.x < 32) mailbox.send({{of_block, 0, 0, 0}}, step);
    const Four<std::uint32_t>* const heard = mailbox.wait(step);
    const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
    key = warp_argmin(lane < blocks ? heard[lane].v[0] : ~0u);
    __syncthreads();
  }
  barrier_of_all<true>();
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = key;
}
template <OrderedKey K>
__global__ void cluster_by_barrier(std::int32_t blocks, K* result) {
  __shared__ K slots[2 * 16 * 32];
  for (unsigned k = threadIdx.x; k < 2 * 16 * 32; k += blockDim.x) slots[k] = no_key<K>();
  barrier_of_all<true>();
  K key{};
  for (unsigned step = 1; step <= steps; ++step)
    key = cluster_argmin(next_key(key, step), slots, blocks, static_cast<std::int32_t>(blockIdx.x), step);
  barrier_of_all<true>();
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = key;
}
/// The blocks' keys to one of them, a barrier of cooperative groups, and a second pass by every block.
template <OrderedKey K>
__global__ void cluster_by_sync([[maybe_unused]] K* result) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __shared__ K slots[33], keys[2][16];
  const cg::cluster_group cluster = cg::this_cluster();
  K key{};
  cluster.sync();
  for (unsigned step = 1; step <= steps; ++step) {
    const K of_block = block_argmin(next_key(key, step), slots);
    if (threadIdx.x == 0) keys[step & 1][0] = of_block;
    cluster.sync();
    if (threadIdx.x < 32) {
      const K least =
          warp_argmin(threadIdx.x < cluster.num_blocks() ? *cluster.map_shared_rank(&keys[step & 1][0], threadIdx.x) : no_key<K>());
      if (threadIdx.x == 0) slots[32] = least;
    }
    __syncthreads();
    key = slots[32];
  }
  cluster.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = key;
#endif
}

// --- scan ----------------------------------------------------------------------------------------------------------------------

template <class Sum>
__global__ void scan_by_sums(Sum* result) {
  __shared__ Sum warp_sums[2][32];
  Sum own = threadIdx.x;
  for (unsigned step = 1; step <= steps; ++step) {
    const BlockSums<Sum> sums = block_sums(own, warp_sums[step & 1]);
    own = (sums.exclusive(own) ^ sums.total) & 255;
  }
  if (threadIdx.x == 0) *result = own;
}
template <class Sum, int Threads, cub::BlockScanAlgorithm Algorithm>
__global__ void scan_by_cub(Sum* result) {
  using Scan = cub::BlockScan<Sum, Threads, Algorithm>;
  __shared__ typename Scan::TempStorage storage[2];
  Sum own = threadIdx.x;
  for (unsigned step = 1; step <= steps; ++step) {
    Sum before, total;
    Scan(storage[step & 1]).ExclusiveSum(own, before, total);
    own = (before ^ total) & 255;
  }
  if (threadIdx.x == 0) *result = own;
}

// --- what runs -----------------------------------------------------------------------------------------------------------------

/// Registers launches of `steps` steps each; us_per_step is that of a step.
template <class Launch>
void add(const std::string& name, const Launch& launch_steps) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [launch_steps](benchmark::State& state) {
                                 const Stream stream;
                                 Event start, stop;
                                 launch_steps(stream);
                                 stream.synchronize();
                                 for (auto _ : state) {
                                   start.record(stream);
                                   launch_steps(stream);
                                   stop.record(stream);
                                   VICINITY_CUDA_CHECK(cudaGetLastError());
                                   stream.synchronize();
                                   state.SetIterationTime(stop.seconds_since(start) / steps);
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(50);
}

template <class K, int Threads>
void add_block(const std::string& key) {
  static DeviceBuffer<K> result(1);
  const std::string end = "/" + key + "/threads:" + std::to_string(Threads);
  add("block/slots" + end, [](const Stream& stream) { block_by_slots<K><<<1, Threads, 0, stream.get()>>>(result.data()); });
  add("block/cub" + end, [](const Stream& stream) { block_by_cub<K, Threads><<<1, Threads, 0, stream.get()>>>(result.data()); });
}

template <class K>
void add_grid(const std::string& key, int blocks) {
  static DeviceBuffer<K> result(1);
  const Shape shape{.blocks = blocks, .threads = 256, .cooperative = true};
  const std::string end = "/" + key + "/blocks:" + std::to_string(blocks);
  const auto count = static_cast<std::size_t>(2 * blocks);
  auto stamps = std::make_shared<DeviceBuffer<Stamped<K>>>(count);
  auto keys = std::make_shared<DeviceBuffer<K>>(count);
  const Stream stream;
  stamps->fill(0, stream);
  const auto add_mailbox = [&]<unsigned Copies>(const std::string& way) {
    using Mailbox = GridMailbox<K, Copies>;
    auto messages = std::make_shared<DeviceBuffer<KeyMessage<K>>>(Mailbox::size(blocks));
    messages->fill(0, stream);
    add("grid/" + way + end, [=, first = std::make_shared<unsigned>(1)](const Stream& on) {
      VICINITY_CUDA_CHECK(launch(shape, on, grid_by_mailbox<K, Copies>, *first, Mailbox{messages->data(), blocks}, result.data()));
      *first += steps;
    });
  };
  add_mailbox.template operator()<1>("mailbox");
  add_mailbox.template operator()<8>("copies");
  stream.synchronize();
  add("grid/stamped" + end, [=, first = std::make_shared<unsigned>(1)](const Stream& on) {
    VICINITY_CUDA_CHECK(launch(shape, on, grid_by_stamps<K>, *first, stamps->data(), result.data()));
    *first += steps;
  });
  add("grid/sync" + end, [=](const Stream& on) { VICINITY_CUDA_CHECK(launch(shape, on, grid_by_sync<K>, keys->data(), result.data())); });
}

template <class K>
void add_cluster(const std::string& key, int blocks) {
  static DeviceBuffer<K> result(1);
  const Shape shape{.blocks = blocks, .threads = 256, .cluster = blocks};
  const std::string end = "/" + key + "/blocks:" + std::to_string(blocks);
  const auto launched = [&](const std::string& way, auto kernel, auto... arguments) {
    if (clusters_at_a_time(shape, kernel) == 0) return;
    add("cluster/" + way + end, [=](const Stream& on) { VICINITY_CUDA_CHECK(launch(shape, on, kernel, arguments..., result.data())); });
  };
  launched("polled", cluster_by_polls<K>, blocks);
  if constexpr (std::is_same_v<K, std::uint32_t>) launched("counted", cluster_by_counts, blocks);
  launched("barrier", cluster_by_barrier<K>, blocks);
  launched("sync", cluster_by_sync<K>);
}

template <class Sum, int Threads>
void add_scan(const std::string& sum) {
  static DeviceBuffer<Sum> result(1);
  const std::string end = "/" + sum + "/threads:" + std::to_string(Threads);
  add("scan/sums" + end, [](const Stream& stream) { scan_by_sums<Sum><<<1, Threads, 0, stream.get()>>>(result.data()); });
  add("scan/cub_raking" + end,
      [](const Stream& stream) { scan_by_cub<Sum, Threads, cub::BLOCK_SCAN_RAKING><<<1, Threads, 0, stream.get()>>>(result.data()); });
  add("scan/cub_warp_scans" + end,
      [](const Stream& stream) { scan_by_cub<Sum, Threads, cub::BLOCK_SCAN_WARP_SCANS><<<1, Threads, 0, stream.get()>>>(result.data()); });
}

void add_all() {
  add_block<std::uint32_t, 256>("32bit");
  add_block<Key96, 256>("96bit");
  add_block<std::uint32_t, 1024>("32bit");
  add_block<Key96, 1024>("96bit");
  for (const int blocks : {8, multiprocessors()}) {
    add_grid<std::uint32_t>("32bit", blocks);
    add_grid<Key57>("57bit", blocks);
    add_grid<Key62>("62bit", blocks);
    add_grid<Key96>("96bit", blocks);
  }
  if (device::info()->compute_capability >= 90)
    for (const int blocks : {2, 4, 8, 16}) {
      add_cluster<std::uint32_t>("32bit", blocks);
      add_cluster<Key96>("96bit", blocks);
    }
  add_scan<std::uint32_t, 256>("32bit");
  add_scan<std::uint64_t, 256>("64bit");
  add_scan<std::uint32_t, 1024>("32bit");
  add_scan<std::uint64_t, 1024>("64bit");
}

}  // namespace
}  // namespace vicinity::cuda

int main(int argc, char** argv) {
  if (!vicinity::device::info()) {
    std::fprintf(stderr, "collective_bench: %s\n", vicinity::device::absence().c_str());
    return 77;
  }
  vicinity::cuda::add_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
