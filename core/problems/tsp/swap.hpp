#pragma once
// The searches' view of the travelling salesman problem: swaps of the cities at two positions of the tour (section 6.4).
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/ceiling.hpp"
#include "core/api/outcome.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/tsp/tsp.hpp"
#include "core/util/permutation.hpp"
#include "core/util/rng.hpp"

namespace vicinity::local_search {

class TspSwap {
 public:
  using Solution = tsp::Tour;

  explicit TspSwap(const tsp::Tsp& tsp) : tsp_(&tsp) {}

  [[nodiscard]] const tsp::Tsp& instance() const noexcept { return *tsp_; }
  [[nodiscard]] std::int64_t moves() const { return moves::count<2>(tsp_->size()); }
  /// A uniform shuffle.
  [[nodiscard]] Solution start(std::uint64_t seed) const { return shuffled(tsp_->size(), seed, start_stream); }
  [[nodiscard]] std::int64_t value(const Solution& tour) const { return tsp::length(*tsp_, tour); }
  void apply(Solution& tour, std::uint64_t, std::int64_t, std::int64_t move) const {
    moves::exchange(tour, moves::at<2>(tsp_->size(), move));
  }
  static constexpr Ceiling ceiling = Ceiling::integer;
  /// Not known: a swap changes few moves, and how many of them must be looked at depends on the bounds that a design keeps.
  [[nodiscard]] static double fewest_operations() { return 0; }

  // --- the oracle's side
  [[nodiscard]] std::string complaint(const Solution& tour, std::int64_t claimed) const {
    if (std::string what = tsp::complaint(*tsp_, tour); !what.empty()) return what;
    const std::int64_t length = tsp::length(*tsp_, tour);
    return length == claimed ? "" : "length " + std::to_string(length) + ", not " + std::to_string(claimed) + " as claimed";
  }
  [[nodiscard]] std::int64_t objective(const Solution& tour) const { return tsp::length(*tsp_, tour); }
  [[nodiscard]] vicinity::Solution encoded(const Solution& tour) const { return tour; }
  [[nodiscard]] Solution decoded(const vicinity::Solution& tour) const { return tour; }

 private:
  const tsp::Tsp* tsp_;
};

}  // namespace vicinity::local_search
