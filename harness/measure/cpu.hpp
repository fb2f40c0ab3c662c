#pragma once
// What Linux says of the processor, memory and system.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vicinity {

struct CpuInfo {
  std::string model;
  int cores = 0;                ///< logical processors this process may use
  int physical_cores = 0;       ///< of which several may be one core's
  std::optional<double> quota;  ///< processors' worth of time that a control group allows
  int threads = 0;              ///< OpenMP's default
  int places = 0;               ///< that threads are bound to; 0: they are not bound
  std::string affinity;         ///< "0-15,32", before threads were bound
  std::optional<std::string> governor;
  std::map<std::string, std::size_t> caches;  ///< "l1d", "l2", "l3": bytes of one
  std::vector<std::string> features;          ///< vector extensions, as /proc/cpuinfo spells them
};

[[nodiscard]] CpuInfo cpu_info();
/// Main memory, bytes; 0 if unknown.
[[nodiscard]] std::size_t memory_bytes();
/// "Debian GNU/Linux 12 (bookworm)"
[[nodiscard]] std::string operating_system();
[[nodiscard]] std::string kernel_release();

/// Ranges of a sorted list: {0, 1, 2, 5} -> "0-2,5".
[[nodiscard]] std::string ranges(const std::vector<int>& sorted);

}  // namespace vicinity
