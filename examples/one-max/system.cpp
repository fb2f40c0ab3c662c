// System `one-max`: its axes, random cases and implementations.
#include <algorithm>

#include "core/api/system.hpp"
#include "one_max.hpp"
#include "systems/axes.hpp"

namespace vicinity {
namespace systems {
System one_max();
}

namespace {

std::shared_ptr<const one_max::Weights> weights_of(const Case& c) {
  return std::make_shared<one_max::Weights>(static_cast<std::int32_t>(c.integer("size", 1, 1 << 20)),
                                            static_cast<std::int32_t>(c.integer_or("range", 1000, 0, 1 << 30)),
                                            static_cast<std::uint64_t>(c.integer_or("instance_seed", 1, 0, std::int64_t{1} << 40)));
}

}  // namespace

System systems::one_max() {
  System system;
  system.name = "one-max";
  system.title = "Weighted one-max: hill climbing, an example";
  system.problems = {{"one-max",
                      "the bits whose weights have the largest sum",
                      {{"size", "n, bits: 1 to 1048576"},
                       {"range", "weights are whole, from -range to range: 0 to 2^30 (default 1000)"},
                       {"instance_seed", "number of the instance (default 1)"}}}};
  system.reference = "cpu-serial";
  system.instance = [](const Case& c) -> std::shared_ptr<const Instance> { return weights_of(c); };
  system.random_case = [](std::uint64_t seed) {
    constexpr std::int64_t sizes[]{1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 3000}, ranges[]{0, 1, 1000, 1 << 30};
    return Case{"one-max",
                "",
                {{"size", sizes[seed % 10]}, {"range", ranges[seed / 10 % 4]}, {"instance_seed", static_cast<std::int64_t>(seed % 1000)}}};
  };
  system.best_known = [](const Case& c, const Instance*) {
    const auto weights = weights_of(c);
    std::int64_t sum = 0;
    for (const std::int32_t weight : weights->values()) sum += std::max(weight, 0);
    return std::optional(sum);
  };
  system.implementations = one_max::cpu_implementations();
  if constexpr (device::with_cuda) system.implementations = joined(system.implementations, one_max::gpu_implementations());
  return system;
}

}  // namespace vicinity
