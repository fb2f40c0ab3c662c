#pragma once
// Weighted one-max: choose n bits so that the sum of the weights of those that are one is as large as can be. Weights may be negative, so
// the best known value, the sum of the positive ones, takes a search to reach; a search that goes uphill always reaches it. That makes it a
// good example: small, exact, and maximised.
//
// The contract of the climb, which all implementations share: start from bits drawn from the seed; each iteration flips the bit with the
// largest gain, the lowest number among equals; it ends when no flip gains.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/util/digest.hpp"
#include "core/util/hd.hpp"

namespace vicinity::one_max {

/// Immutable weights.
class Weights final : public Instance {
 public:
  /// n weights uniform in [-range, range], drawn from `seed`.
  Weights(std::int32_t n, std::int32_t range, std::uint64_t seed);

  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] const std::vector<std::int32_t>& values() const noexcept { return values_; }
  [[nodiscard]] std::int32_t size() const noexcept { return static_cast<std::int32_t>(values_.size()); }

 private:
  std::vector<std::int32_t> values_;
};

/// Change of the sum when a bit of this weight flips.
VICINITY_HD std::int32_t gain(std::int32_t weight, std::int32_t bit) { return bit == 0 ? weight : -weight; }

/// One climb: the bits, where it is, and the digest of its moves.
struct Climb {
  Solution bits;  ///< each 0 or 1
  std::int64_t sum = 0;
  std::int64_t iterations = 0;
  Digest moves;
  bool at_top = false;  ///< no flip gains
};

/// The start of a climb. Throws InputError when the given one is no vector of n bits.
[[nodiscard]] Climb begin(const Weights& weights, const Start& start);

/// The oracle: the sum from its definition. Shares no code with gain().
[[nodiscard]] std::int64_t sum_of(const Weights& weights, const Solution& bits);

/// Judged by the oracle. `whole`: the climb must have come to its end.
[[nodiscard]] Outcome judge(const Weights& weights, const Climb& climb, bool whole);
[[nodiscard]] TracePoint progress_of(const Climb& climb);

[[nodiscard]] std::vector<Implementation> cpu_implementations();
[[nodiscard]] std::vector<Implementation> gpu_implementations();

}  // namespace vicinity::one_max
