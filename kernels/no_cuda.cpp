// Stands in for kernels/ where GPU code is not built: no device.
#include "core/api/device.hpp"

namespace vicinity::device {
bool built() { return false; }
std::optional<Info> info() { return std::nullopt; }
std::string absence() { return "GPU code is not built (no nvcc, or VICINITY_CUDA=OFF)"; }
void flush_l2() {}
std::map<std::string, double> ceilings() { return {}; }
double control_seconds() { return 0; }

}  // namespace vicinity::device
