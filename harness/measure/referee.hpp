#pragma once
// Judges results: builds instances, runs the reference implementation once a case, compares.
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "core/api/run.hpp"
#include "harness/describe/descriptor.hpp"

namespace vicinity {

class Referee {
 public:
  /// `system` must outlive the referee.
  Referee(const System& system, Check check) : system_(&system), check_(std::move(check)) {}

  [[nodiscard]] const Check& check() const noexcept { return check_; }
  /// The case's instance; the last one built is kept.
  [[nodiscard]] std::shared_ptr<const Instance> instance(const Case& c);
  /// The reference implementation's outcome, run at the first call for this case and seed. Throws DoesNotFit.
  [[nodiscard]] const Outcome& reference(const Case& c, std::uint64_t seed);
  /// Takes an outcome of the reference implementation that was computed anyway.
  void adopt(const Case& c, std::uint64_t seed, Outcome outcome);
  /// What is wrong with `outcome`, in one line; empty when it passes.
  [[nodiscard]] std::string complaint(const Outcome& outcome, const Outcome& reference) const;

 private:
  const System* system_;
  Check check_;
  std::string instance_key_;
  std::shared_ptr<const Instance> instance_;
  std::map<std::string, Outcome> outcomes_;
};

}  // namespace vicinity
