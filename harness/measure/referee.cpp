#include "harness/measure/referee.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "data/catalogue.hpp"
#include "harness/cli/text.hpp"

namespace vicinity {
namespace {

std::string outcome_key(const std::string& reference, const std::string& key, std::uint64_t seed) {
  return fmt::format("{};{};seed={}", reference, key, seed);
}

std::string objective_text(const Objective& objective) { return objective ? fmt::format("{}", *objective) : "none"; }

/// Relative to the reference, and absolute near 0.
bool within(std::int64_t value, std::int64_t expected, double tolerance) {
  const auto difference = std::abs(static_cast<double>(value) - static_cast<double>(expected));
  return difference <= tolerance * std::max(1.0, std::abs(static_cast<double>(expected)));
}

}  // namespace

std::string reference_of(const System& system, const Check& check, const Implementation& implementation) {
  if (check.kind == Check::Kind::tolerance || implementation.reference.empty()) return check.reference;
  const auto& all = system.implementations;
  const auto given = std::find_if(all.begin(), all.end(), [&](const Implementation& i) { return i.name == check.reference; });
  const bool same_path = given != all.end() && given->reference == implementation.reference;
  return same_path || check.reference == implementation.reference ? check.reference : implementation.reference;
}

std::optional<std::int64_t> best_known_of(const System& system, const Case& c, const Instance* instance) {
  if (system.best_known) return system.best_known(c, instance);
  if (!c.instance.empty() && catalogue().contains(c.instance)) return best_value(catalogue().at(c.instance));
  return std::nullopt;
}

std::shared_ptr<const Instance> Referee::instance(const Case& c) {
  const std::string key = c.key();
  if (!instance_ || key != instance_key_) {
    instance_.reset();  // first, so that two large instances never stand side by side
    instance_ = system_->instance(c);
    instance_key_ = key;
  }
  return instance_;
}

const Verdict& Referee::reference(const Case& c, std::uint64_t seed) {
  const std::string key = outcome_key(check_.reference, c.key(), seed);
  if (const auto known = verdicts_.find(key); known != verdicts_.end()) return known->second;
  const auto& all = system_->implementations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& i) { return i.name == check_.reference; });
  if (found == all.end() || (found->backend == Backend::gpu && !device::info()))
    throw DoesNotFit(fmt::format("the reference {} cannot run here", check_.reference));
  const auto data = instance(c);
  const auto run = found->prepare(c, *data);
  run->reset(seed);
  Budget budget;
  if (check_.kind == Check::Kind::prefix) budget.iterations = check_.iterations;
  static_cast<void>(run->execute(budget));
  return verdicts_.emplace(key, Verdict{run->outcome(), run->trace()}).first->second;
}

void Referee::adopt(const Case& c, std::uint64_t seed, Verdict found) {
  if (check_.kind == Check::Kind::prefix)  // what came after the prefix need not come again: the clock may have ended it
    std::erase_if(found.trace, [&](const TracePoint& point) { return point.iterations > check_.iterations; });
  verdicts_.emplace(outcome_key(check_.reference, c.key(), seed), std::move(found));
}

void Referee::recall(const std::string& reference, const std::string& key, std::uint64_t seed, Outcome found) {
  verdicts_.emplace(outcome_key(reference, key, seed), Verdict{std::move(found), {}});
}

bool Referee::knows(const std::string& reference, const std::string& key, std::uint64_t seed) const {
  return verdicts_.contains(outcome_key(reference, key, seed));
}

std::string Referee::complaint(const Verdict& found, const Verdict& expected) const {
  const Outcome &outcome = found.outcome, &reference = expected.outcome;
  if (!outcome.feasible) return "infeasible: " + (outcome.complaint.empty() ? "the oracle rejects the result" : outcome.complaint);
  if (!reference.feasible)
    return fmt::format("the reference {} is infeasible: {}", check_.reference,
                       reference.complaint.empty() ? "rejected by the oracle" : reference.complaint);
  if (check_.kind == Check::Kind::prefix) return prefix_complaint(found.trace, expected.trace);
  if (check_.kind == Check::Kind::identical) {
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

std::string Referee::prefix_complaint(const Trace& found, const Trace& expected) const {
  if (expected.empty()) return fmt::format("the reference {} has no trace to compare a prefix with", check_.reference);
  const TracePoint& boundary = expected.back();  // where the prefix ends, or earlier the search itself
  const auto there =
      std::find_if(found.begin(), found.end(), [&](const TracePoint& point) { return point.iterations == boundary.iterations; });
  if (there == found.end()) return fmt::format("its trace has no boundary at iteration {}", boundary.iterations);
  if (there->digest != boundary.digest)
    return fmt::format("digest {} at iteration {}, {} has {}", hex16(there->digest), boundary.iterations, check_.reference,
                       hex16(boundary.digest));
  return "";
}

}  // namespace vicinity
