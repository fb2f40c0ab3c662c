#pragma once
// How walkers and repairs under way learn that they are to end soon: as cuda::StopSignal, with the word in device memory. Each of thousands
// of blocks reads it, and reads of one word of the host's memory follow each other over the bus, a microsecond each.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "core/util/interruption.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::lns {

/// A word in device memory, 0 while nobody is to stop.
class DeviceStop {
 public:
  DeviceStop() : values_(2), word_(1) {
    values_[0] = 0, values_[1] = 1;
    set(0);
  }

  /// For kernels.
  [[nodiscard]] const volatile std::int32_t* word() const noexcept { return word_.data(); }
  /// Until all that is on the stream has ended. When the flag rises meanwhile, the word is 1 until then.
  void wait(const cuda::Stream& stream, const Interruption& interruption) {
    bool risen = false;
    if (interruption.flag() != nullptr) {
      while (cudaStreamQuery(stream.get()) == cudaErrorNotReady && !interruption.wanted())
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      risen = interruption.wanted();
    }
    if (risen) set(1);
    stream.synchronize();
    if (risen) set(0);
  }

 private:
  /// By a stream of its own, beside what kernels do.
  void set(std::int32_t to) {
    VICINITY_CUDA_CHECK(
        cudaMemcpyAsync(word_.data(), &values_[static_cast<std::size_t>(to)], sizeof(std::int32_t), cudaMemcpyDefault, stream_.get()));
    stream_.synchronize();
  }

  cuda::HostBuffer<std::int32_t> values_;
  cuda::DeviceBuffer<std::int32_t> word_;
  cuda::Stream stream_;
};

}  // namespace vicinity::lns
