#pragma once
// cpu-hybrid: generations of a genetic algorithm on islands, with lines of annealing by string removal beside it.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/api/run.hpp"
#include "core/api/team.hpp"
#include "core/methods/alns/hybrid/islands.hpp"
#include "core/methods/alns/task.hpp"
#include "cpu_ref/alns/hybrid/local_search.hpp"
#include "cpu_ref/alns/hybrid/string_removal.hpp"

namespace vicinity::alns::hybrid {

/// What a case asks for: of `processes`, lines, 16 unless it says; `calls` are generations. Throws InputError.
[[nodiscard]] Task task_of(const Case& c);

/// A search under way.
class GeneticSearch {
 public:
  /// `threads` threads share the lines. `team`: of Islands.
  GeneticSearch(const vrp::Vrp& vrp, const Task& task, const Start& start, int threads, Team* team = nullptr);

  /// The next generation; where `briefly`, one line a thread of it. Interrupted it takes the best so far. Ranks are interrupted together.
  void advance(bool briefly, const Interruption& interruption = Interruption());
  [[nodiscard]] bool done() const;
  /// Whole generations.
  [[nodiscard]] std::int64_t generations() const noexcept { return islands_.generations(); }
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
    Routes current, best;  ///< of an annealing line; `best` is feasible, or empty
    std::int64_t best_distance = no_distance;
    Penalties penalties{};
    Handed handed;
    bool handed_feasible = false;
    std::int64_t evaluations = 0;
  };

  void work(std::int32_t b, Workspace& workspace, const Interruption& interruption);
  void make_child(const Job& job, Line& line, Workspace& workspace, const Interruption& interruption) const;
  void anneal(std::int32_t b, const Job& job, Line& line, Workspace& workspace, const Interruption& interruption) const;
  void hand_over(Line& line, const Workspace& workspace) const;
  void offer(std::int32_t first, std::int32_t end);
  void agree(bool& interrupted, bool& complete);
  void merge();
  [[nodiscard]] std::int64_t evaluations() const;

  vrp::View vrp_;
  Task task_;
  std::uint64_t seed_;
  Islands islands_;
  std::vector<Line> lines_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
  Team* team_;
  std::int32_t next_line_ = -1;  ///< of the generation under way; -1: none is
};

}  // namespace vicinity::alns::hybrid
