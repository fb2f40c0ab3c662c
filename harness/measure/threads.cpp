#include "harness/measure/threads.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>

#include "harness/measure/cgroup.hpp"
#include "harness/measure/cpu.hpp"

namespace vicinity {
namespace {

constexpr std::array names{"OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY"};
constexpr char own_settings[] = "VICINITY_THREAD_SETTINGS";  // names of those set here, each after a blank; there from the second start on
constexpr char own_processors[] = "VICINITY_PROCESSORS";     // usable ones, before threads were bound

/// {0, 1, 2, 5} of "0-2,5".
std::vector<int> parse_ranges(const std::string& text) {
  std::vector<int> all;
  std::istringstream list(text);
  for (std::string range; std::getline(list, range, ',');) {
    int first = 0, last = 0;
    char dash = 0;
    std::istringstream ends(range);
    if (!(ends >> first)) continue;
    if (!(ends >> dash >> last)) last = first;
    for (int processor = first; processor <= last; ++processor) all.push_back(processor);
  }
  return all;
}

/// Of the places that OpenMP binds threads to; empty when it binds none.
std::vector<int> places() {
  std::set<int> all;
  if (omp_get_proc_bind() == omp_proc_bind_false) return {};
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    all.insert(ids.begin(), ids.end());
  }
  return {all.begin(), all.end()};
}

std::vector<int> allowed() {
  std::vector<int> list;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) list.push_back(cpu);
  }
  return list;
}

void allow(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

const char* from_environment(const char* name) { return std::getenv(name); }

/// Takes the variables of Google Benchmark out of the environment, which it reads when it is loaded. Were there any?
bool forget_benchmark_settings() {
  std::vector<std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (const std::string_view text = *variable; text.starts_with("BENCHMARK_")) found.emplace_back(text.substr(0, text.find('=')));
  for (const std::string& name : found) unsetenv(name.c_str());
  return !found.empty();
}

}  // namespace

std::vector<int> usable_processors() {
  if (const char* known = std::getenv(own_processors)) return parse_ranges(known);
  std::vector<int> found = places();
  return found.empty() ? allowed() : found;
}

Cores cores_of(const std::vector<int>& processors) {
  std::map<std::string, std::vector<int>> by_siblings;
  for (const int processor : processors) {
    const std::string siblings = first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
    by_siblings[siblings.empty() ? fmt::format("{}", processor) : siblings].push_back(processor);
  }
  Cores cores;
  for (auto& entry : by_siblings) cores.push_back(std::move(entry.second));
  std::sort(cores.begin(), cores.end());
  return cores;
}

int thread_count(const Cores& cores, std::optional<double> quota) {
  const int all = std::max(1, static_cast<int>(cores.size()));
  return quota ? std::clamp(static_cast<int>(std::floor(*quota)), 1, all) : all;
}

std::map<std::string, std::string> thread_settings(const Cores& cores, std::optional<double> quota, const char* (*set)(const char* name)) {
  std::map<std::string, std::string> settings;
  const auto add = [&](const char* name, const std::string& value) {
    if (set(name) == nullptr) settings[name] = value;
  };
  const int threads = thread_count(cores, quota);
  add("OMP_NUM_THREADS", fmt::format("{}", threads));
  if (set("GOMP_CPU_AFFINITY") == nullptr) {
    const bool bind = static_cast<std::size_t>(threads) == cores.size();
    add("OMP_PROC_BIND", bind ? "close" : "false");
    if (bind) add("OMP_PLACES", "cores");
  }
  if (set("OMP_WAIT_POLICY") == nullptr) add("GOMP_SPINCOUNT", "10000");  // it would override the user's policy
  add("OMP_WAIT_POLICY", "passive");
  return settings;
}

void settle_threads(char** argv) {
  const bool settled = std::getenv(own_settings) != nullptr;
  if (!forget_benchmark_settings() && settled) return;
  if (!settled) {
    const std::vector<int> processors = usable_processors();
    std::string mine;
    for (const auto& [name, value] : thread_settings(cores_of(processors), cpu_quota(), from_environment)) {
      setenv(name.c_str(), value.c_str(), 1);
      mine += " " + name;
    }
    setenv(own_settings, mine.c_str(), 1);
    setenv(own_processors, ranges(processors).c_str(), 1);
  }
  unbind();
  execv("/proc/self/exe", argv);
}

void forget_thread_settings() {
  const char* mine = std::getenv(own_settings);
  std::istringstream set(mine == nullptr ? "" : mine);
  for (std::string name; set >> name;) unsetenv(name.c_str());
  for (const char* name : {own_settings, own_processors}) unsetenv(name);
}

std::map<std::string, ThreadSetting> current_thread_settings() {
  const char* mine = std::getenv(own_settings);
  std::map<std::string, ThreadSetting> settings;
  for (const char* name : names) {
    if (const char* value = std::getenv(name))
      settings[name] = {value, mine == nullptr || (std::string(mine) + " ").find(fmt::format(" {} ", name)) == std::string::npos};
  }
  return settings;
}

void unbind() { allow(usable_processors()); }

Unbound::Unbound(bool wanted) : before_(wanted ? allowed() : std::vector<int>()) {
  if (wanted) unbind();
}

Unbound::~Unbound() {
  if (!before_.empty()) allow(before_);
}

}  // namespace vicinity
