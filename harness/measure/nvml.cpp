#include "harness/measure/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace vicinity::nvml {
namespace {

// From nvml.h (stable ABI); declared here so that the header is not needed to build.
using Device = void*;
constexpr int success = 0;
constexpr int clock_sm = 1;

struct Reason {
  unsigned long long bit;
  const char* name;
  bool throttles;
};
constexpr std::array<Reason, 8> reasons{{{0x02, "applications_clocks_setting", false},
                                         {0x04, "sw_power_cap", true},
                                         {0x08, "hw_slowdown", true},
                                         {0x10, "sync_boost", false},
                                         {0x20, "sw_thermal_slowdown", true},
                                         {0x40, "hw_thermal_slowdown", true},
                                         {0x80, "hw_power_brake_slowdown", true},
                                         {0x100, "display_clock_setting", false}}};

class Library {
 public:
  Library() : handle_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) return;
    load(init_, "nvmlInit_v2");
    load(driver_, "nvmlSystemGetDriverVersion");
    load(by_bus_, "nvmlDeviceGetHandleByPciBusId_v2");
    load(clock_, "nvmlDeviceGetClockInfo");
    load(events_, "nvmlDeviceGetCurrentClocksEventReasons");
    if (events_ == nullptr) load(events_, "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name before driver 535
    load(energy_, "nvmlDeviceGetTotalEnergyConsumption");
    usable_ = init_ != nullptr && init_() == success;
  }
  // Never unloaded: lives as long as the process.

  [[nodiscard]] std::optional<State> state(const std::string& pci_bus) const {
    Device device = nullptr;
    State state;
    unsigned long long bits = 0;
    if (!usable_ || by_bus_ == nullptr || clock_ == nullptr || events_ == nullptr) return std::nullopt;
    if (by_bus_(pci_bus.c_str(), &device) != success || clock_(device, clock_sm, &state.sm_mhz) != success) return std::nullopt;
    if (events_(device, &bits) != success) return std::nullopt;
    state.reasons = reason_names(bits);
    state.throttled = is_throttling(bits);
    return state;
  }

  [[nodiscard]] std::optional<double> joules(const std::string& pci_bus) const {
    Device device = nullptr;
    unsigned long long millijoules = 0;
    if (!usable_ || by_bus_ == nullptr || energy_ == nullptr || by_bus_(pci_bus.c_str(), &device) != success) return std::nullopt;
    if (energy_(device, &millijoules) != success) return std::nullopt;
    return static_cast<double>(millijoules) * 1e-3;
  }

  [[nodiscard]] std::optional<std::string> driver() const {
    std::array<char, 96> text{};
    if (!usable_ || driver_ == nullptr || driver_(text.data(), static_cast<unsigned>(text.size())) != success) return std::nullopt;
    return text.data();
  }

 private:
  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
  }

  void* handle_;
  bool usable_ = false;
  int (*init_)() = nullptr;
  int (*driver_)(char*, unsigned) = nullptr;
  int (*by_bus_)(const char*, Device*) = nullptr;
  int (*clock_)(Device, int, unsigned*) = nullptr;
  int (*events_)(Device, unsigned long long*) = nullptr;
  int (*energy_)(Device, unsigned long long*) = nullptr;
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

}  // namespace

std::optional<State> state(const std::string& pci_bus) { return library().state(pci_bus); }

std::optional<double> joules(const std::string& pci_bus) { return library().joules(pci_bus); }

std::optional<std::string> driver_version() { return library().driver(); }

std::vector<std::string> reason_names(unsigned long long bits) {
  std::vector<std::string> names;
  for (const Reason& reason : reasons) {
    if ((bits & reason.bit) != 0) names.emplace_back(reason.name);
  }
  return names;
}

bool is_throttling(unsigned long long bits) {
  for (const Reason& reason : reasons) {
    if (reason.throttles && (bits & reason.bit) != 0) return true;
  }
  return false;
}

}  // namespace vicinity::nvml
