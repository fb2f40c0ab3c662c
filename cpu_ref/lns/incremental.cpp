// cpu-openmp: walkers on all cores, whose engine evaluates what has changed (incremental.hpp).
#include "core/methods/lns/incremental.hpp"

#include <omp.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu_ref/lns/implementations.hpp"
#include "cpu_ref/lns/run.hpp"

namespace vicinity::lns {

std::unique_ptr<Run> search_from(const cp::Problem& problem, const Task& task, std::optional<std::vector<std::int32_t>> first) {
  return cpu_run<Incremental<Violations>>(problem, task, std::move(first),
                                          task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads());
}

std::unique_ptr<Run> prepare_openmp(const Case& c, const Instance& instance) {
  const auto& problem = dynamic_cast<const cp::Problem&>(instance);
  return search_from(problem, task_of(c, problem), std::nullopt);
}

}  // namespace vicinity::lns
