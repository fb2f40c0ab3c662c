#pragma once
// The searches' view of the quadratic assignment problem: exchanges of K locations. K = 2 is the paper's pair-wise exchange (section 4.6),
// K = 3 the exchange of three (appendix A.3).
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/ceiling.hpp"
#include "core/api/outcome.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/qap/qap.hpp"
#include "core/util/permutation.hpp"
#include "core/util/rng.hpp"

namespace vicinity::local_search {

template <int K>
class QapExchange {
 public:
  using Solution = qap::Permutation;

  explicit QapExchange(const qap::Qap& qap) : qap_(&qap) {}

  [[nodiscard]] const qap::Qap& instance() const noexcept { return *qap_; }
  /// Do 32 bits hold the change by any move? It is that of K - 1 swaps.
  [[nodiscard]] bool differences_fit() const { return (K - 1) * qap_->delta_bound() < (std::int64_t{1} << 31); }
  [[nodiscard]] std::int64_t moves() const { return moves::count<K>(qap_->size()); }
  /// A uniform shuffle.
  [[nodiscard]] Solution start(std::uint64_t seed) const { return shuffled(qap_->size(), seed, start_stream); }
  [[nodiscard]] std::int64_t value(const Solution& p) const { return qap::cost(*qap_, p); }
  void apply(Solution& p, std::uint64_t, std::int64_t, std::int64_t move) const { moves::exchange(p, moves::at<K>(qap_->size(), move)); }
  static constexpr Ceiling ceiling = Ceiling::integer;
  /// A move changes the delta of each other by an amount of its own: whatever is kept, that is a sum a move, and a comparison chooses.
  [[nodiscard]] double fewest_operations() const { return 2 * static_cast<double>(moves()); }

  // --- the oracle's side
  [[nodiscard]] std::string complaint(const Solution& p, std::int64_t claimed) const {
    if (std::string what = qap::complaint(qap_->size(), p); !what.empty()) return what;
    const std::int64_t cost = qap::cost(*qap_, p);
    return cost == claimed ? "" : "cost " + std::to_string(cost) + ", not " + std::to_string(claimed) + " as claimed";
  }
  [[nodiscard]] std::int64_t objective(const Solution& p) const { return qap::cost(*qap_, p); }
  [[nodiscard]] vicinity::Solution encoded(const Solution& p) const { return p; }
  [[nodiscard]] Solution decoded(const vicinity::Solution& p) const { return p; }

 private:
  const qap::Qap* qap_;
};

}  // namespace vicinity::local_search
