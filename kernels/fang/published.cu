#include "kernels/fang/published.cuh"

#include "kernels/fang/implementations.hpp"

namespace vicinity::fang {

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) { return prepare_gpu<PublishedStoring>(c, instance); }

}  // namespace vicinity::fang
