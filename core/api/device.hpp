#pragma once
// What the harness asks of a GPU. Implemented by kernels/cuda when nvcc is there, by kernels/no_cuda.cpp otherwise, so
// that no other file needs to know which was built.
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace vicinity::device {

struct Info {
  std::string name;            ///< as the driver prints it
  std::string pci_bus;         ///< for NVML
  int compute_capability = 0;  ///< 90 for sm_90
  int multiprocessors = 0;
  int clock_khz = 0;  ///< maximum SM clock
  int memory_clock_khz = 0;
  int bus_bits = 0;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes_per_multiprocessor = 0;
  int driver_version = 0;  ///< CUDA version the driver supports, e.g. 13000
  int runtime_version = 0;
};

/// Was GPU code compiled into this program? (The function tells what was linked.)
inline constexpr bool with_cuda = VICINITY_WITH_CUDA != 0;
[[nodiscard]] bool built();
/// The device in use; empty when there is none (or no driver). Never throws.
[[nodiscard]] std::optional<Info> info();
/// Why info() is empty, in one line for the user.
[[nodiscard]] std::string absence();
/// Overwrites the L2 cache, so that the next kernel starts cold. Does nothing without a device.
void flush_l2();
/// Measured ceilings of the device, by name, in base units (operations/s, bytes/s, or seconds for latencies).
[[nodiscard]] std::map<std::string, double> ceilings();
/// Seconds of one untouched control kernel (a fixed integer loop): stays put between builds on one machine.
[[nodiscard]] double control_seconds();

}  // namespace vicinity::device
