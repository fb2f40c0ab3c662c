// Implementation `gpu-tuned`: the whole search on the device, no host in the loop.
#include "kernels/lsm/tuned/tuned.hpp"

#include "core/methods/lsm/task.hpp"
#include "kernels/lsm/implementations.hpp"

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance) {
  return with_neighborhood(c, instance, [task = task_of(c)](const auto& neighborhood) { return tuned_run(neighborhood, task); });
}

}  // namespace vicinity::lsm
