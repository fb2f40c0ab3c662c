#include "core/methods/lsm/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "data/catalogue.hpp"
#include "data/formats/tsplib.hpp"
#include "data/qaps.hpp"
#include "kernels/lsm/implementations.hpp"
#include "systems/axes.hpp"
#include "systems/list.hpp"
#include "systems/lsm_solver.hpp"

namespace vicinity::lsm {
namespace {

// --- instances -----------------------------------------------------------------------------------------------------------

std::uint64_t instance_seed(const Case& c) {
  return static_cast<std::uint64_t>(c.integer_or("instance_seed", 1, 0, std::int64_t{1} << 40));
}

/// Complaints of an instance's constructor, with the case they are about.
template <class Make>
auto made(const Case& c, const Make& make) {
  try {
    return make();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", c.problem, error.what()));
  }
}

std::shared_ptr<const Instance> planted_ppp(const Case& c) {
  const auto m = static_cast<std::int32_t>(c.integer("m", 1, 20000)), n = static_cast<std::int32_t>(c.integer("n", 1, 20000));
  const std::string name = fmt::format("{}-{}", m, n);
  return made(c, [&] { return std::make_shared<ppp::Ppp>(ppp::planted(name, m, n, instance_seed(c))); });
}

std::shared_ptr<const Instance> uniform_tsp(const Case& c) {
  const auto n = static_cast<std::int32_t>(c.integer("size", 3, tsp::most_cities));
  const std::int64_t extent = c.integer_or("extent", 20000, 1, std::int64_t{1} << 27);
  return made(c, [&] { return std::make_shared<tsp::Tsp>(tsp::uniform(fmt::format("uniform{}", n), n, extent, instance_seed(c))); });
}

std::shared_ptr<const Instance> weierstrass_function(const Case& c) {
  const auto n = static_cast<std::int32_t>(c.integer("dimension", 1, 64));
  return std::make_shared<weierstrass::Weierstrass>(n, c.integer_or("neighbors", 10000, 1, 1 << 24));
}

std::optional<std::int64_t> best_known_of_case(const Case& c, const Instance*) {
  if (c.problem == "ppp") return 0;  // planted
  if (!c.instance.empty() && catalogue().contains(c.instance)) return best_value(catalogue().at(c.instance));
  return std::nullopt;
}

// --- random cases --------------------------------------------------------------------------------------------------------

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed_, 2, 0, draw_++), static_cast<std::uint64_t>(bound)));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  template <class T, std::size_t N>
  T one_of(const std::array<T, N>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(N)))];
  }

 private:
  std::uint64_t seed_;
  std::uint32_t draw_ = 0;
};

/// Sizes at which an implementation changes path: the smallest, around vectors, words of bits and warps.
constexpr std::array<std::int64_t, 16> interesting_sizes{3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 99, 130};

Case random_qap(Draws& draws) {
  Case c{"qap", "", {}};
  const bool three = draws.below(3) == 0;
  c.values["neighborhood"] = std::string(three ? "exchange3" : "swap");
  c.values["size"] = three ? draws.between(3, 33) : draws.below(2) == 0 ? draws.one_of(interesting_sizes) : draws.between(2, 70);
  c.values["matrix"] = std::string(draws.below(3) == 0 ? "asymmetric" : "symmetric");
  c.values["range"] = draws.one_of(std::array<std::int64_t, 6>{100, 100, 1, 2, 30000, std::int64_t{1} << 20});
  return c;
}

Case random_ppp(Draws& draws) {
  Case c{"ppp", "", {}};
  const std::int64_t distance = draws.between(1, 3);
  c.values["neighborhood"] = "hamming" + std::to_string(distance);
  c.values["m"] = draws.below(2) == 0 ? draws.one_of(interesting_sizes) : draws.between(1, 140);
  c.values["n"] = distance == 3         ? draws.between(3, 33)
                  : draws.below(2) == 0 ? draws.one_of(interesting_sizes)
                                        : draws.between(distance, 100);
  return c;
}

Case random_tsp(Draws& draws) {
  Case c{"tsp", "", {}};
  c.values["size"] = draws.below(2) == 0 ? draws.one_of(interesting_sizes) : draws.between(3, 300);
  c.values["extent"] = draws.one_of(std::array<std::int64_t, 6>{1, 10, 1000, 32768, 40000, std::int64_t{1} << 27});
  return c;
}

Case random_weierstrass(Draws& draws) {
  Case c{"weierstrass", "", {}};
  c.values["dimension"] = draws.between(1, 12);
  c.values["neighbors"] = draws.below(2) == 0 ? draws.one_of(interesting_sizes) : draws.between(1, 300);
  c.values["precision"] = std::string(draws.below(2) == 0 ? "float" : "double");
  return c;
}

Case random_case(std::uint64_t seed) {
  Draws draws(seed);
  const std::array<Case (*)(Draws&), 4> problems{random_qap, random_ppp, random_tsp, random_weierstrass};
  Case c = draws.one_of(problems)(draws);
  c.values["instance_seed"] = draws.below(1 << 20);
  if (draws.below(4) == 0) c.values["method"] = std::string("hill");
  if (!c.values.contains("method") || draws.below(3) == 0)
    c.values["iterations"] = draws.one_of(std::array<std::int64_t, 4>{1, 2, 40, 150});
  if (draws.below(3) == 0) c.values["tenure"] = draws.one_of(std::array<std::int64_t, 4>{1, 5, 100, 1000000});
  if (draws.below(4) == 0) c.values["restarts"] = draws.between(2, 4);
  c.values["ranks"] = draws.one_of(std::array<std::int64_t, 5>{1, 2, 3, 4, 7});
  return c;
}

// --- axes ----------------------------------------------------------------------------------------------------------------

Problem problem(const std::string& name, const std::string& meaning, const std::vector<Axis>& axes) {
  const std::vector<Axis> shared{
      {"method", "tabu (default) or hill: hill climbing to the local optimum"},
      {"iterations", "moves of a tabu search: 1 to 10^9; the most of a hill climbing (0, the default: to the local optimum)"},
      {"restarts", "searches, with seeds one after the other: 1 to 65536 (default 1)"},
      {"tenure", "iterations a move stays tabu: 1 to 10^9 (0, the default: an eighth of the neighbourhood)"},
      {"threads",
       "threads of cpu-openmp and cpu-ils, and of each rank of mpi-openmp and mpi-chains: 1 to 4096 (default all cores, shared); others "
       "ignore it"},
      {"ranks", "processes of mpi-openmp, mpi-chains, mpi-gpu and mpi-gpu-chains: 1 to 4096 (default 2); others ignore it"},
      gpus_axis()};
  return {name, meaning, joined(axes, shared)};
}

}  // namespace

std::shared_ptr<const Instance> make_instance(const Case& c) {
  if (!c.instance.empty()) {
    if (c.problem == "ppp" || c.problem == "weierstrass")
      throw InputError(fmt::format("{}: there are no instances with names, but instance = {}", c.problem, c.instance));
    const std::string format = catalogue().at(c.instance).format;
    if (c.problem == "qap" || (c.problem.empty() && format == "qaplib")) return load_qap(c.instance);
    return load_tsp(c.instance);
  }
  if (c.problem == "qap") return make_qap(c);
  if (c.problem == "ppp") return planted_ppp(c);
  if (c.problem == "tsp") return uniform_tsp(c);
  return weierstrass_function(c);
}

}  // namespace vicinity::lsm

namespace vicinity {

System systems::lsm() {
  using namespace lsm;
  System system;
  system.name = "lsm";
  system.title = "Local search metaheuristics: tabu search and hill climbing (Luong, Melab, Talbi)";
  system.problems = {
      problem("qap", "quadratic assignment (section 6.1): instances of the catalogue, or random ones as Taillard's",
              joined(qap_axes(), {{"neighborhood", "swap (default), or exchange3: one rotation of three"}})),
      problem("ppp", "permuted perceptron (section 6.2): random instances with a planted solution",
              {{"m", "rows: 1 to 20000"},
               {"n", "columns, signs to find: 1 to 20000"},
               {"instance_seed", "number of the random instance (default 1)"},
               {"neighborhood", "hamming1, hamming2 (default) or hamming3: signs flipped at once"}}),
      problem("weierstrass", "Weierstrass function (section 6.3): one random neighbour in each crown",
              {{"dimension", "n: 1 to 64"},
               {"neighbors", "crowns, of equal width up to radius 1/n: 1 to 2^24 (default 10000)"},
               {"precision", "float (default) or double"},
               {"neighborhood", "crowns"}}),
      problem(
          "tsp", "travelling salesman (section 6.4): instances of the catalogue, or cities uniform in a square",
          {{"size", "n, cities of a random instance: 3 to 1000000, by swaps to 60000"},
           {"extent", "coordinates are whole and below this: 1 to 2^27 (default 20000)"},
           {"instance_seed", "number of the random instance (default 1)"},
           {"blocks",
            "blocks of gpu-tuned's search by rows: 1 to 16 in a cluster, to 128 on the grid (default 0: as the number of cities asks for); "
            "others ignore it"},
           {"walkers",
            "of cpu-ils: searches on parts of the tour at once: 1 to 65536 (default one for 250 cities, at most 128); others ignore it"},
           {"kicks",
            "of cpu-ils: kicks of a walker in a round, which is an iteration: 1 to 10^6 (default 25, more for large tours); others ignore "
            "it"},
           {"neighborhood", "swap: the cities at two positions"}}),
  };
  system.reference = "cpu-serial";
  system.instance = [](const Case& c) { return make_instance(c); };
  system.random_case = random_case;
  system.best_known = best_known_of_case;
  system.solver = solver();
  system.implementations = joined(joined(cpu_implementations(), cpu_rank_implementations()), cpu_tour_implementations());
  if constexpr (device::with_cuda)
    system.implementations = joined(system.implementations, joined(gpu_implementations(), gpu_rank_implementations()));
  return system;
}

}  // namespace vicinity
