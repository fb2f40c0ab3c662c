#pragma once
// One prepare function an implementation; each .cu holds one, so that they compile side by side.
#include <memory>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity::alns {

[[nodiscard]] std::vector<Implementation> gpu_implementations();
/// The paper's variants whose paths are those of cpu_variants().
[[nodiscard]] std::vector<Implementation> gpu_variants();
/// Those whose reference is cpu-hybrid.
[[nodiscard]] std::vector<Implementation> gpu_hybrid_implementations();

[[nodiscard]] std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_array(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_genetic(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_local_search(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance);
[[nodiscard]] std::unique_ptr<Run> prepare_hybrid(const Case& c, const Instance& instance);

}  // namespace vicinity::alns
