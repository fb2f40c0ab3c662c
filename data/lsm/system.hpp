#pragma once
#include <memory>

#include "core/error.hpp"
#include "core/local_search.hpp"
#include "core/neighborhoods/qap.hpp"
#include "core/run.hpp"

namespace vicinity::lsm {

enum class Kind { hamming1, hamming2, hamming3, swap, exchange3, crowns };

/// System `lsm`: problems and axes, without implementations.
[[nodiscard]] System system();

/// The instance of a case: from the catalogue by name, or as the axes of its problem say. Throws InputError.
[[nodiscard]] std::shared_ptr<const Instance> make_instance(const Case& c);

/// The neighbourhood of a case. Throws InputError when its problem has no such one.
[[nodiscard]] Kind kind_of(const Case& c);

/// What a case asks of the search. Throws InputError.
[[nodiscard]] local_search::Task task_of(const Case& c);

/// Throws InputError unless a neighbourhood of this many moves can be searched.
void check_moves(const Case& c, std::int64_t moves);

/// visit(neighborhood), with the neighbourhood of core/neighborhoods/ that the case is about. Throws InputError.
template <class Visit>
auto with_neighborhood(const Case& c, const Instance& instance, const Visit& visit) {
  const auto checked = [&](const auto& neighborhood) {
    check_moves(c, neighborhood.moves());
    return visit(neighborhood);
  };
  const auto& qap = dynamic_cast<const qap::Qap&>(instance);
  if (kind_of(c) == Kind::swap) return checked(local_search::QapExchange<2>(qap));
  return checked(local_search::QapExchange<3>(qap));
}

}  // namespace vicinity::lsm
