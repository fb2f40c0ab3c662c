// The paper's baseline: one core, every neighbour evaluated by itself in the natural incremental way, then the selection over the
// fitnesses.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/methods.hpp"
#include "cpu_ref/lsm/plain.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {
namespace {

template <local_search::SearchNeighborhood N>
class Serial {
 public:
  using Neighborhood = N;

  Serial(const Neighborhood& neighborhood, const local_search::Task&, int)
      : neighborhood_(neighborhood),
        plain_(neighborhood),
        moves_(neighborhood.moves()),
        until_(static_cast<std::size_t>(moves_)),
        values_(slice) {}

  void begin(const SearchState<Neighborhood>& state) {
    std::fill(until_.begin(), until_.end(), 0);
    plain_.begin(state.solution());
  }
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state) {
    local_search::Choice best;
    for (std::int64_t first = 0; first < moves_; first += slice) {
      const std::int64_t last = std::min(moves_, first + slice);
      plain_.evaluate(state, first, last, values_.data());
      for (std::int64_t move = first; move < last; ++move) {
        const std::int64_t value = values_[static_cast<std::size_t>(move - first)];
        const bool forbidden = local_search::forbids(until_[static_cast<std::size_t>(move)], state.iteration(), value, state.best_value());
        if (const local_search::Choice choice{value, move, forbidden}; better(choice, best)) best = choice;
      }
    }
    return best;
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    if (state.is_tabu_search())
      until_[static_cast<std::size_t>(choice.move)] =
          static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure()));
    plain_.begin(state.solution());
  }
  [[nodiscard]] static Policy policy() { return {{"threads", 1}}; }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const { return cpu_work(neighborhood_, neighborhood_evaluations, 1); }

 private:
  static constexpr std::int64_t slice = 1 << 14;

  const Neighborhood& neighborhood_;
  Plain<Neighborhood> plain_;
  std::int64_t moves_;
  std::vector<std::int32_t> until_;  ///< [move]: tabu before this iteration
  std::vector<std::int64_t> values_;
};

}  // namespace

std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance) {
  const local_search::Task task = task_of(c);
  return with_neighborhood(c, instance, [&](const auto& neighborhood) -> std::unique_ptr<Run> {
    using Neighborhood = std::decay_t<decltype(neighborhood)>;
    return cpu_run<Serial<Neighborhood>>(neighborhood, task, 1);
  });
}

}  // namespace vicinity::lsm
