#pragma once
// What no move of a customer with a neighbour can be below, for its neighbours side by side.
#include <cstdint>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/moves.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "cpu_ref/alns/hybrid/tours.hpp"

namespace vicinity::alns::hybrid {

class MoveBounds {
 public:
  MoveBounds(const vrp::View& vrp, const Granular& granular) : vrp_(vrp), granular_(&granular) {}

  /// Customer u and these of its granular neighbours, a bit each: numbers 0 .. count() - 1 in the order of slots.
  void look_at(const Tours& tours, const Penalties& penalties, std::int32_t u, std::uint32_t slots);
  /// The same ones without their routes: distance().
  void look_around(const Tours& tours, std::int32_t u);

  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] std::int32_t slot(std::int32_t i) const { return lanes_.slot[i]; }
  [[nodiscard]] std::int32_t neighbor(std::int32_t i) const { return lanes_.v[i]; }
  /// No move of Evaluator::offer_all() with the neighbour has a delta below.
  [[nodiscard]] std::int64_t of(std::int32_t i) const { return lanes_.after[i] - lanes_.before[i]; }
  /// Nor changes the distance by less, whatever routes u and the neighbour are of, as long as each has the same two stops on either side.
  [[nodiscard]] std::int32_t distance(std::int32_t i) const { return lanes_.distance[i]; }
  /// The first of the least; -1: there are none.
  [[nodiscard]] std::int32_t least() const;

 private:
  /// What the moves read of a neighbour v, of q before and of y behind it; distances by the names of Across.
  struct Lanes {
    static constexpr std::int32_t most = 32;
    using Words = std::uint32_t[most];
    using Numbers = std::int32_t[most];

    alignas(64) Numbers slot, v, y, q, load_to_v, demand_v, demand_y, demand_q;
    Numbers load;  ///< of v's route; -1: it is u's
    Words qv, vy, qq_q, y_yy, uv, uq, uy, xv, xy, xq, pv, py, pq, xx_v, xx_y, x_yy, pp_v, pp_q, p_qq;
    Numbers after;              ///< least distance and penalties of loads
    Numbers distance;           ///< least distance
    std::int64_t before[most];  ///< penalties of both routes
  };

  void read(const Tours& tours, const Penalties& penalties, std::int32_t u, const Around& a, std::uint32_t slots);
  template <bool loads>
  void bound(const Tours& tours, const Penalties& penalties, std::int32_t u, const Around& a);

  vrp::View vrp_;
  const Granular* granular_;
  std::int32_t count_ = 0;
  Lanes lanes_{};
};

}  // namespace vicinity::alns::hybrid
