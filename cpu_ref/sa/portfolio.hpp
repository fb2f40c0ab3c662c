#pragma once
// cpu-portfolio: tabu searches side by side, and a population between them (core/methods/sa/portfolio.hpp).
#include <cstdint>
#include <memory>

#include "core/api/run.hpp"
#include "core/methods/sa/portfolio.hpp"
#include "core/problems/qap/qap.hpp"
#include "cpu_ref/run/interruption.hpp"

namespace vicinity::sa {

/// What one thread searches with; holds nothing from one search to the next.
class TabuSearch {
 public:
  virtual ~TabuSearch() = default;
  /// Search b of a round, `steps` swaps from `start`. `best` is the best so far at any time, and stays so where it is interrupted.
  virtual void run(const qap::Permutation& start, std::uint64_t seed, std::int64_t round, std::int32_t b, std::int32_t steps,
                   portfolio::Elite& best, const Interruption& interruption) = 0;
  /// Where the last search ended.
  [[nodiscard]] virtual portfolio::Elite current() const = 0;
};
/// The caller keeps the instance alive.
[[nodiscard]] std::unique_ptr<TabuSearch> make_tabu_search(const qap::Qap& qap);

[[nodiscard]] std::unique_ptr<Run> prepare_portfolio(const Case& c, const Instance& instance);

}  // namespace vicinity::sa
