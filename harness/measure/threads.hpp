#pragma once
// How many threads this process uses, where they run and how they wait. OpenMP reads this from the environment when it is loaded, so what
// the user has not set is set, and the program started again in its place.
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vicinity {

/// Logical processors that share a core, ascending; the list by their first.
using Cores = std::vector<std::vector<int>>;

/// The processors this process may use, ascending. Threads that are bound have fewer each.
[[nodiscard]] std::vector<int> usable_processors();
/// `processors` by core, as the kernel tells; each alone where it does not.
[[nodiscard]] Cores cores_of(const std::vector<int>& processors);

/// One thread a core: a second one beside it shares its units, and what else the machine runs finds the sibling free. Never more than the
/// quota pays for, never less than one.
[[nodiscard]] int thread_count(const Cores& cores, std::optional<double> quota);

/// What of OpenMP's environment is to be set, by name, given what `set` tells of the user's own settings (null: not set). Threads are bound
/// to cores in turn, but where a quota leaves cores over the scheduler places them. They spin for less than a scheduler's slice, then
/// sleep.
[[nodiscard]] std::map<std::string, std::string> thread_settings(const Cores& cores, std::optional<double> quota,
                                                                 const char* (*set)(const char* name));

/// Starts this program again with those settings, and without those of Google Benchmark (BENCHMARK_*), which change what is measured;
/// unless it is that second start. Before anything else in main. Goes on as it is where no program can be started.
void settle_threads(char** argv);
/// Takes what settle_threads() set out of the environment: a program of others is to find what the user set.
void forget_thread_settings();

struct ThreadSetting {
  std::string value;
  bool by_user = false;
};
/// OpenMP's environment as this process found it, by name.
[[nodiscard]] std::map<std::string, ThreadSetting> current_thread_settings();

/// Lets the calling thread run on all usable processors: what a new process is to inherit.
void unbind();

/// While it lives and is `wanted`, the calling thread may run on all usable processors. OpenMP binds the thread that loads it to one core,
/// and threads that are no team of OpenMP's, as the host's part of a search on a GPU starts them, would all inherit that core.
class Unbound {
 public:
  explicit Unbound(bool wanted);
  ~Unbound();
  Unbound(const Unbound&) = delete;
  Unbound& operator=(const Unbound&) = delete;

 private:
  std::vector<int> before_;  ///< empty: nothing was changed
};

}  // namespace vicinity
