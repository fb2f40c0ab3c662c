#pragma once
// Clock, throttle reasons and energy of the GPU, read from the driver's management library if there is one (dlopen, so that
// nothing needs a driver to build or start).
#include <optional>
#include <string>
#include <vector>

namespace vicinity::nvml {

struct State {
  unsigned sm_mhz = 0;
  std::vector<std::string> reasons;  ///< why the clock is not at its maximum, idleness left out
  bool throttled = false;            ///< one of the reasons is heat or power; application clocks are a choice, not throttling
};

/// Now; empty without NVML, or when it does not know the device.
[[nodiscard]] std::optional<State> state(const std::string& pci_bus);
/// That the board has used since the driver was loaded; the counter moves every tenth of a second or so. Empty without NVML, or where the
/// device has no such counter.
[[nodiscard]] std::optional<double> joules(const std::string& pci_bus);
/// "580.95.05"; empty without NVML.
[[nodiscard]] std::optional<std::string> driver_version();

/// Names of the bits of nvmlDeviceGetCurrentClocksEventReasons, without gpu_idle.
[[nodiscard]] std::vector<std::string> reason_names(unsigned long long bits);
[[nodiscard]] bool is_throttling(unsigned long long bits);

}  // namespace vicinity::nvml
