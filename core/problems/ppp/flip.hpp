#pragma once
// The searches' view of the permuted perceptron problem: flips of K signs, the neighbours at Hamming distance K (sections 4.3 and 6.2;
// K = 3 is in appendix C.2).
#include <cstdint>
#include <string>
#include <vector>

#include "core/api/ceiling.hpp"
#include "core/api/outcome.hpp"
#include "core/problems/moves.hpp"
#include "core/problems/ppp/ppp.hpp"
#include "core/util/rng.hpp"

namespace vicinity::local_search {

template <int K>
class PppFlip {
 public:
  using Solution = ppp::Signs;

  explicit PppFlip(const ppp::Ppp& ppp) : ppp_(&ppp) {}

  [[nodiscard]] const ppp::Ppp& instance() const noexcept { return *ppp_; }
  [[nodiscard]] std::int64_t moves() const { return moves::count<K>(ppp_->columns()); }
  /// Uniform: sign i is bit 0 of draw i.
  [[nodiscard]] Solution start(std::uint64_t seed) const {
    Solution v(static_cast<std::size_t>(ppp_->columns()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = (random_bits(seed, i, 0, start_stream) & 1) != 0 ? std::int8_t{1} : std::int8_t{-1};
    return v;
  }
  [[nodiscard]] std::int64_t value(const Solution& v) const { return ppp::cost_of_products(*ppp_, ppp::products(*ppp_, v)); }
  void apply(Solution& v, std::uint64_t, std::int64_t, std::int64_t move) const {
    for (const std::int32_t i : moves::at<K>(ppp_->columns(), move).at) {
      std::int8_t& sign = v[static_cast<std::size_t>(i)];
      sign = static_cast<std::int8_t>(-sign);
    }
  }
  static constexpr Ceiling ceiling = Ceiling::integer;
  /// Not known: how rows are counted, and what of it is kept between moves, is up to a design.
  [[nodiscard]] static double fewest_operations() { return 0; }

  // --- the oracle's side
  [[nodiscard]] std::string complaint(const Solution& v, std::int64_t claimed) const {
    if (std::string what = ppp::complaint(*ppp_, v); !what.empty()) return what;
    const std::int64_t cost = ppp::cost(*ppp_, v);
    return cost == claimed ? "" : "cost " + std::to_string(cost) + ", not " + std::to_string(claimed) + " as claimed";
  }
  [[nodiscard]] std::int64_t objective(const Solution& v) const { return ppp::cost(*ppp_, v); }
  [[nodiscard]] vicinity::Solution encoded(const Solution& v) const { return {v.begin(), v.end()}; }
  [[nodiscard]] Solution decoded(const vicinity::Solution& v) const { return {v.begin(), v.end()}; }

 private:
  const ppp::Ppp* ppp_;
};

}  // namespace vicinity::local_search
