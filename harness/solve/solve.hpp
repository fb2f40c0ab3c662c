#pragma once
// `vicinity solve`: from the names the user gave to a search under way and the best it found. Files and printing are elsewhere.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/system.hpp"
#include "harness/cli/options.hpp"

namespace vicinity {

/// The system called `name`; it has a solver. Throws InputError with a hint.
[[nodiscard]] const System& solvable_system(const std::vector<System>& systems, const std::string& name);

/// 100000000, 1e8 and 2.5e6 as whole numbers from 1 to `most`. Throws InputError that begins with `option`.
[[nodiscard]] std::int64_t parse_work(const std::string& option, const std::string& text, std::int64_t most);

/// "axis=value" settings as a case, without the work axis. Throws InputError with a hint for an axis the solver does not list.
[[nodiscard]] Case case_of(const Solver& solver, const std::vector<std::string>& settings);

/// The instance in the file, or of the catalogue when there is no such file. Throws InputError, which names the one of `systems` that takes
/// what this one does not.
[[nodiscard]] std::shared_ptr<const Instance> instance_of(const System& system, const std::string& file_or_name,
                                                          const std::vector<System>& systems);

/// The file it was read from; empty where there is none.
[[nodiscard]] std::filesystem::path instance_path(const std::string& file_or_name);

/// What may be tried, best first: the one asked for, or the solver's preference and then the reference, without what cannot run here.
/// Throws InputError for an unknown name, EnvironmentError when it needs a GPU that is not here.
[[nodiscard]] std::vector<const Implementation*> candidates(const System& system, const std::string& name, bool has_device);

/// Implementations with the same result, ordered by the time that the whole case is expected to take with them on this machine; what cannot
/// run it last. Each is tried with short searches, of about `seconds` in all.
[[nodiscard]] std::vector<const Implementation*> fastest_first(const std::vector<const Implementation*>& twins, const Solver& solver,
                                                               const Case& c, const Instance& instance, std::uint64_t seed, double seconds);

struct Prepared {
  const Implementation* implementation = nullptr;
  std::unique_ptr<Run> run;
};

/// The first of `candidates` that the case fits. Throws what the last one threw when none does, and InputError for a value that is wrong
/// for one, whatever the next ones make of it.
[[nodiscard]] Prepared prepare_first(const std::vector<const Implementation*>& candidates, const Case& c, const Instance& instance);

/// What iterations are for people.
[[nodiscard]] inline const std::string& unit_of(const Solver& solver, const Implementation& implementation) {
  return implementation.pace ? implementation.pace->unit : solver.unit;
}

/// The value of the work axis with which the search ends a little before `seconds` are over, by the speed of short searches. They take
/// about a twentieth of the time.
[[nodiscard]] std::int64_t work_within(double seconds, const Solver& solver, const Implementation& implementation, Case c,
                                       const Instance& instance, std::uint64_t seed);

enum class Stop { done, time, target, signal };

struct Found {
  Outcome outcome;
  double seconds = 0;
  Stop stop = Stop::done;

  [[nodiscard]] double speed() const { return seconds > 0 ? static_cast<double>(outcome.iterations) / seconds : 0; }
};

/// Is told how a search goes on, after every slice of work.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  virtual void on_progress(Run& run, double elapsed) = 0;
};

/// Searches until the work is done, `seconds` are over, the objective reaches `target` or a signal asks to stop (stop_requested()).
/// `at_start`: the target is looked for before the first iteration, too, which may take long; the run stops at 0 iterations.
[[nodiscard]] Found search(Run& run, const Start& start, std::optional<double> seconds, std::optional<std::int64_t> target,
                           SearchObserver& observer, bool at_start = false);

}  // namespace vicinity
