#pragma once
// What the device offers to a launch, and launches whose blocks run at the same time: all of them, or those of a cluster.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::cuda {

/// Of the current device.
[[nodiscard]] inline int device_attribute(cudaDeviceAttr name) {
  int device = 0, value = 0;
  VICINITY_CUDA_CHECK(cudaGetDevice(&device));
  VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&value, name, device));
  return value;
}
[[nodiscard]] inline int multiprocessors() { return device_attribute(cudaDevAttrMultiProcessorCount); }
/// Bytes of shared memory that a block may have, its kernel's own included.
[[nodiscard]] inline std::size_t most_shared() {
  return static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

/// Lets blocks of `kernel` have so much dynamic shared memory, and never less than before: another thread may have prepared a run that
/// needs it.
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), std::size_t bytes) {
  static std::mutex mutex;  // of all kernels with these parameters
  const std::lock_guard lock(mutex);
  cudaFuncAttributes attributes{};
  VICINITY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  if (static_cast<int>(bytes) <= attributes.maxDynamicSharedSizeBytes) return;
  VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

/// Of a launch.
struct Shape {
  std::int64_t blocks;
  std::int32_t threads;          ///< of a block
  std::size_t shared_bytes = 0;  ///< dynamic, of a block
  std::int32_t cluster = 1;      ///< blocks that run at the same time and reach each other's shared memory
  bool cooperative = false;      ///< all blocks run at the same time; not for clusters

  /// Valid as long as `attribute` is.
  [[nodiscard]] cudaLaunchConfig_t configuration(cudaLaunchAttribute& attribute) const {
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(blocks);
    config.blockDim = static_cast<unsigned>(threads);
    config.dynamicSmemBytes = shared_bytes;
    if (cluster > 1) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    } else {
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = cooperative ? 1 : 0;
    }
    config.attrs = &attribute;
    config.numAttrs = 1;
    return config;
  }
};

/// How many clusters of such blocks the GPU runs at a time; 0: it has none of this size, or the program holds code of older GPUs alone,
/// which knows no clusters.
template <class... Parameters>
[[nodiscard]] int clusters_at_a_time(const Shape& shape, void (*kernel)(Parameters...)) {
  constexpr int portable = 8, first_with_clusters = 90;
  cudaFuncAttributes compiled{};
  VICINITY_CUDA_CHECK(cudaFuncGetAttributes(&compiled, kernel));
  if (compiled.ptxVersion < first_with_clusters || device_attribute(cudaDevAttrClusterLaunch) == 0) return 0;
  if (shape.cluster > portable) VICINITY_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t config = shape.configuration(attribute);
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess) return clusters;
  static_cast<void>(cudaGetLastError());
  return 0;
}

/// Asynchronous.
template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t launch(const Shape& shape, const Stream& stream, void (*kernel)(Parameters...), Arguments&&... arguments) {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config = shape.configuration(attribute);
  config.stream = stream.get();
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace vicinity::cuda
