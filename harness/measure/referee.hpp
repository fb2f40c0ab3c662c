#pragma once
// Judges results: builds instances, runs the reference implementation once a case where nobody did before, compares.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/api/system.hpp"
#include "harness/describe/descriptor.hpp"

namespace vicinity {

/// What a run gave, for judging: its trace serves checks of a prefix.
struct Verdict {
  Outcome outcome;
  Trace trace;
};

/// The implementation that the results of `implementation` are compared with: that of the check; but its own where digests count and it
/// takes another path than that one (Implementation::reference).
[[nodiscard]] std::string reference_of(const System& system, const Check& check, const Implementation& implementation);

/// As the system has it, which knows its units, or the catalogue; `instance` is null where its file is missing.
[[nodiscard]] std::optional<std::int64_t> best_known_of(const System& system, const Case& c, const Instance* instance);

class Referee {
 public:
  /// `system` must outlive the referee.
  Referee(const System& system, Check check) : system_(&system), given_(std::move(check)), check_(given_) {}

  /// From now on it judges results of this implementation.
  void turn_to(const Implementation& implementation) { check_.reference = reference_of(*system_, given_, implementation); }
  /// With the reference of the implementation it turned to.
  [[nodiscard]] const Check& check() const noexcept { return check_; }
  /// The case's instance; the last one built is kept.
  [[nodiscard]] std::shared_ptr<const Instance> instance(const Case& c);
  /// The best known objective of the case's instance.
  [[nodiscard]] std::optional<std::int64_t> best_known(const Case& c) { return best_known_of(*system_, c, instance(c).get()); }
  /// What the reference implementation gives, run at the first call for this case and seed: whole, or for a check of a prefix so many
  /// iterations. Throws DoesNotFit.
  [[nodiscard]] const Verdict& reference(const Case& c, std::uint64_t seed);
  /// Takes what the reference implementation gave when it was run anyway.
  void adopt(const Case& c, std::uint64_t seed, Verdict found);
  /// The same, as it was found before, by these very sources; `key` is the case's.
  void recall(const std::string& reference, const std::string& key, std::uint64_t seed, Outcome found);
  [[nodiscard]] bool knows(const std::string& reference, const std::string& key, std::uint64_t seed) const;
  /// What is wrong with `found`, in one line; empty when it passes.
  [[nodiscard]] std::string complaint(const Verdict& found, const Verdict& reference) const;

 private:
  [[nodiscard]] std::string prefix_complaint(const Trace& found, const Trace& expected) const;

  const System* system_;
  Check given_, check_;
  std::string instance_key_;
  std::shared_ptr<const Instance> instance_;
  std::map<std::string, Verdict> verdicts_;
};

}  // namespace vicinity
