#pragma once
// cpu-hybrid: lines of annealing by string removal between generations of a genetic algorithm.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/api/run.hpp"
#include "core/methods/alns/hybrid/population.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/digest.hpp"
#include "cpu_ref/alns/hybrid/crossover.hpp"
#include "cpu_ref/alns/hybrid/local_search.hpp"
#include "cpu_ref/alns/hybrid/string_removal.hpp"

namespace vicinity::alns::hybrid {

/// What a case asks for: of `processes`, lines, 4 unless it says; `calls` are generations. Throws InputError.
[[nodiscard]] Task task_of(const Case& c);

/// A search under way.
class GeneticSearch {
 public:
  /// `threads` threads share the lines.
  GeneticSearch(const vrp::Vrp& vrp, const Task& task, const Start& start, int threads);

  /// The next generation; where `briefly`, one line a thread of it. Interrupted it takes the best so far.
  void advance(bool briefly, const Interruption& interruption);
  [[nodiscard]] bool done() const;
  /// Whole generations.
  [[nodiscard]] std::int64_t generations() const noexcept { return generations_; }
  [[nodiscard]] TracePoint progress() const;
  [[nodiscard]] Search result() const;

 private:
  /// What one thread works with; holds nothing from one line to the next.
  struct Workspace {
    Workspace(const vrp::View& vrp, const Granular& granular)
        : tours(vrp, granular.routes), search(vrp, granular), strings(vrp, granular) {}
    Tours tours;
    LocalSearch search;
    StringRemoval strings;
  };
  struct Line {
    Routes current, best;
    std::int64_t best_distance = 0;  ///< where feasible
    bool feasible = false;
    bool fresh = false;                                     ///< from a first solution, this cycle, and therefore hot
    bool child = false;                                     ///< by crossover, this cycle
    bool load_feasible = false, duration_feasible = false;  ///< its first local optimum
    std::int64_t evaluations = 0;
  };

  void work(std::int32_t b, Workspace& workspace, const Interruption& interruption);
  void begin(std::int32_t b, Line& line, Stream& stream, Workspace& workspace, const Interruption& interruption) const;
  [[nodiscard]] Routes first_routes(std::int32_t b, Stream& stream) const;
  void adopt(Line& line, Routes routes) const;
  void educate(Line& line, const Routes& routes, Workspace& workspace, const Interruption& interruption) const;
  void polish(Line& line, Workspace& workspace, const Interruption& interruption) const;
  void take_best(const Line& line);
  void merge();

  const vrp::Vrp* instance_;
  vrp::View vrp_;
  Task task_;
  std::uint64_t seed_;
  std::optional<Routes> given_;
  Granular granular_;
  Schedule schedule_;
  Population population_;
  std::vector<Line> lines_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
  std::int32_t next_line_ = 0;  ///< of the generation under way
  std::int64_t generations_ = 0;
  Routes best_;
  std::optional<std::int64_t> best_distance_;
  std::int64_t idle_cycles_ = 0;  ///< without a better solution
  bool improved_ = false;         ///< in this cycle
  Digest digest_;
};

}  // namespace vicinity::alns::hybrid
