#pragma once
// What the FileFormat of a system may offer `vicinity solve` beside what all do: it is one of these classes, too. Nothing here computes a
// result, and so the hash of sources leaves this file out.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/api/system.hpp"

namespace vicinity {

/// Pictures of solutions.
class SolutionDrawing {
 public:
  virtual ~SolutionDrawing() = default;
  /// As SVG; of an empty solution the instance alone. Throws InputError (without a file's name) where the instance has no coordinates.
  [[nodiscard]] virtual std::string drawing_of(const Instance& instance, const Solution& solution) const = 0;
};

/// What people ask of a solution beside its objective.
class SolutionWords {
 public:
  virtual ~SolutionWords() = default;
  /// "12 routes".
  [[nodiscard]] virtual std::string words_of(const Solution& solution) const = 0;
};

/// Settings that change the instance, and may mend one that nothing solves.
class InstanceSettings {
 public:
  virtual ~InstanceSettings() = default;
  /// Of them, those that are options, too: --vehicles=5 is --set vehicles=5.
  [[nodiscard]] virtual std::vector<std::string> options() const = 0;
  /// As the case's values want it. Throws InputError (without a file's name).
  [[nodiscard]] virtual std::shared_ptr<const Instance> with_settings(std::shared_ptr<const Instance> instance, const Case& c) const = 0;
  /// Why nothing solves it; empty where something may.
  [[nodiscard]] virtual std::string unsolvable(const Instance& instance) const = 0;
};

/// Solution files that may say which instance they are of.
class NamedSolutions {
 public:
  virtual ~NamedSolutions() = default;
  /// Where a solution that can be read says that it is one of another instance, that in one line, "file:line: ..."; else empty.
  [[nodiscard]] virtual std::string of_another(const Instance& instance, const std::string& file) const = 0;
};

/// Settings of a search that time ends, so that it is the same on no two machines anyway.
class TimedSettings {
 public:
  virtual ~TimedSettings() = default;
  /// What suits so many threads, where the user says nothing.
  [[nodiscard]] virtual std::map<std::string, Value> timed(const std::string& implementation, std::int64_t threads) const = 0;
};

/// Searches that may go on until the time is over, with no work planned for it: a longer one only takes more of the same steps.
class EndlessSearches {
 public:
  virtual ~EndlessSearches() = default;
  /// Is this case one of them, where the implementation has no pace of its own?
  [[nodiscard]] virtual bool endless(const Case& c) const = 0;
};

/// Searches that are planned for the time, and go on from their best where they end before it.
class FurtherSearches {
 public:
  virtual ~FurtherSearches() = default;
  /// What may make the best of `c` better in the time that is left; its work is chosen then. Once `stop` is raised the answer is of no use.
  [[nodiscard]] virtual Case further(const Case& c, const Instance& instance, const std::atomic<bool>& stop) const = 0;
};

/// What a solver offers of these; null: not this.
template <class Extra>
[[nodiscard]] const Extra* extra_of(const Solver& solver) {
  return dynamic_cast<const Extra*>(solver.files.get());
}

}  // namespace vicinity
