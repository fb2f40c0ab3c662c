#include "core/methods/alns/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"

namespace vicinity::alns {

Task task_of(const Case& c, Variant variant) {
  Task task;
  task.variant = variant;
  task.processes = static_cast<std::int32_t>(c.integer_or("processes", task.processes, 1, most_processes));
  task.calls = c.integer_or("calls", 0, 0, most_calls);
  task.threads = c.integer_or("threads", 0, 0, 4096);
  task.removals = static_cast<std::int32_t>(c.integer_or("removals", task.removals, 1, most_removals));
  if (c.values.contains("memory")) task.memory = c.name_or("memory", "", {"shared", "global"});
  return task;
}

std::int32_t fewest_tours(const vrp::View& vrp) {
  const std::int64_t demand = std::accumulate(vrp.demand + 1, vrp.demand + vrp.n + 1, std::int64_t{0});
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, (demand + vrp.capacity - 1) / vrp.capacity));
}

void check_start(const vrp::Vrp& vrp, const Start& start) {
  if (!start.solution) return;
  if (const std::string what = vrp::complaint(vrp, *start.solution); !what.empty()) throw InputError("the start is no solution: " + what);
}

Outcome judge(const vrp::Vrp& vrp, const std::vector<Search>& searches) {
  Outcome outcome;
  outcome.objective = Objective::infeasible();
  if (searches.empty()) return outcome;
  const Search& search = searches.front();
  outcome.iterations = search.calls;
  outcome.evaluations = search.evaluations;
  Digest digest;
  digest.add(search.digest);
  if (search.best.empty()) {  // a result, too: twins agree on it
    outcome.complaint = vrp::unservable(vrp);
    if (outcome.complaint.empty())
      outcome.complaint = fmt::format("no first solution serves all customers, {} (vehicles: {})", vrp.size(), vrp.view().vehicles);
    outcome.digest = digest.value();
    return outcome;
  }
  outcome.solution = vrp::encoded(search.best);
  for (const std::int64_t word : {search.calls, search.restarts, search.evaluations, search.cost})
    digest.add(static_cast<std::uint64_t>(word));
  digest.add(outcome.solution);
  outcome.digest = digest.value();
  outcome.complaint = vrp::complaint(vrp, outcome.solution);
  outcome.feasible = outcome.complaint.empty();
  if (!outcome.feasible) return outcome;
  outcome.objective = vrp::cost(vrp, outcome.solution);
  if (*outcome.objective != search.cost) {
    outcome.feasible = false;
    outcome.complaint = fmt::format("cost {}, not {} as claimed", *outcome.objective, search.cost);
  }
  outcome.counters = {{"restarts", search.restarts}, {"routes", static_cast<std::int64_t>(vrp::routes_of(outcome.solution).size())}};
  if (search.children > 0) outcome.counters["children"] = search.children;
  return outcome;
}

}  // namespace vicinity::alns
