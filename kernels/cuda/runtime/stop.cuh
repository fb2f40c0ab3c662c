#pragma once
// How kernels under way learn that they are to end soon.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "core/util/interruption.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::cuda {

/// A word in device memory, 0 while nobody is to stop. Not in the host's: each of thousands of blocks reads it, and reads of one word there
/// follow each other over the bus, a microsecond each.
class StopSignal {
 public:
  StopSignal() : values_(2), word_(1) {
    values_[0] = 0, values_[1] = 1;
    set(0);
  }

  /// For kernels.
  [[nodiscard]] const volatile std::int32_t* word() const noexcept { return word_.data(); }
  /// By a stream of its own, beside what kernels do; what is launched then sees it.
  void set(std::int32_t to) {
    VICINITY_CUDA_CHECK(
        cudaMemcpyAsync(word_.data(), &values_[static_cast<std::size_t>(to)], sizeof(std::int32_t), cudaMemcpyDefault, stream_.get()));
    stream_.synchronize();
  }
  /// Until all that is on the stream has ended. When the flag rises meanwhile, the word is 1 until then.
  void wait(const Stream& stream, const Interruption& interruption) {
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
  HostBuffer<std::int32_t> values_;
  DeviceBuffer<std::int32_t> word_;
  Stream stream_;
};

}  // namespace vicinity::cuda
