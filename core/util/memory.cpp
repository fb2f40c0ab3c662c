#include "core/util/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "core/util/error.hpp"

namespace vicinity {
namespace {

/// The number a file begins with; empty where there is none ("max").
std::optional<double> number_in(const char* path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

double free_of_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (double kilobytes = 0; word == "MemAvailable:" && file >> kilobytes) return 1024 * kilobytes;
  return std::numeric_limits<double>::infinity();
}

}  // namespace

double available_memory() {
  const auto most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  const double of_group = most && used ? *most - *used : std::numeric_limits<double>::infinity();
  return std::min(free_of_machine(), of_group);
}

void require_memory(double bytes, const std::string& what) {
  constexpr double small = 1e8, giga = 1e9;  // less is not worth asking for
  if (bytes < small) return;
  if (const double available = available_memory(); bytes > available)
    throw DoesNotFit(fmt::format("{} takes {:.1f} GB of memory, {:.1f} GB are free", what, bytes / giga, available / giga));
}

}  // namespace vicinity
