#include "core/methods/lns/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/methods/lns/branching.hpp"
#include "core/methods/lns/cp_search.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"

namespace vicinity::lns {
namespace {

using Is = cp::Expression::Kind;

/// Failures until the model's own order is given up for a free search, and until that is.
constexpr std::int64_t most_failures = 20'000, most_free_failures = 1'000'000;

/// Its name in models, the paper's, and whether a number goes with it.
struct Named {
  std::string_view name, paper;
  LocalSearch search;
  bool repeated;
};
constexpr std::array<Named, 6> searches{{{"rl", "RL", LocalSearch::random_labeling, true},
                                         {"rp", "RP", LocalSearch::random_permutation, true},
                                         {"two_exchange", "2P", LocalSearch::two_exchange, false},
                                         {"gibbs", "GS", LocalSearch::gibbs, true},
                                         {"icm", "ICM", LocalSearch::conditional_mode, true},
                                         {"complete", "CE", LocalSearch::complete, false}}};

/// Permutations begin with the values of the incumbent (section 4: of s), the others with random ones.
StartingPoint usual_start(LocalSearch search) { return permutes(search) ? StartingPoint::current : StartingPoint::random; }

StartingPoint start_named(std::string_view name) {
  return name == "random" ? StartingPoint::random : name == "cp" ? StartingPoint::cp : StartingPoint::current;
}

class Reader {
 public:
  explicit Reader(const cp::Model& model) : model_(model) {}

  [[nodiscard]] std::optional<Directive> read() {
    std::optional<Directive> found;
    std::optional<StartingPoint> start;
    for (const cp::Expression& note : model_.elements(model_.search)) {
      const std::string_view name = name_of(note);
      if (name == "lns") {
        if (found) fail("two annotations lns");
        found = lns(note);
      } else if (name == "start_random" || name == "start_cp" || name == "start_current") {
        start = start_named(name.substr(6));
      }
    }
    if (found) found->task.start = start.value_or(usual_start(found->task.search));
    return found;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", model_.file, model_.search_line, what));
  }
  [[nodiscard]] std::string_view name_of(const cp::Expression& note) const {
    if (note.is(Is::call)) return model_.text(static_cast<cp::Name>(model_.elements(note)[0].value));
    return note.is(Is::atom) ? model_.text(static_cast<cp::Name>(note.value)) : std::string_view();
  }
  [[nodiscard]] Directive lns(const cp::Expression& call) const {
    const auto a = model_.elements(call);
    if (a.size() != 8) fail("lns(t, percent, strategy, m, h, s, timeout) has seven arguments");
    const auto number = [&](std::size_t k, std::int64_t low, std::int64_t high, std::string_view what) {
      if (!a[k].is(Is::integer) || a[k].value < low || a[k].value > high)
        fail(fmt::format("{} of lns(...) is a number from {} to {}", what, low, high));
      return a[k].value;
    };
    Directive found;
    Task& task = found.task;
    task.subsets = number(1, 1, most_walkers, "t");
    task.percent = number(2, 1, 100, "percent");
    strategy(a[3], task);
    task.starts = number(4, 1, most_walkers, "m");
    task.steps = number(5, 1, most_steps, "h");
    task.restarts = number(6, 0, most_steps, "s");
    found.seconds = number(7, 0, most_steps, "timeout");
    return found;
  }
  void strategy(const cp::Expression& note, Task& task) const {
    for (const Named& named : searches) {
      if (name_of(note) != named.name) continue;
      const bool has_number = note.is(Is::call) && note.size == 2 && model_.elements(note)[1].is(Is::integer);
      if (named.repeated != note.is(Is::call) || (named.repeated && !has_number))
        fail(fmt::format("strategy {} of lns(...) has {}", named.name, named.repeated ? "a number of repetitions" : "no arguments"));
      task.search = named.search;
      task.repetitions = named.repeated ? model_.elements(note)[1].value : 1;
      if (task.repetitions < 0 || task.repetitions > most_repetitions)
        fail(fmt::format("{} of lns(...) repeats 0 to {} times", named.name, most_repetitions));
      return;
    }
    fail("the strategy of lns(...) is rl(p), rp(p), two_exchange, gibbs(p), icm(sweeps) or complete");
  }

  const cp::Model& model_;
};

/// Throws where the numbers of the task do not fit the problem.
void check(const Task& task, const cp::Problem& problem, const std::string& name) {
  if (task.walkers() > most_walkers)
    throw InputError(
        fmt::format("{}: {} subsets with {} starting points each: at most {} together", name, task.subsets, task.starts, most_walkers));
  const std::int64_t released = released_of(task, problem);
  if (2 * static_cast<double>(task.repetitions + start_attempts) * static_cast<double>(released) >= 0x1p32)
    throw InputError(
        fmt::format("{}: {} repetitions on {} free variables: they draw more than 2^32 numbers", name, task.repetitions, released));
  const bool all = task.search == LocalSearch::complete;
  if (!all && task.search != LocalSearch::conditional_mode) return;
  std::vector<std::int64_t> sizes;
  for (std::int32_t k = 0; k < problem.free_variables().count; ++k) sizes.push_back(problem.free_variables().variables[k].size);
  std::sort(sizes.rbegin(), sizes.rend());
  if (!sizes.empty() && sizes.front() > most_enumerated)
    throw InputError(fmt::format("{}: a variable has {} values: ICM and CE go through {} at most", name, sizes.front(), most_enumerated));
  double combinations = 1;
  for (std::int64_t k = 0; all && k < released; ++k) combinations *= static_cast<double>(sizes[static_cast<std::size_t>(k)]);
  if (combinations > static_cast<double>(most_combinations))
    throw InputError(fmt::format("{}: {} free variables have more than 2^40 combinations of values: release fewer", name, released));
}

}  // namespace

std::optional<Directive> directive_of(const cp::Model& model) { return Reader(model).read(); }

Task task_of(const Case& c, const cp::Problem& problem) {
  const std::optional<Directive> directive = directive_of(problem.model());
  Task task = directive ? directive->task : Task{};
  task.subsets = c.integer_or("subsets", task.subsets, 1, most_walkers);
  task.starts = c.integer_or("starts", task.starts, 1, most_walkers);
  if (c.values.contains("released") && c.values.contains("percent"))
    throw InputError(c.problem + ": released and percent exclude each other");
  task.released = c.integer_or("released", 0, 1, most_walkers);
  task.percent = c.integer_or("percent", task.percent, 1, 100);
  if (c.values.contains("strategy")) {
    const std::string name = c.name_or("strategy", "RL", {"RL", "RP", "2P", "GS", "ICM", "CE"});
    task.search = std::find_if(searches.begin(), searches.end(), [&](const Named& named) { return named.paper == name; })->search;
    task.repetitions = 1;
    task.start = usual_start(task.search);
  }
  task.repetitions = c.integer_or("repetitions", task.repetitions, 0, most_repetitions);
  if (c.values.contains("start")) task.start = start_named(c.name_or("start", "random", {"random", "cp", "current"}));
  if (c.values.contains("steps")) task.restarts = 0;
  task.steps = c.integer_or("steps", task.steps, 1, most_steps);
  task.restarts = c.integer_or("restarts", task.restarts, 0, most_steps);
  task.threads = c.integer_or("threads", 0, 0, 4096);
  check(task, problem, c.problem);
  return task;
}

std::int64_t whole_of(const Case& c) { return c.integer("steps", 1, most_steps) * (c.integer_or("restarts", 0, 0, most_steps) + 1); }

std::int64_t cost_of(const cp::Model& model, std::span<const std::int32_t> values) {
  if (model.goal == cp::Goal::satisfy) return 0;
  const cp::Expression& objective = model.objective;
  const std::int64_t value = objective.is(Is::variable) ? values[static_cast<std::size_t>(objective.value)] : objective.value;
  return model.goal == cp::Goal::maximise ? -value : value;
}

std::int64_t released_of(const Task& task, const cp::Problem& problem) {
  const std::int64_t free = problem.free_variables().count;
  const std::int64_t wanted = task.released > 0 ? task.released : std::max<std::int64_t>(1, free * task.percent / 100);
  return std::min(wanted, free);
}

std::vector<std::int32_t> first_solution(const cp::Problem& problem, const std::atomic<bool>* stop) {
  const cp::CompiledModel& compiled = problem.compiled();
  for (const bool free : {false, true}) {
    CpSearch search(problem.model(), compiled, strategy_of(problem.model(), compiled), 1, free);
    SearchLimits limits;
    limits.failures = free ? most_free_failures : most_failures;
    limits.stop = stop;
    const CpSearch::Status status = search.next(limits);
    if (status == CpSearch::Status::exhausted) return {};
    if (status == CpSearch::Status::limit) continue;
    std::vector<std::int32_t> values;
    for (const cp::Var x : compiled.variable_of) values.push_back(search.values()[static_cast<std::size_t>(x)]);
    return values;
  }
  return {};
}

void check_start(const cp::Problem& problem, const Start& start) {
  if (!start.solution) return;
  if (const std::string what = cp::complaint(problem.model(), *start.solution); !what.empty())
    throw InputError("the start is no solution: " + what);
}

Outcome judge(const cp::Problem& problem, const std::vector<Search>& searches) {
  Outcome outcome;
  outcome.objective = Objective::infeasible(problem.sense());
  if (searches.empty()) return outcome;
  const Search& search = searches.front();
  outcome.iterations = search.steps;
  outcome.evaluations = search.evaluations;
  Digest digest;
  for (const std::int64_t word : {search.steps, search.evaluations, search.started, search.cost})
    digest.add(static_cast<std::uint64_t>(word));
  digest.add(search.digest);
  digest.add(search.best);
  outcome.digest = digest.value();
  if (search.best.empty()) {  // a result, too: twins agree on it
    outcome.complaint = "CP search finds no first solution";
    return outcome;
  }
  outcome.solution = search.best;
  outcome.complaint = cp::complaint(problem.model(), search.best);
  outcome.feasible = outcome.complaint.empty();
  if (!outcome.feasible) return outcome;
  outcome.objective = problem.objective(search.best);
  const std::int64_t sign = problem.sense() == Sense::maximise ? -1 : 1;
  if (*outcome.objective != sign * search.cost) {
    outcome.feasible = false;
    outcome.complaint = fmt::format("objective {}, not {} as claimed", *outcome.objective, sign * search.cost);
  }
  outcome.counters = {{"first", sign * search.first}, {"started", search.started}};
  return outcome;
}

}  // namespace vicinity::lns
