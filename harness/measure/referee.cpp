#include "harness/measure/referee.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "harness/cli/text.hpp"

namespace vicinity {
namespace {

std::string outcome_key(const Case& c, std::uint64_t seed) { return fmt::format("{};seed={}", c.key(), seed); }

std::string objective_text(const std::optional<std::int64_t>& objective) { return objective ? fmt::format("{}", *objective) : "none"; }

/// Relative to the reference, and absolute near 0.
bool within(std::int64_t value, std::int64_t expected, double tolerance) {
  const auto difference = std::abs(static_cast<double>(value) - static_cast<double>(expected));
  return difference <= tolerance * std::max(1.0, std::abs(static_cast<double>(expected)));
}

}  // namespace

std::shared_ptr<const Instance> Referee::instance(const Case& c) {
  const std::string key = c.key();
  if (!instance_ || key != instance_key_) {
    instance_.reset();  // first, so that two large instances never stand side by side
    instance_ = system_->instance(c);
    instance_key_ = key;
  }
  return instance_;
}

const Outcome& Referee::reference(const Case& c, std::uint64_t seed) {
  const std::string key = outcome_key(c, seed);
  if (const auto known = outcomes_.find(key); known != outcomes_.end()) return known->second;
  const auto& all = system_->implementations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& i) { return i.name == check_.reference; });
  if (found == all.end() || (found->backend == Backend::gpu && !device::info()))
    throw DoesNotFit(fmt::format("the reference {} cannot run here", check_.reference));
  const auto data = instance(c);
  const auto run = found->prepare(c, *data);
  run->reset(seed);
  run->execute();
  return outcomes_.emplace(key, run->outcome()).first->second;
}

void Referee::adopt(const Case& c, std::uint64_t seed, Outcome outcome) { outcomes_.emplace(outcome_key(c, seed), std::move(outcome)); }

std::string Referee::complaint(const Outcome& outcome, const Outcome& reference) const {
  if (!outcome.feasible) return "infeasible: " + (outcome.complaint.empty() ? "the oracle rejects the result" : outcome.complaint);
  if (!reference.feasible)
    return fmt::format("the reference {} is infeasible: {}", check_.reference,
                       reference.complaint.empty() ? "rejected by the oracle" : reference.complaint);
  if (check_.identical) {
    if (outcome.digest != reference.digest)
      return fmt::format("digest {}, {} has {}", hex16(outcome.digest), check_.reference, hex16(reference.digest));
    if (outcome.objective != reference.objective)
      return fmt::format("objective {}, {} has {}", objective_text(outcome.objective), check_.reference,
                         objective_text(reference.objective));
    if (outcome.iterations != reference.iterations)
      return fmt::format("{} iterations, {} has {}", outcome.iterations, check_.reference, reference.iterations);
    return "";
  }
  if (!outcome.objective || !reference.objective) return "no objective to compare; use the check 'identical'";
  if (!within(*outcome.objective, *reference.objective, check_.tolerance))
    return fmt::format("objective {}, {} has {}: beyond the tolerance {}", *outcome.objective, check_.reference, *reference.objective,
                       check_.tolerance);
  return "";
}

}  // namespace vicinity
