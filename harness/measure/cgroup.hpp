#pragma once
// The control group that limits this process's processor time: its quota, and how often it was throttled. Version 2 (cpu.max) and 1.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace vicinity {

/// First line of a file; empty if there is none.
[[nodiscard]] std::string first_line(const std::filesystem::path& path);

/// Processors' worth of time that the process may use: the least quota of its groups. Empty without a quota. `root` stands for "/".
[[nodiscard]] std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

struct Throttling {
  std::int64_t count = 0;
  double seconds = 0;  ///< for which threads of the group were held back
};

/// So far, of the process's own group; empty where none counts it.
[[nodiscard]] std::optional<Throttling> throttling(const std::filesystem::path& root = "/");

}  // namespace vicinity
