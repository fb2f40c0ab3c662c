#pragma once
// How cpu-openmp rates all possibilities of a variable and keeps the ratings: in general a loop for the compiler to vectorise;
// for the paper's grid a form of 16-bit ratings and 8-bit offsets, which fit the L1 cache together at the paper's sizes.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/problems/fang_domains/grid_path.hpp"

namespace vicinity::fang {

/// Any heuristic: ratings as they are.
template <LocalHeuristic H>
class Rater {
 public:
  using Stored = typename H::Rating;

  explicit Rater(const H&) {}

  /// Ratings of possibilities [0, count) into `stored`; returns their aggregate.
  typename H::Aggregate rate_all(const H& h, const typename H::Context& context, std::uint32_t count, Stored* __restrict stored) const {
    auto aggregate = h.create();
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto rating = h.rate(context, p);
      stored[p] = rating;
      aggregate = h.aggregate(aggregate, rating);
    }
    return aggregate;
  }
};

/// The grid, where every rating fits 15 bits and every offset 7: four times the cells a vector, and a quarter of the bytes.
/// Every cell is rated by all its distances, as rate() does it.
template <int Load>
class NarrowStepRater {
  using H = StepHeuristic<Load>;

 public:
  using Stored = std::int16_t;

  [[nodiscard]] static bool fits(const H& h) {
    const auto small = [](Cell offset) { return std::abs(offset.x) <= 127 && std::abs(offset.y) <= 127; };
    return h.max_weight() <= 32767 && small(add_halves({0, 0}, h.offsets[0])) && small(add_halves({0, 0}, h.offsets[h.window - 1]));
  }

  explicit NarrowStepRater(const H& h) : columns_(h.window), rows_(h.window) {
    for (std::uint32_t p = 0; p < h.window; ++p) {
      const Cell offset = add_halves({0, 0}, h.offsets[p]);
      columns_[p] = static_cast<std::int8_t>(offset.x);
      rows_[p] = static_cast<std::int8_t>(offset.y);
    }
  }

  std::int32_t rate_all(const H& h, const typename H::Context& context, std::uint32_t count, Stored* __restrict stored) const {
    const std::int8_t* __restrict columns = columns_.data(), * __restrict rows = rows_.data();
    const auto x0 = static_cast<std::int16_t>(context.position.x), y0 = static_cast<std::int16_t>(context.position.y);
    const auto width = static_cast<std::uint16_t>(h.width), height = static_cast<std::uint16_t>(h.height);
    std::int16_t farthest = 0;
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto x = static_cast<std::int16_t>(x0 + columns[p]), y = static_cast<std::int16_t>(y0 + rows[p]);
      std::int16_t distance = 0;
#pragma GCC unroll 16
      for (std::int32_t goal = 0; goal < (Load > 0 ? Load : h.load); ++goal) {
        const auto dx = static_cast<std::int16_t>(x - static_cast<std::int16_t>(context.goals[goal].x));
        const auto dy = static_cast<std::int16_t>(y - static_cast<std::int16_t>(context.goals[goal].y));
        distance = static_cast<std::int16_t>(distance + static_cast<std::int16_t>(dx < 0 ? -dx : dx) +
                                             static_cast<std::int16_t>(dy < 0 ? -dy : dy));
      }
      const bool inside = (static_cast<std::uint16_t>(x) < width) & (static_cast<std::uint16_t>(y) < height);
      const auto rating = static_cast<std::int16_t>(inside ? distance : -1);
      stored[p] = rating;
      farthest = std::max(farthest, rating);
    }
    return farthest;
  }

 private:
  std::vector<std::int8_t> columns_, rows_;
};

}  // namespace vicinity::fang
