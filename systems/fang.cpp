#include <array>
#include <cstdint>

#include "cpu_ref/fang/implementations.hpp"
#include "kernels/fang/implementations.hpp"
#include "systems/axes.hpp"
#include "systems/fang_instances.hpp"
#include "systems/list.hpp"

namespace vicinity::fang {
namespace {

/// Sizes at which an implementation changes path: around the warp, one possibility, the paper's, beyond a block's registers.
constexpr std::array<std::int64_t, 16> interesting_possibilities{1,   2,   8,    31,   32,   33,   63,   65,
                                                                 255, 257, 1224, 1279, 1281, 4488, 9800, 41000};

Case random_case(std::uint64_t seed) {
  std::uint32_t draw = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed, 0, 0, draw++), static_cast<std::uint64_t>(bound)));
  };
  constexpr std::array names{"grid-path", "signed-ratings", "all-different", "colouring"};
  Case c{names[static_cast<std::size_t>(below(4))], "", {}};
  const std::int64_t possibilities = below(4) == 0 ? 1 + below(3000) : interesting_possibilities[static_cast<std::size_t>(below(16))];
  const std::int64_t states = 1 + below(possibilities > 5000 ? 6 : 70);
  c.values["states"] = states;
  c.values["successors"] = below(2) == 0 ? 1 : 1 + below(states);
  c.values["order"] = std::string(below(2) == 0 ? "fixed" : "permuted");
  c.values["active_percent"] = std::array<std::int64_t, 4>{100, 100, 50, 3}[static_cast<std::size_t>(below(4))];
  if (c.problem == "colouring") {
    c.values["colours"] = std::array<std::int64_t, 6>{1, 2, 4, 5, 33, 200}[static_cast<std::size_t>(below(6))];
    c.values["levels"] = 1 + below(4);
    return c;
  }
  c.values["variables"] = std::array<std::int64_t, 6>{1, 2, 8, 31, 33, 70}[static_cast<std::size_t>(below(6))];
  c.values["possibilities"] = possibilities;
  if (c.problem == "grid-path") {
    c.values["load"] = std::array<std::int64_t, 5>{1, 3, 8, 16, 64}[static_cast<std::size_t>(below(5))];
    c.values["grid"] = std::array<std::int64_t, 4>{2, 50, 1000, 16384}[static_cast<std::size_t>(below(4))];
  }
  if (c.problem == "signed-ratings")
    c.values["pattern"] = std::string(std::array{"mixed", "zeros", "one-huge", "huge"}[static_cast<std::size_t>(below(4))]);
  return c;
}

}  // namespace

}  // namespace vicinity::fang

namespace vicinity {

System systems::fang() {
  using namespace fang;
  const Axis states{"states", "|X|, successor states to generate: 1 to 1048576"};
  const Axis variables{"variables", "|lambda|, variables of a state: 1 to 65536"};
  const Axis possibilities{"possibilities", "|R|, possibilities of a variable: 1 to 98304"};
  const Axis successors{"successors", "successors of each source state: 1 to states (default 1)"};
  const Axis active{"active_percent", "variables that are active in the source states: 0 to 100 (default 100)"};
  const Axis order{"order", "assignment order: fixed or permuted (default fixed)"};
  const Axis threads{"threads", "threads of cpu-openmp: 1 to the number of cores (default all); others ignore it"};
  System system;
  system.name = "fang";
  system.title = "FANG: successor-state generation by local heuristics (Koester, Gross, Krueger)";
  system.problems = {
      {"grid-path",
       "points on a grid step towards goals by Manhattan distance (section 4)",
       {states,
        variables,
        possibilities,
        {"load", "distances evaluated per rating: 1 to 64"},
        {"grid", "side of the grid in cells: 2 to 16384 (default 1000)"},
        successors,
        active,
        order,
        threads}},
      {"signed-ratings",
       "random ratings of which negative ones outrank positive ones (Figure 3)",
       {states,
        variables,
        possibilities,
        {"pattern", "mixed, zeros, one-huge or huge (default mixed)"},
        successors,
        active,
        order,
        threads}},
      {"all-different",
       "variables compete for values; some find none left (section 3.5)",
       {states, variables, possibilities, successors, active, order, threads}},
      {"colouring",
       "graph colouring with two variable types on generalised Mycielski graphs",
       {states,
        {"colours", "colours: 1 to 4096"},
        {"levels", "Mycielskians applied to K2: 1 to 6 (default 3: 1-Insertions_4)"},
        successors,
        active,
        order,
        threads}},
  };
  system.reference = "cpu-serial";
  system.instance = [](const Case& c) -> std::shared_ptr<const Instance> { return make_instance(c); };
  system.random_case = random_case;
  system.implementations = cpu_implementations();
  if constexpr (device::with_cuda) system.implementations = joined(system.implementations, gpu_implementations());
  return system;
}

}  // namespace vicinity
