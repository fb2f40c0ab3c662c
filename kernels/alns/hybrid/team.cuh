#pragma once
// The threads of a block as a team (memory.hpp says what it does). Host and device: so that what is written for any team compiles for this
// one; on the host nothing calls it.
#include <cstdint>
#include <type_traits>

#include "kernels/alns/hybrid/memory.hpp"
#include "kernels/cuda/collective/argmin.cuh"

namespace vicinity::alns::hybrid::block {

/// The lanes of a warp.
struct Lanes {
  std::int32_t index;  ///< of the warp

  [[nodiscard]] static VICINITY_HD std::int32_t lane() {
#if defined(__CUDA_ARCH__)
    return static_cast<std::int32_t>(threadIdx.x % 32);
#else
    return 0;
#endif
  }
  static VICINITY_HD void sync() {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
  }

  template <class F>
  VICINITY_HD void each(std::int32_t count, const F& f) const {
    sync();
    for (std::int32_t i = lane(); i < count; i += 32) f(i);
    sync();
  }
  template <class F>
  VICINITY_HD void once(const F& f) const {
    sync();
    if (lane() == 0) f();
    sync();
  }
  /// Cost: count / 32 evaluations and one reduction.
  template <class F>
  [[nodiscard]] VICINITY_HD auto least(std::int32_t count, const F& f) const {
    using Key = decltype(f(0));
    Key best = cuda::no_key<Key>();
    for (std::int32_t i = lane(); i < count; i += 32) cuda::lower(best, f(i));
    sync();
#if defined(__CUDA_ARCH__)
    return cuda::warp_argmin(best);
#else
    return best;
#endif
  }
  template <class Value, class Put>
  VICINITY_HD std::int32_t scan(std::int32_t count, const Value& value, const Put& put) const {
    std::int32_t before = 0;
    for (std::int32_t from = 0; from < count; from += 32) {
      const std::int32_t i = from + lane();
      std::int32_t sum = i < count ? value(i) : 0;
#if defined(__CUDA_ARCH__)
      for (int offset = 1; offset < 32; offset *= 2) {
        const std::int32_t other = __shfl_up_sync(~0u, sum, offset);
        if (lane() >= offset) sum += other;
      }
#endif
      if (i < count) put(i, before + sum);
#if defined(__CUDA_ARCH__)
      before += __shfl_sync(~0u, sum, 31);
#else
      before += sum;
#endif
    }
    sync();
    return before;
  }
  template <class Stop, class F>
  VICINITY_HD void until(std::int32_t count, const Stop& stop, const F& f) const {
    for (std::int32_t from = 0; from < count; from += 32) {
      const std::int32_t i = from + lane();
      const unsigned stops = ballot(i < count && stop(i));
      if (i < count && (stops & (2u << lane()) - 1u) == 0) f(i);
      if (stops != 0) break;
    }
    sync();
  }
  template <class Holds, class F>
  VICINITY_HD void where(std::int32_t count, const Holds& holds, const F& f) const {
    for (std::int32_t from = 0; from < count; from += 32) {
      const std::int32_t i = from + lane();
      for (unsigned left = ballot(i < count && holds(i)); left != 0; left &= left - 1) f(from + lowest(left));
    }
    sync();
  }

 private:
  [[nodiscard]] static VICINITY_HD unsigned ballot(bool holds) {
#if defined(__CUDA_ARCH__)
    return __ballot_sync(~0u, holds);
#else
    return holds ? 1u : 0u;
#endif
  }
  [[nodiscard]] static VICINITY_HD std::int32_t lowest(unsigned bits) {
#if defined(__CUDA_ARCH__)
    return __ffs(static_cast<int>(bits)) - 1;
#else
    return bits == 0 ? -1 : 0;
#endif
  }
};

struct Threads {
  static constexpr std::int32_t warps = 8, count = 32 * warps;

  [[nodiscard]] static VICINITY_HD std::int32_t index() {
#if defined(__CUDA_ARCH__)
    return static_cast<std::int32_t>(threadIdx.x);
#else
    return 0;
#endif
  }
  static VICINITY_HD void sync() {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }

  template <class F>
  VICINITY_HD void each(std::int32_t number, const F& f) {
    for (std::int32_t i = index(); i < number; i += count) f(i);
    sync();
  }
  template <class F>
  VICINITY_HD void each_warp(std::int32_t number, const F& f) {
    for (std::int32_t i = index() / 32; i < number; i += warps) f(Lanes{index() / 32}, i);
    sync();
  }
  template <class F>
  VICINITY_HD void first_warp(const F& f) {
    if (index() < 32) f(Lanes{0});
    sync();
  }
  template <class F>
  VICINITY_HD void once(const F& f) {
    if (index() == 0) f();
    sync();
  }
  static VICINITY_HD void lower([[maybe_unused]] std::uint64_t* place, [[maybe_unused]] std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    atomicMin(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
#endif
  }
  static VICINITY_HD void raise([[maybe_unused]] std::uint64_t* place, [[maybe_unused]] std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
    atomicOr(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(bits));
#endif
  }
  static VICINITY_HD void add([[maybe_unused]] std::int64_t* place, [[maybe_unused]] std::int64_t value) {
#if defined(__CUDA_ARCH__)
    if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
#endif
  }
};

}  // namespace vicinity::alns::hybrid::block
