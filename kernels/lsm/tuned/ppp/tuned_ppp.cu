// gpu-tuned for the permuted perceptron problem: flips of one, two and three signs.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "kernels/lsm/tuned/ppp/ppp_engine.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {
namespace {

using perceptron::OneFlip;
using perceptron::Shape;

/// Estimated cycles of an iteration of K = 2 or 3 by tiles of a shape, on the multiprocessor with most of them. Products lie within a few
/// times their deviation, the root of n. What a tile costs by itself is the sort for K = 3, and to fetch its bits for K = 2.
template <int K, class S>
[[nodiscard]] double cycles(std::int32_t m, std::int32_t n, const perceptron::Machine& machine) {
  constexpr double to_pack = 11, to_count = 2.2, to_begin = K == 3 ? 1500 : 6000, to_turn = 1500, far = 2;
  const double places = std::min<double>(std::min(m, n / 2 + 1), 1.7 * std::sqrt(n)), words = m / 32.0 + places / 2;
  const double slots = 1.1 * 2 * words, capacity = perceptron::make_room<K, S>(m, n, machine.shared).capacity;
  double packing = words * S::units * to_pack, turning = 0, slower = 1;
  if (capacity < slots) {
    const double window = capacity - perceptron::Window::shared;
    if (K == 2 && window >= perceptron::Window::shared) {
      packing *= capacity / window;
      turning = std::ceil(slots / window) * to_turn;
    } else {
      slower = far;
    }
  }
  const double a_tile = to_begin + (packing + turning + places * 8 * S::p_units * S::q_units * to_count) * slower;
  const double items = static_cast<double>(perceptron::tiles_of<S>(divide_up(n, 32))) * (K == 3 ? n : 1);
  return std::ceil(items / machine.multiprocessors) * a_tile;
}

template <class S, int K>
[[nodiscard]] std::unique_ptr<Run> with_shape(const local_search::PppFlip<K>& neighborhood, const local_search::Task& task) {
  return std::make_unique<DeviceRun<perceptron::Engine<K, S>>>(neighborhood, task);
}

/// The shape with the least cycles.
template <int K, class First, class... Rest>
[[nodiscard]] std::unique_ptr<Run> with_best_shape(const local_search::PppFlip<K>& neighborhood, const local_search::Task& task) {
  const std::int32_t m = neighborhood.instance().rows(), n = neighborhood.instance().columns();
  const perceptron::Machine machine = perceptron::Machine::present();
  if constexpr (sizeof...(Rest) > 0)
    if (const double others[]{cycles<K, Rest>(m, n, machine)...};
        *std::min_element(std::begin(others), std::end(others)) < cycles<K, First>(m, n, machine))
      return with_best_shape<K, Rest...>(neighborhood, task);
  return with_shape<First>(neighborhood, task);
}

/// No more registers than the rows need.
template <int M>
[[nodiscard]] std::unique_ptr<Run> with_tiles(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  const std::int32_t m = neighborhood.instance().rows();
  if (m <= OneFlip<M, 2>::rows) return with_shape<OneFlip<M, 2>>(neighborhood, task);
  if (m <= OneFlip<M, 6>::rows) return with_shape<OneFlip<M, 6>>(neighborhood, task);
  return with_shape<OneFlip<M, 12>>(neighborhood, task);
}

}  // namespace

std::unique_ptr<Run> tuned_run(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task) {
  const std::int64_t blocks = task.restarts * divide_up(neighborhood.instance().columns(), OneFlip<1, 2>::columns);
  const bool enough = blocks <= perceptron::Machine::present().multiprocessors;
  return enough ? with_tiles<1>(neighborhood, task) : with_tiles<2>(neighborhood, task);
}
std::unique_ptr<Run> tuned_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task) {
  return with_best_shape<2, Shape<1, 1, 1, 1>, Shape<1, 2, 1, 1>, Shape<2, 2, 1, 2>, Shape<2, 4, 2, 2>>(neighborhood, task);
}
std::unique_ptr<Run> tuned_run(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task) {
  return with_best_shape<3, Shape<1, 1, 1, 1>, Shape<2, 4, 2, 2>>(neighborhood, task);
}

}  // namespace vicinity::lsm
