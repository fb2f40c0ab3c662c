#pragma once
// How kernels under way learn that they are to end soon.
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/util/interruption.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::cuda {

/// A word in page-locked memory, 0 while nobody is to stop.
class StopSignal {
 public:
  StopSignal() : word_(1) { word_[0] = 0; }

  /// For kernels.
  [[nodiscard]] const volatile std::int32_t* word() const noexcept { return word_.data(); }
  /// Until all that is on the stream has ended. When the flag rises meanwhile, the word is 1 until then.
  void wait(const Stream& stream, const Interruption& interruption) {
    if (interruption.flag() != nullptr) {
      while (cudaStreamQuery(stream.get()) == cudaErrorNotReady && !interruption.wanted())
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      set(interruption.wanted() ? 1 : 0);
    }
    stream.synchronize();
    set(0);
  }

 private:
  void set(std::int32_t to) { *static_cast<volatile std::int32_t*>(word_.data()) = to; }

  HostBuffer<std::int32_t> word_;
};

}  // namespace vicinity::cuda
