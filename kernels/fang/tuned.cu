#include "kernels/fang/tuned.cuh"

#include "kernels/fang/implementations.hpp"

namespace vicinity::fang {

std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance) { return prepare_gpu<Tuned>(c, instance); }

}  // namespace vicinity::fang
