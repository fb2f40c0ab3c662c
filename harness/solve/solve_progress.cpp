#include "harness/solve/solve_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/cli/text.hpp"

namespace vicinity {

std::string objective_text(const Objective& objective, std::optional<std::int64_t> best_known, std::int32_t scale) {
  if (!objective) return "none";
  const auto gap = gap_percent(objective, best_known);
  const std::string text = objective_text(*objective, scale);
  if (!gap) return text;
  constexpr double shows = 0.005;  // without it, -0.00
  return fmt::format("{} (gap {:.2f} %)", text, std::abs(*gap) < shows ? 0 : *gap);
}

std::string progress_text(const SolveGoal& goal, const Outcome& outcome, double elapsed) {
  const double speed = elapsed > 0 ? static_cast<double>(outcome.iterations) / elapsed : 0;
  const double by_work = goal.whole_work > 0 ? static_cast<double>(outcome.iterations) / static_cast<double>(goal.whole_work) : 0;
  const double by_time = goal.seconds ? elapsed / *goal.seconds : 0;
  const double part = std::min(1.0, std::max(by_work, by_time));
  const std::string left = part > 0 ? clock_text(elapsed / part - elapsed) : "?";
  return fmt::format("{:3.0f} %, {} left, best {}{}, {} {}/s", 100 * part, left,
                     objective_text(outcome.objective, goal.best_known, goal.scale), solution_text(goal.words, outcome), human_count(speed),
                     goal.unit);
}

std::string solution_text(const SolutionWords* words, const Outcome& outcome) {
  return words == nullptr || outcome.solution.empty() ? "" : ", " + words->words_of(outcome.solution);
}

SolveProgress::SolveProgress(SolveGoal goal, bool quiet)
    : goal_(std::move(goal)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), interval_(terminal_ ? 0.5 : 10), due_(interval_) {}

SolveProgress::~SolveProgress() {
  if (terminal_ && !quiet_) print_stderr("\r\033[K");
}

void SolveProgress::on_progress(Run& run, double elapsed) {
  constexpr double share = 50;
  if (quiet_ || elapsed < due_) return;
  const Stopwatch asking;
  const std::string text = progress_text(goal_, run.outcome(), elapsed);
  const double cost = asking.seconds();
  print_stderr("{}{}{}", terminal_ ? "\r\033[K" : "", text, terminal_ ? "" : "\n");
  std::fflush(stderr);
  due_ = elapsed + std::max(interval_, share * cost);
}

}  // namespace vicinity
