#include "harness/measure/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>

namespace vicinity {
namespace {

namespace fs = std::filesystem;

/// "cpu" or "cpu,cpuacct" names the controller; version 2 has one hierarchy for all, which names none.
bool counts_processors(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == "cpu") return true;
  return controllers.empty();
}

/// Where the groups of the cpu controller are found, the process's own first, then those around it. In a container its own path may not
/// be visible; then the top folder is its own group.
std::vector<fs::path> cpu_groups(const fs::path& root) {
  std::vector<fs::path> folders;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!counts_processors(controllers)) continue;
    for (const char* place : {"unified", "cpu,cpuacct", "cpu", ""}) {
      const fs::path top = root / "sys/fs/cgroup" / place;
      for (fs::path inside = fs::path(line.substr(second + 1)).relative_path();; inside = inside.parent_path()) {
        if (fs::exists(top / inside / "cpu.stat")) folders.push_back(top / inside);
        if (inside.empty()) break;
      }
    }
  }
  return folders;
}

/// Of one group; empty when it has none.
std::optional<double> quota_of(const fs::path& folder) {
  std::string quota, period;
  std::istringstream(first_line(folder / "cpu.max")) >> quota >> period;  // "max 100000" or "1600000 100000"
  if (quota.empty()) {
    quota = first_line(folder / "cpu.cfs_quota_us");  // -1 without a limit
    period = first_line(folder / "cpu.cfs_period_us");
  }
  double allowed = -1, of = 0;
  std::istringstream(quota) >> allowed;
  std::istringstream(period) >> of;
  return allowed > 0 && of > 0 ? std::optional(allowed / of) : std::nullopt;
}

}  // namespace

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<double> cpu_quota(const fs::path& root) {
  std::optional<double> least;
  for (const fs::path& folder : cpu_groups(root))
    if (const auto quota = quota_of(folder)) least = std::min(least.value_or(*quota), *quota);
  return least;
}

std::optional<Throttling> throttling(const fs::path& root) {
  for (const fs::path& folder : cpu_groups(root)) {
    std::ifstream file(folder / "cpu.stat");
    std::optional<Throttling> found;
    std::string name;
    for (double value = 0; file >> name >> value;) {
      if (name == "nr_throttled") found.emplace().count = static_cast<std::int64_t>(value);
      if (!found) continue;
      if (name == "throttled_usec") found->seconds = value * 1e-6;  // version 2
      if (name == "throttled_time") found->seconds = value * 1e-9;  // version 1
    }
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace vicinity
