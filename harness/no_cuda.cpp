// Stands in for kernels/ when nvcc was not found: no device, no GPU implementations.
#include "core/device.hpp"
#include "core/systems.hpp"

namespace vicinity {

namespace device {

bool built() { return false; }
std::optional<Info> info() { return std::nullopt; }
std::string absence() { return "GPU code is not built (nvcc was not found)"; }
void flush_l2() {}
std::map<std::string, double> ceilings() { return {}; }
double control_seconds() { return 0; }

}  // namespace device

std::vector<Implementation> fang::gpu_implementations() { return {}; }
std::vector<Implementation> sa::gpu_implementations() { return {}; }
std::vector<Implementation> lsm::gpu_implementations() { return {}; }

}  // namespace vicinity
