// Implementation `gpu-texture`: `gpu` with inputs and solution read through textures (section 5.2, Table 1). Inputs that are too large for
// a texture over linear memory stay in global memory.
#include "kernels/lsm/implementations.hpp"
#include "kernels/lsm/published/search.cuh"

namespace vicinity::lsm {
namespace {

template <template <class> class InputReader>
struct InTexture : Path<InputReader, Textured> {
  [[nodiscard]] static Policy record() {
    return {{"texture_inputs", std::is_same_v<InputReader<int>, Textured<int>>}, {"texture_solution", 1}};
  }
};

}  // namespace

std::unique_ptr<Run> prepare_texture(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, InTexture<Textured>, InTexture<Global>>(c, instance);
}

}  // namespace vicinity::lsm
