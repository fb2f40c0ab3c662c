#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "core/methods/lns/task.hpp"
#include "core/problems/cp/oracle.hpp"
#include "core/util/error.hpp"
#include "core/util/rng.hpp"
#include "cpu_ref/lns/implementations.hpp"
#include "data/models.hpp"
#include "kernels/lns/implementations.hpp"
#include "systems/axes.hpp"
#include "systems/list.hpp"

namespace vicinity::lns {
namespace {

Case random_case(std::uint64_t seed) {
  std::uint32_t draw = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed, 1, 0, draw++), static_cast<std::uint64_t>(bound)));
  };
  Case c{"random", "", {}};
  const std::int64_t variables = 1 + below(below(4) == 0 ? 60 : 12);
  c.values["variables"] = variables;
  c.values["constraints"] = below(2 * variables + 2);
  c.values["domain"] = 1 + below(below(5) == 0 ? 200 : 9);
  c.values["instance_seed"] = below(1 << 20);
  constexpr std::array<const char*, 6> strategies{"RL", "RP", "2P", "GS", "ICM", "CE"};
  const std::int64_t strategy = below(6);
  c.values["strategy"] = std::string(strategies[static_cast<std::size_t>(strategy)]);
  if (strategy != 2 && strategy != 5) c.values["repetitions"] = below(4);
  constexpr std::array<const char*, 3> starts{"random", "cp", "current"};
  c.values["start"] = std::string(starts[static_cast<std::size_t>(below(3))]);
  c.values["subsets"] = 1 + below(5);
  c.values["starts"] = 1 + below(9);
  c.values["released"] = strategy == 5 ? 1 + below(2) : 1 + below(variables + 2);
  c.values["steps"] = 1 + below(4);
  c.values["restarts"] = below(3);
  return c;
}

const cp::Problem& as_problem(const Instance& instance) { return dynamic_cast<const cp::Problem&>(instance); }

class Models final : public FileFormat {
 public:
  [[nodiscard]] std::shared_ptr<const Instance> read(const std::string& file) const override { return read_model(file); }
  [[nodiscard]] std::string problem_of(const Instance&) const override { return "flatzinc"; }
  [[nodiscard]] std::string size_of(const Instance& instance) const override { return size_text(as_problem(instance)); }
  [[nodiscard]] std::optional<std::int64_t> best_known_of(const Instance& instance) const override {
    return vicinity::best_known_of(as_problem(instance));
  }
  [[nodiscard]] std::string solution_suffix(const Instance&) const override { return ".sol"; }
  [[nodiscard]] Solution read_solution(const Instance& instance, const std::string& file) const override {
    const Solution values = read_model_solution(as_problem(instance), file);
    if (const std::string what = cp::complaint(as_problem(instance).model(), values); !what.empty())
      throw InputError(file + ": no solution: " + what);
    return values;
  }
  [[nodiscard]] Objective objective_of(const Instance& instance, const Solution& solution) const override {
    return as_problem(instance).objective(solution);
  }
  [[nodiscard]] std::string text_of(const Instance& instance, const Solution& solution) const override {
    return model_solution_text(as_problem(instance), solution);
  }
  [[nodiscard]] std::string instance_text(const Case& c, const Instance&) const override { return model_text(c); }
};

Solver solver() {
  Solver solver;
  solver.files = std::make_shared<Models>();
  solver.families = {"minizinc"};
  solver.format = "FlatZinc .fzn";
  solver.solution_suffix = ".sol";
  solver.work_axis = "steps";
  solver.unit = "steps";
  solver.default_work = 100;
  solver.most_work = most_steps;
  solver.settings = {"subsets", "released", "percent", "starts", "strategy", "repetitions", "start", "restarts", "threads"};
  solver.preference = {"cpu-lns"};
  solver.anytime = true;
  solver.whole_work = whole_of;
  return solver;
}

}  // namespace
}  // namespace vicinity::lns

namespace vicinity {

System systems::lns() {
  using namespace lns;
  System system;
  system.name = "lns";
  system.title = "Large neighbourhood search for constraint optimisation (Campeotto, Dovier, Fioretto, Pontelli)";
  const std::vector<Axis> own{
      {"subsets",
       "t, random subsets of the free variables a step: from 1 (default 10); neighbourhoods a round of cpu-lns (default 8) and gpu-lns "
       "(256)"},
      {"released", "|N|, free variables of a subset; no more than there are"},
      {"percent", "instead: this part of the free variables, 1 to 100 (default 30)"},
      {"starts", "m, starting points a subset: from 1 (default 10)"},
      {"strategy", "local search from them (section 4): RL, RP, 2P, GS, ICM or CE (default RL)"},
      {"repetitions", "p of RL, RP and GS, sweeps of ICM: from 0 (default 1)"},
      {"start", "starting points: random values, cp (random values, propagated) or current (default current for RP and 2P, else random)"},
      {"steps", "h, improving steps a pass (default 10); rounds of cpu-lns and gpu-lns"},
      {"restarts", "s, further passes from the first solution (default 0)"},
      {"threads", "threads of cpu-openmp and cpu-lns: 1 to 4096 (default all cores); others ignore it"}};
  const auto problem = [&](const std::string& name, const std::string& meaning) {
    return Problem{name, meaning, joined(model_axes(name), own)};
  };
  system.problems = {problem("flatzinc", "a FlatZinc model of the catalogue, or a file"),
                     problem("csp", "random disequalities (Table 1)"),
                     problem("mkcp", "the modified colouring problem of a graph of the catalogue (Table 2)"),
                     problem("knapsack", "a random knapsack problem (Table 3)"),
                     problem("qap", "a quadratic assignment problem of the catalogue, costs by element constraints (Table 4)"),
                     problem("random", "a random model, for tests")};
  system.reference = "cpu-serial";
  system.instance = [](const Case& c) -> std::shared_ptr<const Instance> { return make_model(c); };
  system.random_case = random_case;
  system.best_known = [](const Case& c, const Instance*) { return best_known_model(c); };
  system.solver = solver();
  system.implementations = joined(cpu_implementations(), cpu_repair_implementations());
  if constexpr (device::with_cuda)
    system.implementations = joined(system.implementations, joined(gpu_implementations(), gpu_repair_implementations()));
  return system;
}

}  // namespace vicinity
