#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/device.hpp"
#include "core/methods/alns/hybrid/island.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/error.hpp"
#include "core/util/rng.hpp"
#include "cpu_ref/alns/hybrid/implementations.hpp"
#include "cpu_ref/alns/implementations.hpp"
#include "data/formats/cvrplib.hpp"
#include "data/vrps.hpp"
#include "kernels/alns/implementations.hpp"
#include "systems/alns_drawing.hpp"
#include "systems/axes.hpp"
#include "systems/file_extras.hpp"
#include "systems/list.hpp"

namespace vicinity::alns {
namespace {

/// Sizes at which an implementation changes path: one customer, around the fewest and most removed, around warps and blocks.
constexpr std::array<std::int64_t, 12> interesting_sizes{1, 2, 3, 5, 9, 10, 31, 33, 64, 75, 100, 150};

Case random_case(std::uint64_t seed) {
  std::uint32_t draw = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed, 1, 0, draw++), static_cast<std::uint64_t>(bound)));
  };
  Case c{"vrp", "", {}};
  const std::int64_t size = below(3) == 0 ? interesting_sizes[static_cast<std::size_t>(below(12))] : 1 + below(120);
  c.values["size"] = size;
  c.values["instance_seed"] = below(1 << 20);
  if (below(5) == 0) c.values["sites"] = 1 + below(size);         // coincident customers
  if (below(5) == 0) c.values["demand_range"] = std::int64_t{1};  // equal demands
  c.values["route_size"] = std::array<std::int64_t, 4>{1, 10, 1 + below(size), size}[static_cast<std::size_t>(below(4))];
  if (below(3) == 0) c.values["limit_percent"] = 100 + below(150);  // binds
  if (below(4) == 0) c.values["service"] = 1 + below(100);
  if (below(6) == 0) c.values["rounding"] = std::string("nearest");
  c.values["processes"] = 1 + below(6);
  if (below(2) == 0) c.values["removals"] = 1 + below(400);
  c.values["calls"] = 1 + below(3);
  if (size <= 40 && below(3) == 0) c.values["calls"] = 6 + below(6);  // enough for a child of gpu-genetic
  if (!c.values.contains("rounding") && below(c.values.contains("limit_percent") ? 2 : 6) == 0)
    c.values["detours"] = 1 + below(100);  // with a limit, removals make tours too long
  return c;
}

const vrp::Vrp& as_vrp(const Instance& instance) { return dynamic_cast<const vrp::Vrp&>(instance); }

class VrpFiles final : public FileFormat, public SolutionDrawing, public SolutionWords, public InstanceSettings, public TimedSettings {
 public:
  [[nodiscard]] std::shared_ptr<const Instance> read(const std::string& file) const override { return read_vrp(file); }
  [[nodiscard]] std::string problem_of(const Instance&) const override { return "vrp"; }
  [[nodiscard]] std::string size_of(const Instance& instance) const override { return size_text(as_vrp(instance)); }
  [[nodiscard]] std::optional<std::int64_t> best_known_of(const Instance& instance) const override {
    return vicinity::best_known_of(as_vrp(instance));
  }
  [[nodiscard]] std::int32_t scale_of(const Instance& instance) const override { return as_vrp(instance).scale(); }
  [[nodiscard]] std::string solution_suffix(const Instance&) const override { return ".sol"; }
  [[nodiscard]] Solution read_solution(const Instance& instance, const std::string& file) const override {
    Solution routes = read_cvrplib_solution(std::filesystem::path(file), as_vrp(instance)).routes;
    if (const std::string what = vrp::complaint(as_vrp(instance), routes); !what.empty()) throw InputError(file + ": no solution: " + what);
    return routes;
  }
  [[nodiscard]] Objective objective_of(const Instance& instance, const Solution& solution) const override {
    return vrp::cost(as_vrp(instance), solution);
  }
  [[nodiscard]] std::string text_of(const Instance& instance, const Solution& solution) const override {
    return cvrplib_solution_text(as_vrp(instance), solution);
  }
  [[nodiscard]] std::string instance_text(const Case&, const Instance& instance) const override { return cvrplib_text(as_vrp(instance)); }
  [[nodiscard]] std::string drawing_of(const Instance& instance, const Solution& solution) const override {
    return drawing_of_routes(as_vrp(instance), solution);
  }
  [[nodiscard]] std::string words_of(const Solution& solution) const override {
    const std::size_t routes = vrp::routes_of(solution).size();
    return fmt::format("{} route{}", routes, routes == 1 ? "" : "s");
  }
  [[nodiscard]] std::vector<std::string> options() const override { return {"vehicles"}; }
  /// The fleet, 0 is as many vehicles as are wanted, and whether distances of the plane are rounded. Fixed point is the finest, so that
  /// what is said of a solution and a target are of its length.
  [[nodiscard]] std::shared_ptr<const Instance> with_settings(std::shared_ptr<const Instance> instance, const Case& c) const override {
    const bool other_fleet = c.values.contains("vehicles");
    const auto rounding = rounding_of(c);
    if (!other_fleet && !rounding && as_vrp(*instance).scale() == 1) return instance;
    vrp::Data data = as_vrp(*instance).data();
    data.finest = true;
    if (rounding && !data.matrix.empty()) throw InputError("rounding: the instance has a matrix of distances");
    data.rounding = rounding.value_or(data.rounding);
    if (other_fleet) {
      const std::int64_t vehicles = c.integer("vehicles", 0, vrp::most_customers);
      data.vehicles.reset();
      if (vehicles > 0) data.vehicles = static_cast<std::int32_t>(vehicles);
    }
    auto changed = std::make_shared<const vrp::Vrp>(std::move(data));
    if (const std::string what = other_fleet ? unsolvable(*changed) : ""; !what.empty()) throw InputError("vehicles: " + what);
    return changed;
  }
  /// Few threads have not the generations that many lines need.
  [[nodiscard]] std::map<std::string, Value> timed(const std::string& implementation, std::int64_t threads) const override {
    if (implementation != "cpu-hybrid" || threads > hybrid::lines_of_kind) return {};
    return {{"processes", std::int64_t{hybrid::lines_of_kind}}};
  }
  [[nodiscard]] std::string unsolvable(const Instance& instance) const override { return vrp::unservable(as_vrp(instance)); }
};

Solver solver() {
  Solver solver;
  solver.files = std::make_shared<VrpFiles>();
  solver.families = {"cmt", "golden", "li", "x", "bhs-like"};
  solver.format = "CVRPLIB .vrp";
  solver.solution_suffix = ".sol";
  solver.work_axis = "calls";
  solver.unit = "calls";
  solver.default_work = 250;
  solver.most_work = most_calls;
  solver.settings = {"processes", "removals", "threads", "ranks", "vehicles", "rounding"};
  solver.preference = {"gpu-hybrid", "cpu-hybrid"};
  solver.anytime = true;
  solver.whole_work = [](const Case& c) { return task_of(c).calls; };
  return solver;
}

}  // namespace
}  // namespace vicinity::alns

namespace vicinity {

System systems::alns() {
  using namespace alns;
  System system;
  system.name = "alns";
  system.title = "Adaptive large neighbourhood search for vehicle routing (Bach, Hasle, Schulz)";
  const std::vector<Axis> own{
      {"processes",
       "independent searches, a block each on a GPU: 1 to 65536 (default 28, the paper's); lines of cpu-hybrid (default 16) and gpu-hybrid "
       "(default 256)"},
      {"calls",
       "calls of 100 iterations a process, generations of cpu-hybrid and gpu-hybrid; 0 (default): until the stopping rule of section 3.5, "
       "of cpu-hybrid and gpu-hybrid until six cycles bring nothing better"},
      {"threads",
       "threads of cpu-openmp, its variants and cpu-hybrid, and of each rank of mpi-islands: 1 to 4096 (default all cores, shared); others "
       "ignore it"},
      {"ranks", "processes of mpi-islands and mpi-gpu-islands: 1 to 4096 (default 2); others ignore it"},
      gpus_axis(),
      {"removals",
       "of cpu-hybrid and gpu-hybrid: string removals of an annealing line in a generation, in percent of the customers: 1 to 10000 "
       "(default 20, with fewer than 16 lines more from 400 customers on); others ignore it"},
      {"memory", "where GPUs keep solutions: shared or global (default shared where they fit); others ignore it"}};
  system.problems = {
      {"vrp", "capacitated vehicle routing with route limits: instances of the catalogue, or random ones", joined(vrp_axes(), own)}};
  system.reference = "cpu-recompute";
  system.instance = [](const Case& c) -> std::shared_ptr<const Instance> { return make_vrp(c); };
  system.random_case = random_case;
  system.best_known = [](const Case&, const Instance* instance) {
    return instance == nullptr ? std::nullopt : best_known_of(as_vrp(*instance));
  };
  system.solver = solver();
  system.implementations =
      joined(joined(cpu_implementations(), cpu_variants()), joined(cpu_hybrid_implementations(), cpu_hybrid_rank_implementations()));
  if constexpr (device::with_cuda)
    system.implementations = joined(joined(joined(system.implementations, gpu_implementations()), gpu_variants()),
                                    joined(gpu_hybrid_implementations(), gpu_hybrid_rank_implementations()));
  return system;
}

}  // namespace vicinity
