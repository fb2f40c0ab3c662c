#pragma once
// `gpu-tuned`, one overload a neighbourhood, defined in the problems' folders. The caller keeps the instance alive.
#include <memory>

#include "core/api/run.hpp"
#include "core/methods/lsm/search.hpp"
#include "core/problems/ppp/flip.hpp"
#include "core/problems/qap/exchange.hpp"
#include "core/problems/tsp/swap.hpp"
#include "core/problems/weierstrass/crowns.hpp"

namespace vicinity::lsm {

[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::QapExchange<2>& neighborhood, const local_search::Task& task);
[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::QapExchange<3>& neighborhood, const local_search::Task& task);
[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::PppFlip<1>& neighborhood, const local_search::Task& task);
[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::PppFlip<2>& neighborhood, const local_search::Task& task);
[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::PppFlip<3>& neighborhood, const local_search::Task& task);
[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::TspSwap& neighborhood, const local_search::Task& task);
[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::WeierstrassCrowns<float>& neighborhood, const local_search::Task& task);
[[nodiscard]] std::unique_ptr<Run> tuned_run(const local_search::WeierstrassCrowns<double>& neighborhood, const local_search::Task& task);

}  // namespace vicinity::lsm
