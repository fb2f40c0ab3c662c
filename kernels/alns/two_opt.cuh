#pragma once
// 2-opt to a local optimum (section 3.6): of a tour, again and again the best reversal of a part of it, least (delta, from, to).
#include <cstdint>

#include "core/methods/alns/task.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stream.cuh"

namespace vicinity::alns {

class TwoOpt {
 public:
  explicit TwoOpt(const vrp::View& vrp)
      : vrp_(vrp),
        order_(static_cast<std::size_t>(vrp.n)),
        first_(static_cast<std::size_t>(vrp.vehicles) + 1),
        change_(first_.size() - 1) {}

  /// Returns the change of the cost.
  [[nodiscard]] std::int64_t operator()(Tours& tours, const cuda::Stream& stream);

 private:
  vrp::View vrp_;  ///< on the device
  cuda::DeviceBuffer<std::int32_t> order_, first_, change_;
};

}  // namespace vicinity::alns
