#include "data/lsm/system.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>

#include "data/sa/system.hpp"

namespace vicinity::lsm {
namespace {

std::string name_or(const Case& c, const std::string& axis, const std::string& fallback) {
  const auto found = c.values.find(axis);
  return found == c.values.end() ? fallback : to_string(found->second);
}

struct Named {
  const char* name;
  Kind kind;
};
/// The neighbourhoods of a problem; the first is the default.
std::vector<Named> kinds(const std::string& problem) {
  if (problem == "qap") return {{"swap", Kind::swap}, {"exchange3", Kind::exchange3}};
  throw InputError(fmt::format("lsm: unknown problem '{}'", problem));
}

const std::vector<Axis>& search_axes() {
  static const std::vector<Axis> axes{
      {"method", "tabu (default) or hill: hill climbing to the local optimum"},
      {"iterations", "moves of a tabu search: 1 to 10^9; the most of a hill climbing (0, the default: to the local optimum)"},
      {"restarts", "searches, with seeds one after the other: 1 to 65536 (default 1)"},
      {"seed", "added to the protocol's seed (default 0)"},
      {"tenure", "iterations a move stays tabu: 1 to 10^9 (default an eighth of the neighbourhood)"},
      {"threads", "threads of cpu-openmp: 1 to 4096 (default all cores); others ignore it"}};
  return axes;
}

std::vector<Axis> with_search_axes(std::vector<Axis> axes) {
  axes.insert(axes.end(), search_axes().begin(), search_axes().end());
  return axes;
}

}  // namespace

std::shared_ptr<const Instance> make_instance(const Case& c) { return sa::make_instance(c); }

Kind kind_of(const Case& c) {
  const std::vector<Named> known = kinds(c.problem);
  const std::string name = name_or(c, "neighborhood", known.front().name);
  std::string names;
  for (const Named& one : known) {
    if (name == one.name) return one.kind;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw InputError(fmt::format("{}: neighborhood = {} is none of {}", c.problem, name, names));
}

void check_moves(const Case& c, std::int64_t moves) {
  if (moves < 1) throw InputError(fmt::format("{}: the neighbourhood is empty; the instance is too small for it", c.problem));
  if (moves > local_search::most_moves)
    throw InputError(fmt::format("{}: {} moves; a neighbourhood has at most {}", c.problem, moves, local_search::most_moves));
}

local_search::Task task_of(const Case& c) {
  local_search::Task task;
  const std::string method = name_or(c, "method", "tabu");
  if (method != "tabu" && method != "hill") throw InputError(fmt::format("{}: method = {} is none of tabu, hill", c.problem, method));
  task.method = method == "tabu" ? local_search::Method::tabu : local_search::Method::hill;
  task.iterations = method == "tabu" ? c.integer("iterations", 1, local_search::most_iterations)
                                     : c.integer_or("iterations", 0, 0, local_search::most_iterations);
  task.restarts = c.integer_or("restarts", 1, 1, 65536);
  task.seed_offset = c.integer_or("seed", 0, 0, std::int64_t{1} << 40);
  task.tenure = c.integer_or("tenure", 0, 0, local_search::most_tenure);
  task.threads = c.integer_or("threads", 0, 0, 4096);
  return task;
}

namespace {

Case random_case(std::uint64_t seed) {
  std::uint32_t draw = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed, 2, 0, draw++), static_cast<std::uint64_t>(bound)));
  };
  Case c{"qap", "", {}};
  c.values["size"] = 3 + below(60);
  c.values["iterations"] = 1 + below(300);
  return c;
}

}  // namespace

System system() {
  System system;
  system.name = "lsm";
  system.title = "Local search metaheuristics: tabu search and hill climbing (Luong, Melab, Talbi)";
  system.problems = {{"qap", "quadratic assignment (section 6.1): instances of the catalogue, or random ones as Taillard's",
                      with_search_axes({{"size", "n, facilities of a random instance: 2 to 46340"},
                                        {"instance_seed", "number of the random instance (default 1)"},
                                        {"matrix", "symmetric, or asymmetric with random diagonals (default symmetric)"},
                                        {"range", "entries of a random instance are below this: 1 to 2^30 (default 100)"},
                                        {"neighborhood", "swap (default) or exchange3, one rotation of three"}})}};
  system.reference = "cpu-serial";
  system.instance = [](const Case& c) { return make_instance(c); };
  system.random_case = random_case;
  return system;
}

}  // namespace vicinity::lsm
