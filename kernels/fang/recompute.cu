#include "kernels/fang/implementations.hpp"
#include "kernels/fang/published.cuh"

namespace vicinity::fang {

std::unique_ptr<Run> prepare_recompute(const Case& c, const Instance& instance) { return prepare_gpu<PublishedRecomputing>(c, instance); }

}  // namespace vicinity::fang
