// cpu-serial, the paper's baseline and the reference: one core evaluates every neighbour by itself (neighbor_evaluator.hpp), then selects
// over the fitnesses.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/methods/lsm/task.hpp"
#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/neighbor_evaluator.hpp"
#include "cpu_ref/lsm/run.hpp"

namespace vicinity::lsm {
namespace {

template <EvaluatesNeighbors Evaluator>
class SerialSearch {
 public:
  using Neighborhood = typename Evaluator::Neighborhood;
  using Key = typename Evaluator::Key;

  explicit SerialSearch(const Neighborhood& neighborhood)
      : neighborhood_(neighborhood),
        evaluator_(neighborhood),
        tabu_until_(std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(neighborhood.moves()))) {}

  /// Of 60,000 cities the tabu times are 7.2 GB, first touched here.
  void begin(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    constexpr std::int64_t between_checks = 1 << 20;
    for (std::int64_t first = 0, moves = neighborhood_.moves(); first < moves; first += between_checks) {
      interruption.check();
      std::fill_n(&tabu_until_[static_cast<std::size_t>(first)], std::min(between_checks, moves - first), 0);
    }
    evaluator_.begin(state, interruption);
  }
  /// The least key of the moves that are not forbidden; of all, where all are. A row is looked at one by one only when its least key could
  /// be chosen.
  [[nodiscard]] local_search::Choice choose(const SearchState<Neighborhood>& state, const Interruption& interruption) {
    const std::int64_t base = Evaluator::base(state);
    Best free, any;
    std::int64_t first = 0;
    evaluator_.each_row(state, [&](const Key* keys, std::int32_t length) {
      interruption.check();
      Key least = none;
      for (std::int32_t c = 0; c < length; ++c) least = std::min(least, keys[c]);
      if (least < any.key) any = {least, first + (std::find(keys, keys + length, least) - keys)};
      for (std::int32_t c = 0; least < free.key && c < length; ++c)
        if (keys[c] < free.key &&
            !local_search::forbids(tabu_until_[static_cast<std::size_t>(first + c)], state.iteration(), base + keys[c], state.best_value()))
          free = {keys[c], first + c};
      first += length;
    });
    const bool forbidden = free.move < 0;
    const Best& best = forbidden ? any : free;
    return {base + best.key, best.move, forbidden};
  }
  void moved(const SearchState<Neighborhood>& state, const local_search::Choice& choice) {
    if (state.is_tabu_search())
      tabu_until_[static_cast<std::size_t>(choice.move)] =
          static_cast<std::int32_t>(local_search::tabu_until(state.iteration() - 1, state.tenure()));
    evaluator_.moved(state, choice.move);
  }
  [[nodiscard]] static Policy policy() { return {{"threads", 1}, {"element_bits", 8 * sizeof(Key)}}; }
  [[nodiscard]] Work work(std::int64_t neighborhood_evaluations) const { return cpu_work(neighborhood_, neighborhood_evaluations, 1); }

 private:
  static constexpr Key none = std::numeric_limits<Key>::max();  ///< no key is as large
  struct Best {
    Key key = none;
    std::int64_t move = -1;
  };

  const Neighborhood& neighborhood_;
  Evaluator evaluator_;
  std::unique_ptr<std::int32_t[]> tabu_until_;  ///< [move]: the first iteration in which it is free
};

template <class Evaluator>
std::unique_ptr<Run> run_of(const typename Evaluator::Neighborhood& neighborhood, const local_search::Task& task) {
  return cpu_run(neighborhood, task, 1, [](const auto& given, int) { return std::make_unique<SerialSearch<Evaluator>>(given); });
}

/// Highest less lowest of n values, at least one.
template <class Wide, class T>
[[nodiscard]] Wide width(const T* values, std::int64_t n) {
  const auto [low, high] = std::minmax_element(values, values + n);
  return static_cast<Wide>(*high) - static_cast<Wide>(*low);
}
/// No two entries of a matrix differ by more.
[[nodiscard]] std::int64_t most_difference(const qap::Qap& qap) {
  const std::int64_t entries = std::int64_t{qap.size()} * qap.size();
  return std::max(width<std::int64_t>(qap.view().a, entries), width<std::int64_t>(qap.view().b, entries));
}
/// No distance is larger than the diagonal of the rectangle around all cities.
[[nodiscard]] bool has_short_distances(const tsp::Tsp& tsp) {
  const tsp::View view = tsp.view();
  return tsp::distance(width<double>(view.x, view.n), width<double>(view.y, view.n)) <= std::numeric_limits<std::uint16_t>::max();
}

/// The narrowest numbers that hold an instance. A rotation of K facilities is K - 1 swaps, and the largest number is no key.
template <int K>
std::unique_ptr<Run> prepare(const local_search::QapExchange<K>& neighborhood, const local_search::Task& task) {
  const qap::Qap& qap = neighborhood.instance();
  const std::int64_t most = most_difference(qap), most32 = std::numeric_limits<std::int32_t>::max();
  if ((K - 1) * qap.delta_bound() >= most32 || most > most32)
    return run_of<QapEvaluator<K, std::int64_t, std::int64_t>>(neighborhood, task);
  if (most > std::numeric_limits<std::int16_t>::max()) return run_of<QapEvaluator<K, std::int32_t, std::int32_t>>(neighborhood, task);
  return run_of<QapEvaluator<K, std::int16_t, std::int32_t>>(neighborhood, task);
}
template <int K>
std::unique_ptr<Run> prepare(const local_search::PppFlip<K>& neighborhood, const local_search::Task& task) {
  return run_of<PppEvaluator<K>>(neighborhood, task);
}
std::unique_ptr<Run> prepare(const local_search::TspSwap& neighborhood, const local_search::Task& task) {
  if (has_short_distances(neighborhood.instance())) return run_of<TspEvaluator<std::uint16_t>>(neighborhood, task);
  return run_of<TspEvaluator<std::int32_t>>(neighborhood, task);
}
template <class Real>
std::unique_ptr<Run> prepare(const local_search::WeierstrassCrowns<Real>& neighborhood, const local_search::Task& task) {
  return run_of<WeierstrassEvaluator<Real>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> prepare_serial(const Case& c, const Instance& instance) {
  const local_search::Task task = task_of(c);
  return with_neighborhood(c, instance, [&](const auto& neighborhood) { return prepare(neighborhood, task); });
}

}  // namespace vicinity::lsm
