#pragma once
// Owning streams and events.
#include <utility>

#include "kernels/cuda/runtime/check.cuh"

namespace vicinity::cuda {

/// A non-blocking stream.
class Stream {
 public:
  Stream() { VICINITY_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { check_noexcept(cudaStreamDestroy(stream_), "cudaStreamDestroy"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  void synchronize() const { VICINITY_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A timing event.
class Event {
 public:
  Event() { VICINITY_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { check_noexcept(cudaEventDestroy(event_), "cudaEventDestroy"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }
  void record(const Stream& stream) { VICINITY_CUDA_CHECK(cudaEventRecord(event_, stream.get())); }
  /// Seconds from `start` to this event; both must have completed.
  [[nodiscard]] double seconds_since(const Event& start) const {
    float milliseconds = 0;
    VICINITY_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace vicinity::cuda
