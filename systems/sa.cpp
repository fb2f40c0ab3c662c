#include "core/methods/sa/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/methods/sa/calibration.hpp"
#include "core/methods/sa/portfolio.hpp"
#include "core/problems/qap/from_scratch.hpp"
#include "core/util/error.hpp"
#include "core/util/math.hpp"
#include "cpu_ref/sa/implementations.hpp"
#include "data/formats/qaplib.hpp"
#include "data/qaps.hpp"
#include "kernels/sa/implementations.hpp"
#include "systems/axes.hpp"
#include "systems/file_extras.hpp"
#include "systems/list.hpp"

namespace vicinity::sa {
namespace {

/// Sizes at which an implementation changes path: the smallest, around warps and vectors, one block, a cluster, the grid.
constexpr std::array<std::int64_t, 24> interesting_sizes{2,  3,  4,  5,  7,   12,  16,  17,  30,  31,  32,  33,
                                                         47, 64, 65, 99, 100, 127, 128, 129, 130, 150, 200, 300};

Case random_case(std::uint64_t seed) {
  std::uint32_t draw = 0;
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(scale_to(random_bits(seed, 1, 0, draw++), static_cast<std::uint64_t>(bound)));
  };
  Case c{"qap", "", {}};
  const std::int64_t size = below(24) == 0  ? 500 + below(600)
                            : below(3) == 0 ? 2 + below(140)
                                            : interesting_sizes[static_cast<std::size_t>(below(24))];
  const std::int64_t sweeps = size * (size - 1) / 2, budget = std::min<std::int64_t>(20'000, 60'000'000 / (size * size) + 200);
  const std::array<std::int64_t, 8> lengths{1, sweeps - 1, sweeps, sweeps + 1, 7 * sweeps + 3, 1000, budget, 1 + below(budget)};
  c.values["size"] = size;
  c.values["iterations"] = std::min(std::max<std::int64_t>(1, lengths[static_cast<std::size_t>(below(8))]), 40 * budget);
  c.values["matrix"] = std::string(below(3) == 0 ? "asymmetric" : "symmetric");
  c.values["range"] =
      std::array<std::int64_t, 8>{100, 100, 100, 1, 2, 256, 30000, std::int64_t{1} << 20}[static_cast<std::size_t>(below(8))];
  c.values["instance_seed"] = below(1 << 20);
  c.values["samples"] = std::array<std::int64_t, 4>{1000, 1000, 1, 20}[static_cast<std::size_t>(below(4))];
  if (size < 150 && below(4) == 0) c.values["chains"] = 1 + below(5);
  if (below(5) == 0) {  // cold from the start: freezes, then whole sweeps without a swap
    const double cold = static_cast<double>(c.integer("range", 1, std::int64_t{1} << 30));
    c.values["t0"] = 4 * cold + 0.5;
    c.values["tf"] = cold + 0.25;
  }
  if (below(3) == 0) {
    c.values.erase("samples");
    c.values["schedule"] = std::string("acceptance");
    if (below(2) == 0) c.values["leg"] = 1 + below(std::min<std::int64_t>(budget, 3 * sweeps));
  }
  if (below(3) == 0)  // the portfolios have none of these
    for (const char* axis : {"t0", "tf", "schedule", "samples", "leg"}) c.values.erase(axis);
  return c;
}

const qap::Qap& as_qap(const Instance& instance) { return dynamic_cast<const qap::Qap&>(instance); }

class QapFiles final : public FileFormat, public TimedSettings, public FurtherSearches {
 public:
  [[nodiscard]] std::shared_ptr<const Instance> read(const std::string& file) const override {
    return std::make_shared<qap::Qap>(read_qaplib(std::filesystem::path(file)));
  }
  [[nodiscard]] std::string problem_of(const Instance&) const override { return "qap"; }
  [[nodiscard]] std::string size_of(const Instance& instance) const override { return size_text(as_qap(instance)); }
  [[nodiscard]] std::optional<std::int64_t> best_known_of(const Instance& instance) const override {
    return vicinity::best_known_of(as_qap(instance));
  }
  [[nodiscard]] std::string solution_suffix(const Instance&) const override { return ".sln"; }
  [[nodiscard]] Solution read_solution(const Instance& instance, const std::string& file) const override {
    return read_qaplib_solution(std::filesystem::path(file), as_qap(instance)).permutation;
  }
  [[nodiscard]] Objective objective_of(const Instance& instance, const Solution& solution) const override {
    return qap::cost(as_qap(instance), solution);
  }
  [[nodiscard]] std::string text_of(const Instance& instance, const Solution& solution) const override {
    return qaplib_solution_text(as_qap(instance), solution);
  }
  [[nodiscard]] std::map<std::string, Value> timed(const std::string& implementation, std::int64_t threads) const override {
    if (implementation != "cpu-portfolio" || threads >= portfolio::default_searches) return {};
    return {{"chains", threads * divide_up(portfolio::default_searches_beyond, threads)}};  // all threads end at a time
  }
  /// After a single leg one that rearranges less. Of several, more of them.
  [[nodiscard]] Case further(const Case& c, const Instance& instance, const std::atomic<bool>& stop) const override {
    constexpr std::int64_t roughly = 1'000'000;  // proposals: a short probe will do
    const qap::Qap& qap = as_qap(instance);
    const annealing::Task task = task_of(c);
    if (task.schedule != annealing::Schedule::acceptance || task.window || annealing::leg_of(task, qap.size()) < task.iterations) return c;
    const annealing::Window window = annealing::calibrated(qap::FromScratch(qap), qap.size(), std::min(task.iterations, roughly), &stop);
    Case further = c;
    further.values["t0"] = std::sqrt(window.hot * window.cold);
    further.values["tf"] = window.cold;
    return further;
  }
};

Solver solver() {
  Solver solver;
  solver.files = std::make_shared<QapFiles>();
  solver.families = {"qaplib"};
  solver.format = "QAPLIB .dat";
  solver.solution_suffix = ".sln";
  solver.work_axis = "iterations";
  solver.unit = "proposals";
  solver.default_work = 100'000'000;
  solver.most_work = most_iterations;
  solver.settings = {"schedule", "t0", "tf", "leg", "samples", "chains", "threads", "ranks"};
  solver.better = {{"schedule", std::string("acceptance")}};
  solver.preference = {"gpu-tuned", "cpu-openmp", "cpu-serial"};
  solver.whole_work = [](const Case& c) {
    const annealing::Task task = task_of(c);
    return task.iterations * task.chains;
  };
  return solver;
}

}  // namespace

}  // namespace vicinity::sa

namespace vicinity {

System systems::sa() {
  using namespace sa;
  System system;
  system.name = "sa";
  system.title = "Simulated annealing for the quadratic assignment problem (Paul)";
  const std::vector<Axis> own{
      {"iterations", "I, proposed swaps: 1 to 10^12"},
      {"chains", "independent runs, with seeds one after the other: 1 to 65535 (default 1)"},
      {"schedule", "connolly, the paper's (default), or acceptance, from one share of accepted proposals to another"},
      {"samples", "swaps that set the temperatures of the schedule connolly (default 1000)"},
      {"t0", "first temperature, above 0, together with tf (default: sampled or calibrated)"},
      {"tf", "last temperature, above 0 (default: sampled or calibrated)"},
      {"leg", "proposals of the schedule acceptance before it begins anew, every third time hotter: 1 to 10^12 (default by the size)"},
      {"threads",
       "threads of cpu-openmp and cpu-portfolio, and of each rank of mpi-chains: 1 to 4096 (default all cores, shared); others ignore it"},
      {"ranks", "processes of mpi-chains and mpi-gpu-chains: 1 to 4096 (default 2); others ignore it"},
      gpus_axis(),
      {"scope", "where gpu-tuned runs a chain: block, cluster or grid (default by its size); others ignore it"}};
  system.problems = {
      {"qap", "quadratic assignment: instances of the catalogue, or random ones as Taillard's (section 4)", joined(qap_axes(), own)}};
  system.reference = "cpu-traditional";
  system.instance = [](const Case& c) -> std::shared_ptr<const Instance> { return make_qap(c); };
  system.random_case = random_case;
  system.solver = solver();
  system.implementations = joined(cpu_implementations(), cpu_rank_implementations());
  if constexpr (device::with_cuda)
    system.implementations = joined(system.implementations, joined(gpu_implementations(), gpu_rank_implementations()));
  return system;
}

}  // namespace vicinity
