#pragma once
// A child's education: local search by rounds to an optimum of all moves of core/methods/alns/hybrid/moves.hpp and swap_star.hpp, under
// given penalties.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/methods/alns/hybrid/granular.hpp"
#include "core/methods/alns/hybrid/moves.hpp"
#include "core/problems/vrp/vrp.hpp"
#include "cpu_ref/alns/hybrid/move_bounds.hpp"
#include "cpu_ref/alns/hybrid/swap_star.hpp"
#include "cpu_ref/alns/hybrid/tours.hpp"
#include "cpu_ref/run/interruption.hpp"

namespace vicinity::alns::hybrid {

class LocalSearch {
 public:
  LocalSearch(const vrp::View& vrp, const Granular& granular);

  /// Improves `tours` until no move does.
  void improve(Tours& tours, const Penalties& penalties, const Interruption& interruption = Interruption());

  [[nodiscard]] std::int64_t rounds() const noexcept { return rounds_; }
  /// Carried out.
  [[nodiscard]] std::int64_t moves() const noexcept { return moves_; }
  /// (customer, neighbour) pairs evaluated.
  [[nodiscard]] std::int64_t evaluations() const noexcept { return evaluations_; }

 private:
  struct Reference {
    std::int32_t u, slot;
  };
  /// Who stands around a customer.
  struct Surroundings {
    std::int32_t pp, p, x, xx;
    bool operator==(const Surroundings&) const = default;
  };

  void evaluate(std::int32_t u, std::uint32_t slots);
  void offer(std::int32_t u, Best& best) const;
  [[nodiscard]] std::uint32_t promising(std::int32_t u, std::uint32_t slots) const;
  void note(std::int32_t r);
  [[nodiscard]] std::uint32_t all_slots() const { return (std::uint32_t{1} << slots_) - 1; }
  bool round();
  bool exchange();
  void claim(std::int32_t r, std::uint64_t claim);
  void carry_out(std::int32_t u, const Best& move);
  void refresh(bool had_empty);
  [[nodiscard]] std::uint64_t sectors(std::int32_t r) const;
  [[nodiscard]] std::int32_t neighbor(std::int32_t u, std::int32_t slot) const;
  /// Route that u's best move shares with its neighbour.
  [[nodiscard]] std::int32_t other_route(std::int32_t u) const;

  vrp::View vrp_;
  const Granular* granular_;
  std::int32_t slots_;                        ///< neighbours that serve moves; also the slot of the empty route
  std::vector<std::size_t> first_reference_;  ///< [v] into references_
  std::vector<Reference> references_;         ///< who has v as a neighbour
  Tours* tours_ = nullptr;
  Penalties penalties_{};
  std::int32_t empty_ = -1;
  std::vector<Best> best_;             ///< [u]
  std::vector<std::uint64_t> claims_;  ///< [r] least claim of this round
  std::vector<char> changed_;          ///< [r] by this round
  std::vector<std::uint32_t> renew_;   ///< [u] slots to be evaluated again, a bit each
  MoveBounds bounds_;
  bool keeps_distances_;                    ///< bounds of distances from one evaluation of a pair to the next; else none of the next four
  std::vector<Surroundings> surroundings_;  ///< [u] when last noted
  std::vector<std::uint32_t> stale_;        ///< [u] slots whose bound is of other surroundings, a bit each
  std::vector<std::int32_t> distances_;     ///< [u * slots_ + slot] bounds
  std::vector<std::int64_t> penalty_of_;    ///< [r]
  std::vector<std::int32_t> improving_;     ///< customers
  struct Pair {
    std::int32_t r, s;
    Exchange exchange;
    std::uint64_t claim;
  };
  SwapStar swap_star_;
  std::vector<char> dirty_;             ///< [r] to be looked at by SWAP*
  std::vector<std::uint64_t> sectors_;  ///< [r]
  std::vector<Pair> pairs_;             ///< that improve
  vrp::Route first_, second_, made_first_, made_second_;
  std::int64_t rounds_ = 0, moves_ = 0, evaluations_ = 0;
};

}  // namespace vicinity::alns::hybrid
