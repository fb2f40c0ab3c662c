#include "core/methods/sa/task.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/util/error.hpp"

namespace vicinity::sa {
namespace {

/// From t0 to tf; empty when the case has neither.
std::optional<annealing::Window> window_of(const Case& c) {
  const bool given = c.values.contains("t0");
  if (given != c.values.contains("tf")) throw InputError(fmt::format("{}: t0 and tf come together", c.problem));
  if (!given) return std::nullopt;
  const annealing::Window window{c.real("t0", 0), c.real("tf", 0)};
  if (window.hot < window.cold) throw InputError(fmt::format("{}: t0 = {} is below tf = {}", c.problem, window.hot, window.cold));
  return window;
}

}  // namespace

annealing::Task task_of(const Case& c) {
  annealing::Task task;
  task.iterations = c.integer("iterations", 1, most_iterations);
  task.chains = c.integer_or("chains", 1, 1, 65535);
  task.threads = c.integer_or("threads", 0, 0, 4096);
  if (c.values.contains("scope")) task.scope = c.name_or("scope", "", {"block", "cluster", "grid"});
  task.window = window_of(c);
  if (c.name_or("schedule", "connolly", {"connolly", "acceptance"}) == "acceptance") task.schedule = annealing::Schedule::acceptance;
  const bool connolly = task.schedule == annealing::Schedule::connolly;
  if (c.values.contains("samples") && !connolly) throw InputError(fmt::format("{}: samples is of the schedule connolly", c.problem));
  if (c.values.contains("leg") && connolly) throw InputError(fmt::format("{}: leg is of the schedule acceptance", c.problem));
  task.samples = c.integer_or("samples", task.samples, 1, 10'000'000'000);
  task.leg = c.integer_or("leg", task.leg, 1, most_iterations);
  return task;
}

}  // namespace vicinity::sa
