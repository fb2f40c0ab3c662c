// The implementations that differ from `gpu` in the memory path alone: `gpu-texture` as in the paper, the others ours.
//   gpu-readonly  inputs and solution through the read-only cache
//   gpu-texture   inputs and solution through textures (section 5.2); inputs too large for a texture over linear memory in global memory
//   gpu-shared    inputs and solution staged in the shared memory of each block, as far as they fit: both, with the matrices of a QAP as
//                 bytes where their entries are; else the solution alone; else neither
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/search.cuh"

namespace vicinity::lsm {
namespace {

template <template <class> class InputReader, template <class> class SolutionReader>
struct InShared : Path<InputReader, SolutionReader> {
  [[nodiscard]] static Policy record() {
    return {{"shared_inputs", std::is_same_v<InputReader<int>, Staged<int>>},
            {"shared_solution", std::is_same_v<SolutionReader<int>, Staged<int>>}};
  }
};

struct InSharedAsBytes : InShared<Staged, Staged> {
  static constexpr bool byte_matrices = true;
};

}  // namespace

std::unique_ptr<Run> prepare_readonly(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, Path<ReadOnly, ReadOnly>>(c, instance);
}
std::unique_ptr<Run> prepare_texture(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, InTexture<Textured>, InTexture<Global>>(c, instance);
}
std::unique_ptr<Run> prepare_shared(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, InSharedAsBytes, InShared<Staged, Staged>, InShared<Global, Staged>, InShared<Global, Global>>(
      c, instance);
}

}  // namespace vicinity::lsm
