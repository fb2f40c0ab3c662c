// Implementation `gpu-shared`: `gpu` with inputs and solution staged in the shared memory of each block (Table 1), as far as they fit:
// both, with the matrices of a QAP as bytes where their entries are; else the solution alone; else neither.
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

std::unique_ptr<Run> prepare_shared(const Case& c, const Instance& instance) {
  return prepare_gpu<FixedGridSearch, InSharedAsBytes, InShared<Staged, Staged>, InShared<Global, Staged>, InShared<Global, Global>>(
      c, instance);
}

}  // namespace vicinity::lsm
