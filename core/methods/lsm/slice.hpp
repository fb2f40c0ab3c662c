#pragma once
// A search whose neighbourhood is shared among ranks (core/api/team.hpp). Each has the whole solution and takes every move; of the
// neighbourhood it evaluates a slice. All take the least of their choices.
#include <cstdint>
#include <limits>
#include <optional>

#include "core/api/team.hpp"
#include "core/methods/lsm/search.hpp"

namespace vicinity::local_search {

/// One of `count` parts of a neighbourhood. Several bests combine by better(), in any order.
struct Slice {
  std::int32_t index = 0, count = 1;

  [[nodiscard]] bool whole() const { return count == 1; }
  /// Where it begins and ends among n of equal cost.
  [[nodiscard]] std::int64_t first_of(std::int64_t n) const { return n * index / count; }
  [[nodiscard]] std::int64_t last_of(std::int64_t n) const { return n * (index + 1) / count; }
};
[[nodiscard]] inline Slice slice_of(const Team& team) { return {team.rank(), team.size()}; }

/// The best of the choices of all ranks. `mine` is that of this one's slice, nothing where its evaluation was interrupted; nothing is
/// returned where that of any rank was.
[[nodiscard]] inline std::optional<Choice> best_of_all(Team& team, const std::optional<Choice>& mine) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();  // in place of `forbidden`
  std::optional<Team::Offer> offer;
  if (mine) offer = mine->move < 0 ? Team::Offer{none, 0, -1} : Team::Offer{mine->forbidden ? 1 : 0, mine->value, mine->move};
  const std::optional<Team::Offer> least = team.least(offer);
  if (!least) return std::nullopt;
  const auto [forbidden, value, move] = *least;
  return move < 0 ? Choice() : Choice{value, move, forbidden != 0};
}

}  // namespace vicinity::local_search
