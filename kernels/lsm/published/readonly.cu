// Implementation `gpu-readonly`: `gpu` with inputs and solution read through the read-only cache (Table 1).
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/search.cuh"

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_readonly(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, Path<ReadOnly, ReadOnly>>(c, instance);
}

}  // namespace vicinity::lsm
