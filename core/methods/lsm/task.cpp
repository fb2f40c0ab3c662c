#include "core/methods/lsm/task.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace vicinity::lsm {
namespace {

struct Named {
  const char* name;
  Kind kind;
};
/// The neighbourhoods of a problem; the first is the default.
const std::vector<Named>& kinds(const std::string& problem) {
  static const std::map<std::string, std::vector<Named>> all{
      {"qap", {{"swap", Kind::swap}, {"exchange3", Kind::exchange3}}},
      {"ppp", {{"hamming2", Kind::hamming2}, {"hamming1", Kind::hamming1}, {"hamming3", Kind::hamming3}}},
      {"tsp", {{"swap", Kind::swap}}},
      {"weierstrass", {{"crowns", Kind::crowns}}}};
  return all.at(problem);
}

}  // namespace

std::string problem_of(const Instance& instance) {
  if (dynamic_cast<const qap::Qap*>(&instance) != nullptr) return "qap";
  if (dynamic_cast<const ppp::Ppp*>(&instance) != nullptr) return "ppp";
  if (dynamic_cast<const tsp::Tsp*>(&instance) != nullptr) return "tsp";
  return "weierstrass";
}

Kind kind_of(const Case& c, const std::string& problem) {
  const std::vector<Named>& known = kinds(problem);
  const auto given = c.values.find("neighborhood");
  if (given == c.values.end()) return known.front().kind;
  std::string names;
  for (const Named& one : known) {
    if (to_string(given->second) == one.name) return one.kind;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw InputError(fmt::format("{}: neighborhood = {} is none of {}", problem, to_string(given->second), names));
}

bool single_precision(const Case& c) { return c.name_or("precision", "float", {"float", "double"}) == "float"; }

void check_moves(const Case& c, std::int64_t moves) {
  if (moves < 1) throw InputError(fmt::format("{}: the neighbourhood is empty; the instance is too small for it", c.problem));
  if (moves > local_search::most_moves)
    throw InputError(fmt::format("{}: {} moves; a neighbourhood has at most {}", c.problem, moves, local_search::most_moves));
}

void check_swaps(const tsp::Tsp& tsp) {
  if (tsp.size() > moves::most_elements)
    throw InputError(fmt::format("tsp: {} cities; searches by swaps take {} at most", tsp.size(), moves::most_elements));
  if (tsp.metric() != tsp::Metric::euc_2d)
    throw InputError(fmt::format("tsp: searches by swaps take EUC_2D distances, not {}", tsp::name_of(tsp.metric())));
}

local_search::Task task_of(const Case& c) {
  local_search::Task task;
  const bool tabu = c.name_or("method", "tabu", {"tabu", "hill"}) == "tabu";
  task.method = tabu ? local_search::Method::tabu : local_search::Method::hill;
  task.iterations =
      tabu ? c.integer("iterations", 1, local_search::most_iterations) : c.integer_or("iterations", 0, 0, local_search::most_iterations);
  task.restarts = c.integer_or("restarts", 1, 1, 65536);
  task.tenure = c.integer_or("tenure", 0, 0, local_search::most_tenure);
  task.threads = c.integer_or("threads", 0, 0, 4096);
  task.blocks = c.integer_or("blocks", 0, 0, 128);
  return task;
}

}  // namespace vicinity::lsm
