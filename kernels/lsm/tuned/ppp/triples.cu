// gpu-tuned for the permuted perceptron problem with flips of three signs.
//
// Problem. z of all triples of columns, an iteration: of all pairs beyond each first column, as if that were flipped already.
//
// Phases, for each first column and tile of pairs (tiles.cuh): (1) sort the rows; (2) count all bins for all pairs of the tile, and choose.
// At the end: (3) the best of the block. Synchronisation: the barriers of the sort, and one more a tile. Cost: that of the tiles.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/lsm/tuned/ppp/search.cuh"
#include "kernels/lsm/tuned/ppp/tiles.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace perceptron {
namespace {

/// Estimated cycles of an iteration, on the multiprocessor with most tiles. What a tile costs by itself is the sort.
template <class Shape>
[[nodiscard]] double cycles(const ppp::Ppp& instance) {
  constexpr double to_pack = 11, to_count = 2.2, to_begin = 1500, in_device_memory = 2;
  const std::int32_t m = instance.rows(), n = instance.columns();
  const double bins = std::min<double>(std::min(m, n / 2 + 1), 1.7 * std::sqrt(n)), words = m / 32.0 + bins / 2;
  const double slots = 1.1 * 2 * words, slower = TilesEvaluator<3, Shape>::layout(m, n).slot_capacity < slots ? in_device_memory : 1;
  const double of_tile = to_begin + (words * Shape::words * to_pack + bins * 8 * Shape::p_words * Shape::q_words * to_count) * slower;
  return std::ceil(static_cast<double>(TilesEvaluator<3, Shape>::shares(n)) / cuda::multiprocessors()) * of_tile;
}

/// With the tile of the fewest cycles.
[[nodiscard]] std::unique_ptr<Run> run_of(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task) {
  using Small = TileShape<1, 1, 1, 1>;
  using Large = TileShape<2, 4, 2, 2>;
  return cycles<Large>(neighborhood.instance()) < cycles<Small>(neighborhood.instance())
             ? make_run<TilesEvaluator<3, Large>>(neighborhood, task)
             : make_run<TilesEvaluator<3, Small>>(neighborhood, task);
}

}  // namespace
}  // namespace perceptron

std::unique_ptr<Run> tuned_run(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task) {
  return perceptron::run_of(neighborhood, task);
}

}  // namespace vicinity::lsm
