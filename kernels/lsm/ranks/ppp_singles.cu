// mpi-gpu for the permuted perceptron problem with flips of one sign: the evaluators of kernels/lsm/tuned/ppp/singles.cu, on the grids of
// all ranks (ppp.cuh), included as ppp_pairs.cu does.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/util/math.hpp"
#include "kernels/lsm/ranks/ppp.cuh"
#include "kernels/lsm/ranks/slices.hpp"
#include "kernels/lsm/tuned/ppp/masks.cuh"
#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm::perceptron::of_ranks {
#include "kernels/lsm/tuned/ppp/singles.cu"
}  // namespace vicinity::lsm::perceptron::of_ranks

namespace vicinity::lsm {

/// Small tiles while the blocks of all ranks have one each.
std::unique_ptr<Run> slice_run(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  namespace tuned = perceptron::of_ranks::vicinity::lsm::perceptron;
  const perceptron::RankTask of_ranks{task, ranks};
  const std::int64_t tiles = divide_up(neighborhood.instance().columns(), tuned::SinglesTile<1, 2>::columns);
  return tiles <= std::int64_t{ranks.mailbox.multiprocessors()} * ranks.mailbox.ranks()
             ? tuned::run_with_fragments<1>(neighborhood, of_ranks)
             : tuned::run_with_fragments<2>(neighborhood, of_ranks);
}

}  // namespace vicinity::lsm
