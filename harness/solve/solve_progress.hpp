#pragma once
// What the user sees on stderr while a search goes on.
#include <cstdint>
#include <optional>
#include <string>

#include "harness/solve/solve.hpp"
#include "systems/file_extras.hpp"

namespace vicinity {

/// What the search is measured against.
struct SolveGoal {
  std::int64_t whole_work = 0;  ///< Outcome::iterations at the end
  std::string unit;             ///< what they count
  std::optional<double> seconds;
  std::optional<std::int64_t> best_known;
  std::int32_t scale = 1;  ///< of objectives
  const SolutionWords* words = nullptr;
};

/// " 42 %, 0:35 left, best 21125314 (gap 0.38 %), 48.1 M proposals/s"; after the best what `words` say of it.
[[nodiscard]] std::string progress_text(const SolveGoal& goal, const Outcome& outcome, double elapsed);

/// ", 12 routes"; empty where nothing is found, or asked.
[[nodiscard]] std::string solution_text(const SolutionWords* words, const Outcome& outcome);

/// "21125314 (gap 0.38 %)"; without the gap when nothing is known.
[[nodiscard]] std::string objective_text(const Objective& objective, std::optional<std::int64_t> best_known, std::int32_t scale);

/// On a terminal one line that changes; elsewhere a line now and then. Asking a run for its outcome costs time, so that it is asked
/// seldom: the questions take a fiftieth of the time at most.
class SolveProgress final : public SearchObserver {
 public:
  SolveProgress(SolveGoal goal, bool quiet);
  ~SolveProgress() override;
  SolveProgress(const SolveProgress&) = delete;
  SolveProgress& operator=(const SolveProgress&) = delete;

  void on_progress(Run& run, double elapsed) override;

 private:
  SolveGoal goal_;
  bool quiet_, terminal_;
  double interval_;  ///< seconds between lines
  double due_;
};

}  // namespace vicinity
