#include "core/methods/lsm/tour_search.hpp"

#include <algorithm>
#include <cstddef>

#include "core/util/error.hpp"

namespace vicinity::tour_search {
namespace {

std::string complaint(const tsp::Tsp& tsp, const Task& task, const Result& search, bool whole) {
  if (std::string what = tsp::complaint(tsp, search.tour); !what.empty()) return what;
  const std::int64_t length = tsp::length(tsp, search.tour);
  if (length != search.length) return "length " + std::to_string(length) + ", not " + std::to_string(search.length) + " as claimed";
  if (search.rounds > task.rounds) return "too many rounds";
  return whole && search.rounds < task.rounds && tsp.size() >= fewest_cities ? "stopped before its end" : "";
}

}  // namespace

Task task_of(const Case& c, const Instance& instance) {
  const auto* tsp = dynamic_cast<const tsp::Tsp*>(&instance);
  if (tsp == nullptr) throw DoesNotFit("searches tours alone");
  for (const char* axis : {"neighborhood", "method", "tenure"})
    if (c.values.contains(axis)) throw DoesNotFit(std::string("has no ") + axis + ": that is of the searches by swaps");
  const std::int32_t n = tsp->size();
  Task task;
  task.rounds = c.integer("iterations", 1, 1'000'000'000);
  task.restarts = c.integer_or("restarts", 1, 1, 65536);
  task.threads = c.integer_or("threads", 0, 0, 4096);
  task.walkers = static_cast<std::int32_t>(c.integer_or("walkers", 0, 0, 65536));
  if (task.walkers == 0) task.walkers = std::clamp(n / 250, 1, 128);
  task.walkers = std::min(task.walkers, n);
  task.kicks = static_cast<std::int32_t>(c.integer_or("kicks", 0, 0, 1'000'000));
  if (task.kicks == 0) task.kicks = std::max(25, n / 500);
  return task;
}

tsp::Tour canonical(tsp::Tour tour) {
  std::rotate(tour.begin(), std::find(tour.begin(), tour.end(), 0), tour.end());
  if (tour.size() > 2 && tour.back() < tour[1]) std::reverse(tour.begin() + 1, tour.end());
  return tour;
}

Outcome judge(const tsp::Tsp& tsp, const Task& task, const std::vector<Result>& searches, bool whole) {
  Outcome outcome;
  Digest digest;
  if (searches.empty() || (whole && static_cast<std::int64_t>(searches.size()) != task.restarts))
    outcome.complaint = std::to_string(searches.size()) + " searches, not " + std::to_string(task.restarts);
  std::int64_t kept = 0, dropped = 0;
  for (std::size_t k = 0; k < searches.size() && outcome.complaint.empty(); ++k) {
    const Result& search = searches[k];
    if (const std::string what = complaint(tsp, task, search, whole); !what.empty())
      outcome.complaint = "restart " + std::to_string(k) + ": " + what;
    for (const std::int64_t word : {search.length, search.rounds, search.evaluations, search.kept, search.dropped})
      digest.add(static_cast<std::uint64_t>(word));
    digest.add(search.digest.value());
    digest.add(search.tour);
    outcome.iterations += search.rounds;
    outcome.evaluations += search.evaluations;
    kept += search.kept;
    dropped += search.dropped;
  }
  outcome.feasible = outcome.complaint.empty();
  outcome.digest = digest.value();
  if (!outcome.feasible) return outcome;
  const auto& best =
      *std::min_element(searches.begin(), searches.end(), [](const Result& x, const Result& y) { return x.length < y.length; });
  outcome.objective = tsp::length(tsp, best.tour);
  outcome.solution = best.tour;
  outcome.counters = {{"kicks_kept", kept}, {"kicks_dropped", dropped}};
  return outcome;
}

}  // namespace vicinity::tour_search
