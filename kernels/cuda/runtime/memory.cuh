#pragma once
// Owning memory: the only place that calls cudaMalloc, and cudaMallocHost.
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/util/error.hpp"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::cuda {

/// What an allocation came to. Throws DoesNotFit where there is not enough memory, with what it needs.
template <class Need>
void require_memory(cudaError_t status, const Need& need) {
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    throw DoesNotFit("needs " + need());
  }
  VICINITY_CUDA_CHECK(status);
}

/// `size` uninitialised elements in device memory. Throws DoesNotFit when the device has not enough free memory.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    std::size_t free = 0, total = 0;
    VICINITY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    require_memory(bytes() > free ? cudaErrorMemoryAllocation : cudaMalloc(&data_, bytes()),
                   [&] { return gigabytes(bytes()) + " of device memory, " + gigabytes(free) + " are free"; });
  }
  /// A copy, which is there for every stream: by itself cudaMemcpy() may return before it has arrived, and our streams wait for no other.
  explicit DeviceBuffer(std::span<const T> host) : DeviceBuffer(host.size()) {
    if (host.empty()) return;
    VICINITY_CUDA_CHECK(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
    VICINITY_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) check_noexcept(cudaFree(data_), "cudaFree");
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

  /// Sets every byte to `byte`, asynchronously.
  void fill(int byte, const Stream& stream) {
    if (size_ > 0) VICINITY_CUDA_CHECK(cudaMemsetAsync(data_, byte, bytes(), stream.get()));
  }
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> host(size_);
    if (size_ > 0) VICINITY_CUDA_CHECK(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// `size` uninitialised elements in page-locked host memory, which copies neither stage nor wait for. Throws DoesNotFit when there is not
/// enough.
template <class T>
class HostBuffer {
 public:
  explicit HostBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    require_memory(cudaMallocHost(&data_, bytes()), [&] { return gigabytes(bytes()) + " of page-locked memory"; });
  }
  ~HostBuffer() {
    if (data_ != nullptr) check_noexcept(cudaFreeHost(data_), "cudaFreeHost");
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace vicinity::cuda
