#pragma once
// One prepare function an implementation.
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::lsm {

[[nodiscard]] std::vector<Implementation> gpu_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_readonly(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_texture(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_shared(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_host_neighborhood(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_thread_control(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_reduction(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_chains(const Case& c, const Instance& instance);

}  // namespace vicinity::lsm
