// The table of the annealing's CUDA implementations.
#include "core/systems.hpp"

namespace vicinity::sa {

std::vector<Implementation> gpu_implementations() { return {}; }

}  // namespace vicinity::sa
