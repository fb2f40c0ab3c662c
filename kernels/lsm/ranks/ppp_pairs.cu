// mpi-gpu for the permuted perceptron problem with flips of two signs: the evaluators of kernels/lsm/tuned/ppp/pairs.cu, on the grids of
// all ranks (ppp.cuh). That source is included into a namespace of its own, below the one whose names it uses: there its runs are made by
// of_ranks::make_run(). Whatever it includes must be included here before. Apart from its entry all of it is templates, and is compiled for
// the searches of ranks alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/util/math.hpp"
#include "kernels/lsm/ranks/ppp.cuh"
#include "kernels/lsm/ranks/slices.hpp"
#include "kernels/lsm/tuned/ppp/masks.cuh"
#include "kernels/lsm/tuned/ppp/near_rows.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/ppp/tiles.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm::perceptron::of_ranks {
#include "kernels/lsm/tuned/ppp/pairs.cu"
}  // namespace vicinity::lsm::perceptron::of_ranks

namespace vicinity::lsm {

/// As tuned::run_of(), where the tiles are dealt to the multiprocessors of all ranks.
std::unique_ptr<Run> slice_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  namespace tuned = perceptron::of_ranks::vicinity::lsm::perceptron;
  using Small = perceptron::TileShape<1, 1, 1, 1>;
  using Masked = tuned::PairTile<1, 8>;
  const perceptron::RankTask of_ranks{task, ranks};
  const ppp::Ppp& instance = neighborhood.instance();
  const std::int64_t blocks = std::int64_t{ranks.mailbox.multiprocessors()} * ranks.mailbox.ranks();
  if (Small::tiles(divide_up(instance.columns(), 32)) <= blocks)
    return perceptron::of_ranks::make_run<perceptron::TilesEvaluator<2, Small>>(neighborhood, of_ranks);
  if (tuned::has_masks<Masked>(instance, blocks) || !perceptron::NearRowsEvaluator::suits(instance, blocks))
    return perceptron::of_ranks::make_run<tuned::PairsEvaluator<Masked>>(neighborhood, of_ranks);
  return perceptron::of_ranks::make_run<perceptron::NearRowsEvaluator>(neighborhood, of_ranks);
}

}  // namespace vicinity::lsm
