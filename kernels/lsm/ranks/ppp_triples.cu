// mpi-gpu for the permuted perceptron problem with flips of three signs: the evaluators of kernels/lsm/tuned/ppp/triples.cu, on the grids
// of all ranks (ppp.cuh), included as ppp_pairs.cu does.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/util/math.hpp"
#include "kernels/lsm/ranks/ppp.cuh"
#include "kernels/lsm/ranks/slices.hpp"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/ppp/tiles.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm::perceptron::of_ranks {
#include "kernels/lsm/tuned/ppp/triples.cu"
}  // namespace vicinity::lsm::perceptron::of_ranks

namespace vicinity::lsm {
namespace {

namespace tuned = perceptron::of_ranks::vicinity::lsm::perceptron;

/// As tuned::cycles(), where the tiles are dealt to the multiprocessors of all ranks.
template <class Shape>
[[nodiscard]] double cycles(const ppp::Ppp& instance, std::int32_t ranks) {
  const auto shares = static_cast<double>(perceptron::TilesEvaluator<3, Shape>::shares(instance.columns()));
  const double of_one = tuned::cycles<Shape>(instance) / std::ceil(shares / cuda::multiprocessors());
  return of_one * std::ceil(shares / (double{1} * cuda::multiprocessors() * ranks));
}

}  // namespace

/// With the tile of the fewest cycles.
std::unique_ptr<Run> slice_run(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  using Small = perceptron::TileShape<1, 1, 1, 1>;
  using Large = perceptron::TileShape<2, 4, 2, 2>;
  const perceptron::RankTask of_ranks{task, ranks};
  const ppp::Ppp& instance = neighborhood.instance();
  return cycles<Large>(instance, ranks.mailbox.ranks()) < cycles<Small>(instance, ranks.mailbox.ranks())
             ? perceptron::of_ranks::make_run<perceptron::TilesEvaluator<3, Large>>(neighborhood, of_ranks)
             : perceptron::of_ranks::make_run<perceptron::TilesEvaluator<3, Small>>(neighborhood, of_ranks);
}

}  // namespace vicinity::lsm
