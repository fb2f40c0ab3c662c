#pragma once
#include <memory>
#include <string>

#include "core/api/run.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/problems/ppp/flip.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"
#include "core/util/error.hpp"

namespace vicinity::lsm {

enum class Kind { hamming1, hamming2, hamming3, swap, exchange3, crowns };

/// The problem an instance is one of: qap, ppp, tsp or weierstrass.
[[nodiscard]] std::string problem_of(const Instance& instance);

/// The neighbourhood of a case. Throws InputError when the problem has no such one.
[[nodiscard]] Kind kind_of(const Case& c, const std::string& problem);

/// Whether a case of problem weierstrass is in single precision. Throws InputError.
[[nodiscard]] bool single_precision(const Case& c);

/// What a case asks of the search. Throws InputError.
[[nodiscard]] local_search::Task task_of(const Case& c);

/// Throws InputError unless a neighbourhood of this many moves can be searched.
void check_moves(const Case& c, std::int64_t moves);

/// Throws InputError unless searches by swaps can take it: EUC_2D alone, up to moves::most_elements cities.
void check_swaps(const tsp::Tsp& tsp);

/// visit(neighborhood), with the neighbourhood of core/problems/<problem>/ that the case is about. Throws InputError.
template <class Visit>
auto with_neighborhood(const Case& c, const Instance& instance, const Visit& visit) {
  const auto checked = [&](const auto& neighborhood) {
    check_moves(c, neighborhood.moves());
    return visit(neighborhood);
  };
  const Kind kind = kind_of(c, problem_of(instance));
  if (const auto* qap = dynamic_cast<const qap::Qap*>(&instance)) {
    if (kind == Kind::swap) return checked(local_search::QapExchange<2>(*qap));
    return checked(local_search::QapExchange<3>(*qap));
  }
  if (const auto* ppp = dynamic_cast<const ppp::Ppp*>(&instance)) {
    if (kind == Kind::hamming1) return checked(local_search::PppFlip<1>(*ppp));
    if (kind == Kind::hamming2) return checked(local_search::PppFlip<2>(*ppp));
    return checked(local_search::PppFlip<3>(*ppp));
  }
  if (const auto* tsp = dynamic_cast<const tsp::Tsp*>(&instance)) {
    check_swaps(*tsp);
    return checked(local_search::TspSwap(*tsp));
  }
  const auto& function = dynamic_cast<const weierstrass::Weierstrass&>(instance);
  if (single_precision(c)) return checked(local_search::WeierstrassCrowns<float>(function));
  return checked(local_search::WeierstrassCrowns<double>(function));
}

}  // namespace vicinity::lsm
