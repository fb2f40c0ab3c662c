// Implementation `gpu-host-neighborhood`: the first approach of section 3.1 (Table 8). `gpu`, but for the moves, which the host generates
// and copies in each iteration: index tuples, or the points of the Weierstrass function.
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/search.cuh"

namespace vicinity::lsm {
namespace {

struct MovesByHost : GlobalPath {
  static constexpr bool moves_by_host = true;
};

}  // namespace

std::unique_ptr<Run> prepare_host_neighborhood(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, MovesByHost>(c, instance);
}

}  // namespace vicinity::lsm
