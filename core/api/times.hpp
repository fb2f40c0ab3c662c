#pragma once
// Where the time of an execution went.
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

namespace vicinity {

/// Disjoint parts of an execution. Descriptors and records call them by these names.
enum class Part : std::uint8_t {
  kernel,         ///< the computing itself: kernels on a device, the loops on a CPU
  clone,          ///< copying source states to where successors are made
  transfer,       ///< copies between host and device
  host,           ///< what the host does between kernels and copies
  communication,  ///< messages between processes, and waiting for them
};
inline constexpr std::array<std::string_view, 5> part_names{"kernel", "clone", "transfer", "host", "communication"};

[[nodiscard]] constexpr std::string_view name_of(Part part) { return part_names[static_cast<std::size_t>(part)]; }

/// Which clock a part was read from: the host's, or the device's by CUDA events.
enum class TimeSource : std::uint8_t { host, device };

[[nodiscard]] constexpr std::string_view name_of(TimeSource source) { return source == TimeSource::host ? "host" : "device"; }

struct PartTime {
  double seconds;
  TimeSource source;
};

/// Seconds by part.
class Times {
 public:
  Times() = default;
  Times(std::initializer_list<std::pair<Part, PartTime>> parts) {
    for (const auto& [part, time] : parts) parts_[static_cast<std::size_t>(part)] = time;
  }

  [[nodiscard]] const std::optional<PartTime>& operator[](Part part) const { return parts_[static_cast<std::size_t>(part)]; }
  /// visit(part, time) for every part there is.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t k = 0; k < parts_.size(); ++k)
      if (parts_[k]) visit(static_cast<Part>(k), *parts_[k]);
  }

 private:
  std::array<std::optional<PartTime>, part_names.size()> parts_;
};

}  // namespace vicinity
