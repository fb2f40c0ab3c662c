#include "harness/measure/contention.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "harness/measure/cgroup.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

constexpr double share = 0.01;     // of its time that a sample may lose unmarked
constexpr double wake_up = 50e-6;  // s, a thread that is woken may take to run on an idle core that sleeps
constexpr double slice = 3e-3;     // s, what an involuntary switch costs where the kernel does not tell waiting times
constexpr double window = 0.1;     // s of samples between two readings of the system
constexpr double tick = 0.01;      // s, unit of /proc/stat

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// thread -> seconds, of each thread's schedstat: time on a processor, time waiting for one (ns), turns.
std::map<int, double> waiting_times(const fs::path& root) {
  std::map<int, double> waited;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "proc/self/task", error)) {
    const std::string name = entry.path().filename();
    int thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec != std::errc()) continue;
    double ran = 0, waiting = 0;
    if (std::istringstream(first_line(entry.path() / "schedstat")) >> ran >> waiting) waited[thread] = waiting * 1e-9;
  }
  return waited;
}

/// Seconds the hypervisor kept those processors to itself: the eighth number of their lines in /proc/stat; all, where they have none.
std::optional<double> stolen(const fs::path& root, const std::vector<int>& processors) {
  std::ifstream file(root / "proc/stat");
  std::optional<double> all, own;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int processor = -1;
    if (line[3] != ' ') words >> processor;
    std::array<double, 8> ticks{};
    for (double& count : ticks) words >> count;
    if (!words) continue;
    if (processor < 0) all = ticks[7] * tick;
    if (std::ranges::binary_search(processors, processor)) own = own.value_or(0) + ticks[7] * tick;
  }
  return own ? own : all;
}

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234": microseconds.
std::optional<double> pressure_total(const fs::path& root) {
  const std::string line = first_line(root / "proc/pressure/cpu");
  const auto at = line.find("total=");
  double total = 0;
  if (at == std::string::npos || !(std::istringstream(line.substr(at + 6)) >> total)) return std::nullopt;
  return total * 1e-6;
}

/// Growth of a count that both readings have.
template <class Count>
double growth(const std::optional<Count>& from, const std::optional<Count>& to) {
  return from && to ? static_cast<double>(*to - *from) : 0;
}

}  // namespace

ProcessCounts LinuxCounts::process() const {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {.waited = waiting_times(root_),
          .voluntary = usage.ru_nvcsw,
          .involuntary = usage.ru_nivcsw,
          .processor_time = seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

SystemCounts LinuxCounts::system() const {
  SystemCounts counts{.time = seconds_of(CLOCK_MONOTONIC), .processor_time = seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
  std::istringstream line(first_line(root_ / "proc/loadavg"));  // "0.51 0.24 0.37 9/118 6670"
  double load = 0, skipped = 0;
  int runnable = 0;
  if (line >> load >> skipped >> skipped >> runnable) {
    counts.load = load;
    counts.runnable = runnable;
  }
  counts.steal = stolen(root_, processors_);
  if (const auto throttled = throttling(root_)) {
    counts.throttlings = throttled->count;
    counts.throttled = throttled->seconds;
  }
  counts.pressure = pressure_total(root_);
  return counts;
}

bool waited_too_long(const Disturbance& sample) {
  const double waited = sample.waited.value_or(static_cast<double>(sample.involuntary) * slice);
  const double woken = sample.waited ? static_cast<double>(sample.voluntary) * wake_up : 0;
  return waited > share * sample.wall + woken;
}

bool held_back(const SystemCounts& from, const SystemCounts& to) {
  const double wanted = std::max(to.time - from.time, to.processor_time - from.processor_time);
  const double stolen = growth(from.steal, to.steal);
  return growth(from.throttled, to.throttled) > share * wanted || (stolen > 1.5 * tick && stolen > share * wanted);
}

ContentionWatch::ContentionWatch(const CountSource& source) : source_(source) { found_.before = found_.after = source_.system(); }

void ContentionWatch::sample_begins() { begin_ = source_.process(); }

void ContentionWatch::sample_ends(double wall) {
  const ProcessCounts end = source_.process();
  Disturbance sample{.wall = wall, .voluntary = end.voluntary - begin_.voluntary, .involuntary = end.involuntary - begin_.involuntary};
  for (const auto& [thread, seconds] : end.waited) {
    const auto before = begin_.waited.find(thread);
    sample.waited = sample.waited.value_or(0) + seconds - (before == begin_.waited.end() ? 0 : before->second);
  }
  sample.contended = waited_too_long(sample);
  found_.samples.push_back(sample);
  since_reading_ += wall;
  if (since_reading_ >= window) read_system();
}

void ContentionWatch::read_system() {
  const SystemCounts now = source_.system();
  if (held_back(found_.after, now))
    for (std::size_t k = first_since_; k < found_.samples.size(); ++k) found_.samples[k].contended = true;
  found_.after = now;
  first_since_ = found_.samples.size();
  since_reading_ = 0;
}

Contention ContentionWatch::finish() {
  read_system();
  return std::move(found_);
}

}  // namespace vicinity
