#pragma once
// Launches of the tuned annealing: the hot phase, then the cold one, without the host in between.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/device.hpp"
#include "kernels/sa/cold.cuh"
#include "kernels/sa/run.cuh"

namespace vicinity::sa {

/// Which part of the machine a chain of this size gets. Measured on an H100 (kernels/sa/README.md).
[[nodiscard]] inline ColdPolicy cold_policy(std::int32_t n, bool many_chains) {
  constexpr std::int32_t largest_of_block = 128, largest_of_cluster = 512, worth_a_cluster = 32;
  const device::Info gpu = *device::info();
  const char* no_clusters = std::getenv("VICINITY_NO_CLUSTERS");
  // compute-sanitizer's racecheck sees hazards across a cluster's blocks where each uses its own shared memory: scripts/test_gpu asks for
  // none.
  const bool clusters = gpu.compute_capability >= 90 && std::string(no_clusters == nullptr ? "" : no_clusters).empty();
  if (n <= (clusters ? worth_a_cluster : largest_of_block)) return ColdPolicy::of(n, Space::block, 1);
  if (clusters && n <= largest_of_cluster) return ColdPolicy::of(n, Space::cluster, n <= 192 ? 8 : 16);
  if (many_chains)
    throw InputError("gpu-chains takes sizes up to " + std::to_string(clusters ? largest_of_cluster : largest_of_block) +
                     " on this GPU; gpu-tuned takes larger ones");
  return ColdPolicy::of(n, Space::grid, std::min(gpu.multiprocessors, most_blocks));
}

/// gpu-tuned (one chain at a time) and gpu-chains (all at once).
template <class T, bool Many>
class Tuned {
 public:
  using Types = T;
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;

  Tuned(const qap::Qap& qap, const DeviceQap<Entry>& matrices, const annealing::Task& task)
      : matrices_(matrices),
        policy_(with_matrices(cold_policy(qap.size(), Many), matrices)),
        storage_(policy_, matrices.n, matrices.pitch),
        together_(Many ? task.chains : 1),
        boards_(policy_.space == Space::grid ? static_cast<std::size_t>(together_) : 0),
        fresh_(static_cast<std::size_t>(together_) * 4 * static_cast<std::size_t>(matrices.n)),
        inner_(static_cast<std::size_t>(together_) * static_cast<std::size_t>(matrices.n)),
        permuted_(static_cast<std::size_t>(together_) * Types::sides * static_cast<std::size_t>(matrices.n) *
                  static_cast<std::size_t>(matrices.pitch)) {
    if (policy_.units() > most_units || qap.size() > ColdPolicy::largest_size)
      throw DoesNotFit("size " + std::to_string(qap.size()) + " is too large for the registers of this GPU; use gpu");
    allow_shared(kernel(), storage_.bytes);
    allow_shared(hot_kernel<Types>, hot_bytes());
    if (policy_.blocks > 8) VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    const auto together = static_cast<unsigned>(count);
    permute_kernel<Types>
        <<<dim3(static_cast<unsigned>(matrices_.n), together), 256, 0, stream.get()>>>(matrices_, chains, first, permuted_.data());
    hot_kernel<Types><<<together, HotPolicy::threads, hot_bytes(), stream.get()>>>(matrices_, chains, permuted_.data(), first, limit);
    inner_kernel<Types><<<dim3(static_cast<unsigned>(divide_up(matrices_.n, 8)), together), 256, 0, stream.get()>>>(matrices_, chains,
                                                                                                                    first, inner_.data());
    boards_.fill(0, stream);
    launch_cold(together, chains, first, limit, stream);
  }

  [[nodiscard]] std::int64_t together() const { return together_; }
  [[nodiscard]] Policy policy() const {
    return {{"hot_threads", HotPolicy::threads},
            {"threads", ColdPolicy::threads},
            {"blocks", policy_.blocks},
            {"cluster", policy_.space == Space::cluster ? policy_.blocks : 0},
            {"ring", policy_.ring},
            {"resident", policy_.resident},
            {"shared_bytes", storage_.bytes}};
  }

 private:
  static constexpr std::int32_t few_units = 8, most_units = 16;  // what registers hold

  /// The policy with A and B in shared memory where they fit: an exchange invalidates the L1 cache.
  [[nodiscard]] static ColdPolicy with_matrices(ColdPolicy policy, const DeviceQap<Entry>& matrices) {
    int most = 0;
    VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    policy.resident = true;
    constexpr std::uint32_t reserve = 4096;  // what the kernel declares itself
    policy.resident = ColdStorage<Types>(policy, matrices.n, matrices.pitch).bytes + reserve <= static_cast<std::uint32_t>(most);
    return policy;
  }
  [[nodiscard]] std::size_t hot_bytes() const { return static_cast<std::size_t>(matrices_.n) * sizeof(std::uint16_t); }
  [[nodiscard]] auto kernel() const {
    return policy_.units() <= few_units ? &cold_kernel<Types, few_units> : &cold_kernel<Types, most_units>;
  }

  template <class Kernel>
  static void allow_shared(Kernel kernel, std::size_t bytes) {
    VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  }

  void launch_cold(unsigned together, const Chains& chains, std::int64_t first, std::int64_t limit, const cuda::Stream& stream) {
    cudaLaunchConfig_t config{};
    config.gridDim = together * static_cast<unsigned>(policy_.blocks);
    config.blockDim = ColdPolicy::threads;
    config.dynamicSmemBytes = storage_.bytes;
    config.stream = stream.get();
    cudaLaunchAttribute attribute{};
    if (policy_.space == Space::cluster) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {static_cast<unsigned>(policy_.blocks), 1, 1};
    } else {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = policy_.space == Space::grid ? 1 : 0;
    }
    config.attrs = &attribute;
    config.numAttrs = 1;
    VICINITY_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel(), matrices_, policy_, storage_, chains,
                                           ColdShared<Delta>{boards_.data(), fresh_.data(), inner_.data()}, first, limit));
  }

  DeviceQap<Entry> matrices_;
  ColdPolicy policy_;
  ColdStorage<Types> storage_;
  std::int64_t together_;
  cuda::DeviceBuffer<Board> boards_;
  cuda::DeviceBuffer<Delta> fresh_, inner_;
  cuda::DeviceBuffer<Entry> permuted_;
};

}  // namespace vicinity::sa
