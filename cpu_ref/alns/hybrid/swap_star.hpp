#pragma once
// SWAP* between two routes (the rule: core/methods/alns/hybrid/swap_star.hpp).
#include <cstdint>
#include <vector>

#include "core/methods/alns/hybrid/moves.hpp"
#include "core/methods/alns/hybrid/swap_star.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "cpu_ref/alns/hybrid/tours.hpp"

namespace vicinity::alns::hybrid {

class SwapStar {
 public:
  explicit SwapStar(const vrp::View& vrp) : vrp_(vrp) {}

  /// The best exchange of two routes that are not empty; its delta is 0 where none improves.
  [[nodiscard]] Exchange best(const Tours& tours, const Penalties& penalties, std::int32_t r, std::int32_t s);
  void carry_out(Tours& tours, std::int32_t r, std::int32_t s, const Exchange& exchange);

 private:
  /// A customer as it leaves its route.
  struct Leaver {
    std::int32_t customer, position, removal;  ///< removal: the change of the distance
    Places places;                             ///< in the other route
  };
  struct Edge {
    std::int32_t behind, length;  ///< the customer it leads to; 0: the depot
  };
  void look_at(const Tours& tours, std::int32_t from, std::int32_t to, std::vector<Leaver>& leavers);
  [[nodiscard]] std::int32_t own_place(const Tours& tours, std::int32_t leaver, std::int32_t enters) const;

  vrp::View vrp_;
  std::vector<Leaver> of_r_, of_s_;
  std::vector<Edge> edges_;
  vrp::Route made_r_, made_s_;
};

}  // namespace vicinity::alns::hybrid
