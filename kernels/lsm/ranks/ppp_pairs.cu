// mpi-gpu for the permuted perceptron problem with flips of two and of three signs: the evaluators of kernels/lsm/tuned/ppp/pairs.cu, on
// the grids of all ranks (ppp.cuh). That source is included into a namespace of its own, below the one whose names it uses: there its runs
// are made by of_ranks::make_run(). Whatever it includes must be included here before. Apart from its entry all of it is templates, and is
// compiled for the searches of ranks alone.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>

#include "core/util/math.hpp"
#include "kernels/lsm/ranks/ppp.cuh"
#include "kernels/lsm/ranks/slices.hpp"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm::perceptron::of_ranks {
#include "kernels/lsm/tuned/ppp/pairs.cu"
}  // namespace vicinity::lsm::perceptron::of_ranks

namespace vicinity::lsm {
namespace {

namespace tuned = perceptron::of_ranks::vicinity::lsm::perceptron;

/// As tuned::cycles(), where the tiles are dealt to the multiprocessors of all ranks.
template <int K, class Shape>
[[nodiscard]] double cycles(const ppp::Ppp& instance, std::int32_t ranks) {
  const auto shares = static_cast<double>(tuned::PairsEvaluator<K, Shape>::shares(instance.columns()));
  const double of_one = tuned::cycles<K, Shape>(instance) / std::ceil(shares / cuda::multiprocessors());
  return of_one * std::ceil(shares / (double{1} * cuda::multiprocessors() * ranks));
}

/// With the shape of the fewest cycles.
template <int K, class First, class... Rest>
[[nodiscard]] std::unique_ptr<Run> run_with_best(const local_search::PppFlip<K>& neighborhood, const perceptron::RankTask& task) {
  if constexpr (sizeof...(Rest) > 0) {
    const std::int32_t ranks = task.ranks.mailbox.ranks();
    if (const double others[]{cycles<K, Rest>(neighborhood.instance(), ranks)...};
        *std::min_element(std::begin(others), std::end(others)) < cycles<K, First>(neighborhood.instance(), ranks))
      return run_with_best<K, Rest...>(neighborhood, task);
  }
  return perceptron::of_ranks::make_run<tuned::PairsEvaluator<K, First>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> slice_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  using tuned::TileShape;
  return run_with_best<2, TileShape<1, 1, 1, 1>, TileShape<1, 2, 1, 1>, TileShape<2, 2, 1, 2>, TileShape<2, 4, 2, 2>>(neighborhood,
                                                                                                                      {task, ranks});
}
std::unique_ptr<Run> slice_run(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  using tuned::TileShape;
  return run_with_best<3, TileShape<1, 1, 1, 1>, TileShape<2, 4, 2, 2>>(neighborhood, {task, ranks});
}

}  // namespace vicinity::lsm
