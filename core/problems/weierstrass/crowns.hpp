#pragma once
// The searches' view of the Weierstrass function: one random point in each of M crowns (sections 4.5 and 6.3). Move f is crown f, whatever
// point it holds in an iteration; that is also what tabu search remembers. Values are weierstrass::ordered().
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/api/ceiling.hpp"
#include "core/api/outcome.hpp"
#include "core/problems/weierstrass/weierstrass.hpp"
#include "core/util/rng.hpp"

namespace vicinity::local_search {

template <class Real>
class WeierstrassCrowns {
 public:
  using Number = Real;
  using Solution = std::vector<Real>;

  explicit WeierstrassCrowns(const weierstrass::Weierstrass& function) : function_(&function) {}

  [[nodiscard]] const weierstrass::Weierstrass& instance() const noexcept { return *function_; }
  [[nodiscard]] std::int64_t moves() const { return function_->neighbors(); }
  [[nodiscard]] Real width() const { return weierstrass::crown_width<Real>(moves(), function_->dimension()); }
  /// Uniform in [-1, 1]^n: coordinate k from draw k.
  [[nodiscard]] Solution start(std::uint64_t seed) const {
    Solution x(static_cast<std::size_t>(function_->dimension()));
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] = weierstrass::signed_unit<Real>(static_cast<std::uint32_t>(random_bits(seed, k, 0, start_stream)));
    return x;
  }
  [[nodiscard]] std::int64_t value(const Solution& x) const {
    Real sum = 0;
    for (const Real coordinate : x) sum = plus(sum, weierstrass::of_coordinate(coordinate));
    return weierstrass::ordered(sum);
  }
  void apply(Solution& x, std::uint64_t seed, std::int64_t t, std::int64_t move) const {
    const std::int32_t n = function_->dimension();
    const Real r = weierstrass::radius<Real>(move, weierstrass::draw(seed, t, move, 0), width());
    const weierstrass::Face face = weierstrass::face(weierstrass::draw(seed, t, move, 1), n);
    for (std::int32_t k = 0; k < n; ++k) {
      Real& coordinate = x[static_cast<std::size_t>(k)];
      coordinate = weierstrass::moved<Real>(coordinate, k, weierstrass::draw(seed, t, move, 2 + k), r, face);
    }
  }
  static constexpr Ceiling ceiling = Ceiling::issue;
  /// All neighbours are drawn anew, and the roundings of a coordinate's sum are fixed: a term takes a fused operation that adds it, and one
  /// that doubles the angle. What begins the groups of terms is not counted: their number is a choice. A number of 64 bits counts as two.
  [[nodiscard]] double fewest_operations() const {
    constexpr double a_term = 2.0 * sizeof(Real) / 4;
    return a_term * weierstrass::terms * function_->dimension() * static_cast<double>(moves());
  }

  // --- the oracle's side
  [[nodiscard]] std::string complaint(const Solution& x, std::int64_t claimed) const {
    if (x.size() != static_cast<std::size_t>(function_->dimension())) return std::to_string(x.size()) + " coordinates";
    for (const Real coordinate : x)
      if (!(std::abs(coordinate) <= 1)) return "coordinate " + std::to_string(coordinate) + " is outside -1..1";
    const double exact = oracle(x), said = weierstrass::from_ordered<Real>(claimed);
    if (std::abs(exact - said) <= weierstrass::tolerance<Real> * static_cast<double>(x.size())) return "";
    return "value " + std::to_string(exact) + ", not " + std::to_string(said) + " as claimed";
  }
  /// In units of 10^-9.
  [[nodiscard]] std::int64_t objective(const Solution& x) const { return std::llround(1e9 * oracle(x)); }
  /// The bits of the coordinates, lower word first.
  [[nodiscard]] vicinity::Solution encoded(const Solution& x) const {
    vicinity::Solution words;
    for (const Real coordinate : x) {
      const auto bits = bits_of(coordinate);
      words.push_back(static_cast<std::int32_t>(bits));
      if constexpr (sizeof bits == 8) words.push_back(static_cast<std::int32_t>(bits >> 32));
    }
    return words;
  }
  [[nodiscard]] Solution decoded(const vicinity::Solution& words) const {
    constexpr std::size_t each = sizeof(Real) / 4;
    Solution x(words.size() / each);
    std::memcpy(x.data(), words.data(), x.size() * sizeof(Real));
    return x;
  }

 private:
  [[nodiscard]] static double oracle(const Solution& x) { return weierstrass::value(std::vector<double>(x.begin(), x.end())); }

  const weierstrass::Weierstrass* function_;
};

}  // namespace vicinity::local_search
