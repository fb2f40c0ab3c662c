#pragma once
// A case and its instance as JSON: what is sent to ranks, which read no files.
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "core/api/run.hpp"

namespace vicinity {

[[nodiscard]] nlohmann::json rank_message(const Case& c, const Instance& instance);

[[nodiscard]] Case case_of(const nlohmann::json& message);
/// The same by content: its hash is that of the instance it was made from, or std::runtime_error is thrown.
[[nodiscard]] std::unique_ptr<Instance> instance_of(const nlohmann::json& message);

}  // namespace vicinity
