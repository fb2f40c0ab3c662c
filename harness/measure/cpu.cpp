#include "harness/measure/cpu.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/measure/cgroup.hpp"
#include "harness/measure/threads.hpp"

namespace vicinity {
namespace {

/// Value of the first "key : value" line of /proc/cpuinfo, /proc/meminfo or (separator '=') /etc/os-release.
std::string field(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto split = line.find(separator);
    if (split == std::string::npos) continue;
    std::string name = line.substr(0, split), value = line.substr(split + 1);
    const auto trim = [](std::string& text) {
      const auto drop = [](unsigned char c) { return std::isspace(c) != 0 || c == '"'; };
      text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), drop));
      text.erase(std::find_if_not(text.rbegin(), text.rend(), drop).base(), text.end());
    };
    trim(name);
    trim(value);
    if (name == key) return value;
  }
  return "";
}

std::map<std::string, std::size_t> caches_of(int cpu) {
  std::map<std::string, std::size_t> caches;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
    const std::string level = first_line(folder + "level"), type = first_line(folder + "type"), size = first_line(folder + "size");
    if (level.empty() || type == "Instruction" || size.empty()) continue;
    std::istringstream text(size);
    std::size_t bytes = 0;
    char unit = ' ';
    text >> bytes >> unit;
    if (unit == 'K') bytes <<= 10;
    if (unit == 'M') bytes <<= 20;
    caches[fmt::format("l{}{}", level, level == "1" ? "d" : "")] = bytes;
  }
  return caches;
}

std::vector<std::string> vector_features() {
  constexpr std::array wanted{"sse4_2",           "avx",   "avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_vnni",
                              "avx512_vpopcntdq", "asimd", "sve",  "sve2"};
  std::string flags = field("/proc/cpuinfo", "flags", ':');
  if (flags.empty()) flags = field("/proc/cpuinfo", "Features", ':');
  std::istringstream words(flags);
  std::set<std::string> present;
  for (std::string word; words >> word;) present.insert(word);
  std::vector<std::string> features;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(features), [&](const char* name) { return present.contains(name); });
  return features;
}

}  // namespace

std::string ranges(const std::vector<int>& sorted) {
  std::string text;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += end == begin + 1 ? fmt::format("{}", sorted[begin]) : fmt::format("{}-{}", sorted[begin], sorted[end - 1]);
    begin = end;
  }
  return text;
}

CpuInfo cpu_info() {
  const std::vector<int> usable = usable_processors();
  const int first = usable.empty() ? 0 : usable.front();
  CpuInfo info;
  info.model = field("/proc/cpuinfo", "model name", ':');
  if (info.model.empty())
    info.model = field("/proc/cpuinfo", "CPU part", ':').empty() ? "unknown" : "CPU part " + field("/proc/cpuinfo", "CPU part", ':');
  info.cores = static_cast<int>(usable.size());
  info.physical_cores = static_cast<int>(cores_of(usable).size());
  info.quota = cpu_quota();
  info.threads = omp_get_max_threads();
  info.places = omp_get_proc_bind() == omp_proc_bind_false ? 0 : omp_get_num_places();
  info.affinity = ranges(usable);
  const std::string governor = first_line(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", first));
  if (!governor.empty()) info.governor = governor;
  info.caches = caches_of(first);
  info.features = vector_features();
  return info;
}

std::size_t memory_bytes() {
  std::istringstream text(field("/proc/meminfo", "MemTotal", ':'));
  std::size_t kilobytes = 0;
  text >> kilobytes;
  return kilobytes * 1024;
}

std::string operating_system() {
  const std::string name = field("/etc/os-release", "PRETTY_NAME", '=');
  return name.empty() ? "unknown" : name;
}

std::string kernel_release() {
  utsname name{};
  return uname(&name) == 0 ? name.release : "unknown";
}

}  // namespace vicinity
