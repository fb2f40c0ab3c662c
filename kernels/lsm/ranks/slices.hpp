#pragma once
// Runs of a rank of mpi-gpu, one overload a neighbourhood. The caller keeps the instance, the team and the mailbox alive.
#include <memory>

#include "core/api/run.hpp"
#include "core/api/team.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/problems/ppp/flip.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"

namespace vicinity::lsm {

class MappedMailbox;

/// Of the ranks that share a search.
struct Ranks {
  Team& team;
  MappedMailbox& mailbox;
};

[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::QapExchange<2>& neighborhood, const local_search::Task& task,
                                             const Ranks& ranks);
[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::QapExchange<3>& neighborhood, const local_search::Task& task,
                                             const Ranks& ranks);
[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task,
                                             const Ranks& ranks);
[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task,
                                             const Ranks& ranks);
[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task,
                                             const Ranks& ranks);
[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::TspSwap& neighborhood, const local_search::Task& task, const Ranks& ranks);
[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::WeierstrassCrowns<float>& neighborhood, const local_search::Task& task,
                                             const Ranks& ranks);
[[nodiscard]] std::unique_ptr<Run> slice_run(const local_search::WeierstrassCrowns<double>& neighborhood, const local_search::Task& task,
                                             const Ranks& ranks);

}  // namespace vicinity::lsm
