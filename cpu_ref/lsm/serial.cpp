// cpu-serial, the paper's baseline and the reference: one core evaluates every neighbour by itself (neighbor_evaluator.hpp), then selects
// over the fitnesses.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/neighbor_evaluator.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {
namespace {

template <local_search::SearchNeighborhood N, EvaluatesNeighbors<N> Evaluator = NeighborEvaluator<N>>
class SerialSearch {
 public:
  using Neighborhood = N;

  SerialSearch(const Neighborhood& neighborhood, const local_search::Task&, int)
      : neighborhood_(neighborhood),
        evaluator_(neighborhood),
        moves_(neighborhood.moves()),
        tabu_until_(static_cast<std::size_t>(moves_)),
        values_(slice) {}

  void begin(const SearchState<Neighborhood>& state) {
    std::fill(tabu_until_.begin(), tabu_until_.end(), 0);
    evaluator_.begin(state.solution());
  }
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state) {
    local_search::Choice best;
    for (std::int64_t first = 0; first < moves_; first += slice) {
      const std::int64_t last = std::min(moves_, first + slice);
      evaluator_.evaluate(state, first, last, values_.data());
      for (std::int64_t move = first; move < last; ++move) {
        const std::int64_t value = values_[static_cast<std::size_t>(move - first)];
        const bool forbidden =
            local_search::forbids(tabu_until_[static_cast<std::size_t>(move)], state.iteration(), value, state.best_value());
        if (const local_search::Choice choice{value, move, forbidden}; better(choice, best)) best = choice;
      }
    }
    return best;
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    if (state.is_tabu_search())
      tabu_until_[static_cast<std::size_t>(choice.move)] =
          static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure()));
    evaluator_.begin(state.solution());
  }
  [[nodiscard]] static Policy policy() { return {{"threads", 1}}; }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const { return cpu_work(neighborhood_, neighborhood_evaluations, 1); }

 private:
  static constexpr std::int64_t slice = 1 << 14;  ///< moves whose values stay in the cache

  const Neighborhood& neighborhood_;
  Evaluator evaluator_;
  std::int64_t moves_;
  std::vector<std::int32_t> tabu_until_;  ///< [move]: the first iteration in which it is free
  std::vector<std::int64_t> values_;
};

}  // namespace

std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance) {
  const local_search::Task task = task_of(c);
  return with_neighborhood(c, instance, [&](const auto& neighborhood) -> std::unique_ptr<Run> {
    using Neighborhood = std::decay_t<decltype(neighborhood)>;
    return cpu_run<SerialSearch<Neighborhood>>(neighborhood, task, 1);
  });
}

}  // namespace vicinity::lsm
