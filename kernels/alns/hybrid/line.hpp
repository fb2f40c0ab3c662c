#pragma once
// A generation of a line of gpu-hybrid, by a block (what it does: core/methods/alns/hybrid/island.hpp).
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

  /// A child is made in one pass; an annealing line begins in the first, and anneals and ends in the second.
  VICINITY_HD void run(Team& team, const LineJob& job, const LineMemory& line) {
    for (std::int32_t pass = job.anneals && !job.begins ? 1 : 0; pass < (job.anneals ? 2 : 1); ++pass) {
      if (pass == 1) {
        team.first_warp([&](const auto& warp) { strings_.anneal(warp, line.current, line.best, *line.state, job); });
        if (!job.ends) return;
        copy(team, line.state->best_distance < no_distance ? line.best : line.current, solution_);
      } else if (job.cuts) {
        split_(team, line.input.customers, job.penalties);
      } else {
        copy(team, line.input, solution_);
      }
      search_.begin(team);
      // how strict penalties become: those of the island, ten times these, the strictest
      bool load_feasible = false, duration_feasible = false;
      const std::int32_t first = pass == 1 ? 2 : job.cuts ? 0 : 3, last = pass == 1 || !job.anneals ? 2 : 0;
      for (std::int32_t step = first; step <= last && (step == first || !search_.feasible()); ++step) {
        search_.improve(team, step == 0 ? job.penalties : step == 1 ? stricter(job.penalties) : strictest());
        if (step > 0) continue;
        load_feasible = search_.load_feasible();
        duration_feasible = search_.duration_feasible();
      }
      search_.end(team);
      const bool hands_over = pass == 1 || !job.anneals;
      copy(team, solution_, hands_over ? line.handed : line.current);
      if (!hands_over) copy(team, solution_, line.best);
      team.once([&] {
        LineState& state = *line.state;
        state.evaluations += search_.evaluations();
        if (hands_over) {
          state.handed_distance = search_.distance();
          state.handed_feasible = search_.feasible();
          state.load_feasible = load_feasible;
          state.duration_feasible = duration_feasible;
        } else {
          state.best_distance = search_.feasible() ? search_.distance() : no_distance;
          state.penalties = job.penalties;
        }
      });
    }
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
