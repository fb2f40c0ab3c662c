#pragma once
// A generation of a line of gpu-hybrid, by a block (what it does: core/methods/alns/hybrid/islands.hpp).
#include <cstddef>
#include <cstdint>

#include "kernels/alns/hybrid/local_search.hpp"
#include "kernels/alns/hybrid/memory.hpp"
#include "kernels/alns/hybrid/split.hpp"
#include "kernels/alns/hybrid/string_removal.hpp"

namespace vicinity::alns::hybrid::block {

/// Of a line, in device memory.
struct LineMemory {
  Packed input;                  ///< what it begins with: an order of the customers where its job cuts, else a solution
  Packed current, best, handed;  ///< kept from one generation to the next
  LineState* state;
};

template <class Team>
class Line {
 public:
  VICINITY_HD Line(const Problem& problem, unsigned char* memory) : Line(problem, Pieces(memory)) {}

  /// Of memory that a block needs.
  [[nodiscard]] static VICINITY_HD std::size_t bytes(const Problem& problem) { return Line(problem, nullptr).bytes_; }

  VICINITY_HD void run(Team& team, const LineJob& job, const LineMemory& line) {
    if (job.anneals)
      anneal(team, job, line);
    else
      make_child(team, job, line);
  }

 private:
  VICINITY_HD Line(const Problem& problem, Pieces pieces)
      : problem_(problem),
        solution_(Packed::at(pieces.take<Node>(static_cast<std::int64_t>(Packed::nodes(problem.vrp.n, problem.routes))), problem.vrp.n)),
        for_split_(pieces),
        for_search_(pieces),
        for_strings_(pieces),
        split_(problem, solution_, for_split_),
        search_(problem, solution_, for_search_),
        strings_(problem, for_strings_) {
    bytes_ = for_split_.used();
    if (for_search_.used() > bytes_) bytes_ = for_search_.used();
    if (for_strings_.used() > bytes_) bytes_ = for_strings_.used();
  }

  VICINITY_HD void make_child(Team& team, const LineJob& job, const LineMemory& line) {
    split_(team, line.input.customers, job.penalties);
    search_.begin(team);
    search_.improve(team, job.penalties);
    const bool load_feasible = search_.load_feasible(), duration_feasible = search_.duration_feasible();
    if (!search_.feasible()) search_.improve(team, stricter(job.penalties));
    if (!search_.feasible()) search_.improve(team, strictest());
    hand_over(team, line);
    team.once([&] {
      line.state->load_feasible = load_feasible;
      line.state->duration_feasible = duration_feasible;
    });
  }

  VICINITY_HD void anneal(Team& team, const LineJob& job, const LineMemory& line) {
    if (job.begins) {
      if (job.cuts)
        split_(team, line.input.customers, job.penalties);
      else
        copy(team, line.input, solution_);
      search_.begin(team);
      if (job.cuts) search_.improve(team, job.penalties);
      finish(team, line);
      copy(team, solution_, line.current);
      copy(team, solution_, line.best);
      team.once([&] {
        line.state->best_distance = search_.feasible() ? search_.distance() : no_distance;
        line.state->penalties = job.penalties;
      });
    }
    team.first_warp([&](const auto& warp) { strings_.anneal(warp, line.current, line.best, *line.state, job); });
    if (!job.ends) return;
    copy(team, line.state->best_distance < no_distance ? line.best : line.current, solution_);
    search_.begin(team);
    search_.improve(team, strictest());
    hand_over(team, line);
  }

  VICINITY_HD void finish(Team& team, const LineMemory& line) {
    search_.end(team);
    team.once([&] { line.state->evaluations += search_.evaluations(); });
  }
  VICINITY_HD void hand_over(Team& team, const LineMemory& line) {
    finish(team, line);
    copy(team, solution_, line.handed);
    team.once([&] {
      line.state->handed_distance = search_.distance();
      line.state->handed_feasible = search_.feasible();
    });
  }
  VICINITY_HD void copy(Team& team, const Packed& from, const Packed& to) const {
    team.each(problem_.vrp.n + problem_.routes, [&](std::int32_t i) { to.customers[i] = from.customers[i]; });  // ends follow
  }

  const Problem& problem_;
  Packed solution_;
  Pieces for_split_, for_search_, for_strings_;
  std::size_t bytes_ = 0;
  Split<Team> split_;
  LocalSearch<Team> search_;
  StringRemoval strings_;
};

}  // namespace vicinity::alns::hybrid::block
