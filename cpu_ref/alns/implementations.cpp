// The CPU implementations of adaptive large neighbourhood search.
#include "cpu_ref/alns/implementations.hpp"

namespace vicinity::alns {
namespace {

auto preparing(std::unique_ptr<Run> (*prepare)(const Task&, const Instance&), Variant variant = Variant::published) {
  return [=](const Case& c, const Instance& instance) { return prepare(task_of(c, variant), instance); };
}

}  // namespace

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-recompute", Backend::cpu, "one core: every insertion evaluated again in every repair step (Algorithms 2 and 3)",
       "integer throughput of one core, waiting for gathers", preparing(prepare_recompute)},
      {"cpu-serial", Backend::cpu, "one core, one process after the other: the best insertion of each request into each tour is kept",
       "integer throughput of one core", preparing(prepare_serial)},
      {"cpu-openmp", Backend::cpu, "all cores: as cpu-serial, a process a thread", "integer throughput of all cores",
       preparing(prepare_openmp)},
  };
}

std::vector<Implementation> cpu_variants() {
  return {
      {.name = "cpu-genetic",
       .backend = Backend::cpu,
       .summary = "all cores: cpu-openmp with the paper's genetic algorithm: children of local incumbents take the place of bad processes",
       .limit = "integer throughput of all cores",
       .prepare = preparing(prepare_openmp, Variant::genetic),
       .reference = "cpu-genetic"},
      {.name = "cpu-local-search",
       .backend = Backend::cpu,
       .summary = "all cores: cpu-openmp with local search in every call: 2-opt of current solutions and incumbents at its end",
       .limit = "integer throughput of all cores",
       .prepare = preparing(prepare_openmp, Variant::local_search),
       .reference = "cpu-local-search"},
  };
}

}  // namespace vicinity::alns
