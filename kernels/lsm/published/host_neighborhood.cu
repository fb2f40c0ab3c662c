// Implementation `gpu-host-neighborhood`: the first approach of section 3.1 (Table 8). The search of `gpu-texture`, but the host writes all
// neighbours, each as a whole, in every iteration, and copies them to the device. A thread reads its neighbour and evaluates it by what
// differs from the solution. Cost beside an evaluation: n elements a neighbour, written, copied and read.
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/search.cuh"

namespace vicinity::lsm {
namespace {

template <class Texture>
struct SolutionsByHost : Texture {
  static constexpr bool solutions_by_host = true;

  [[nodiscard]] static Policy record() {
    Policy policy = Texture::record();
    policy["solutions_by_host"] = 1;
    return policy;
  }
};

}  // namespace

std::unique_ptr<Run> prepare_host_neighborhood(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, SolutionsByHost<InTexture<Textured>>, SolutionsByHost<InTexture<Global>>>(c, instance);
}

}  // namespace vicinity::lsm
