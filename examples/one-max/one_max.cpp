#include "one_max.hpp"

#include "core/util/error.hpp"
#include "core/util/rng.hpp"

namespace vicinity::one_max {
namespace {

/// What is wrong with the bits; empty when nothing is.
std::string complaint(const Weights& weights, const Solution& bits) {
  if (bits.size() != weights.values().size()) return std::to_string(bits.size()) + " bits, not " + std::to_string(weights.size());
  for (const std::int32_t bit : bits)
    if (bit != 0 && bit != 1) return "a bit is " + std::to_string(bit);
  return "";
}

}  // namespace

Weights::Weights(std::int32_t n, std::int32_t range, std::uint64_t seed) {
  const auto values = static_cast<std::uint64_t>(range) * 2 + 1;
  for (std::int32_t i = 0; i < n; ++i)
    values_.push_back(static_cast<std::int32_t>(scale_to(random_bits(seed, static_cast<std::uint64_t>(i), 0, 1), values)) - range);
}

std::uint64_t Weights::hash() const {
  Digest digest;
  digest.add(values_);
  return digest.value();
}

std::int64_t sum_of(const Weights& weights, const Solution& bits) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) sum += std::int64_t{weights.values()[i]} * bits[i];
  return sum;
}

Climb begin(const Weights& weights, const Start& start) {
  Climb climb;
  if (start.solution) {
    climb.bits = *start.solution;
  } else {
    for (std::int32_t i = 0; i < weights.size(); ++i)
      climb.bits.push_back(static_cast<std::int32_t>(random_bits(start.seed, static_cast<std::uint64_t>(i), 0, 0) & 1));
  }
  if (const std::string what = complaint(weights, climb.bits); !what.empty()) throw InputError("the start is no solution: " + what);
  climb.sum = sum_of(weights, climb.bits);
  return climb;
}

Outcome judge(const Weights& weights, const Climb& climb, bool whole) {
  Outcome outcome;
  outcome.complaint = complaint(weights, climb.bits);
  if (outcome.complaint.empty() && sum_of(weights, climb.bits) != climb.sum)
    outcome.complaint = "sum " + std::to_string(sum_of(weights, climb.bits)) + ", not " + std::to_string(climb.sum) + " as claimed";
  if (outcome.complaint.empty() && whole && !climb.at_top) outcome.complaint = "stopped before its end";
  outcome.feasible = outcome.complaint.empty();
  Digest digest = climb.moves;
  digest.add(climb.bits);
  outcome.digest = digest.value();
  outcome.objective = {climb.sum, Sense::maximise};
  outcome.iterations = climb.iterations;
  outcome.evaluations = (climb.iterations + (climb.at_top ? 1 : 0)) * weights.size();
  outcome.solution = climb.bits;
  return outcome;
}

TracePoint progress_of(const Climb& climb) {
  return {.iterations = climb.iterations, .objective = {climb.sum, Sense::maximise}, .digest = climb.moves.value()};
}

}  // namespace vicinity::one_max
