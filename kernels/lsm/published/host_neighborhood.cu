// Implementation `gpu-host-neighborhood`: the first approach of section 3.1 (Table 8). `gpu`, but for the moves, which the host generates
// and copies in each iteration: index tuples, or the points of the Weierstrass function.
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/published.cuh"

namespace vicinity::lsm {
namespace {

struct Generated : InGlobal {
  static constexpr bool generated = true;
};

}  // namespace

std::unique_ptr<Run> prepare_host_neighborhood(const Case& c, const Instance& instance) {
  return prepare_gpu<Placed, Generated>(c, instance);
}

}  // namespace vicinity::lsm
