#include "harness/solve/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "data/catalogue.hpp"
#include "harness/cli/interrupt.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/plan.hpp"
#include "harness/describe/yaml_reader.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {
namespace {

constexpr double slice_seconds = 0.1;  // what a Ctrl-C waits for

/// 1e8 is a whole number to whoever writes it.
Value parse_number(const std::string& text) {
  constexpr double exact = 9007199254740992.0;
  const Value value = parse_value(text);
  const auto* real = std::get_if<double>(&value);
  return real != nullptr && std::abs(*real) <= exact && std::trunc(*real) == *real ? Value(static_cast<std::int64_t>(*real)) : value;
}

const Implementation* find(const System& system, const std::string& name) {
  const auto& all = system.implementations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Implementation& i) { return i.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Names of the catalogue that the solver can read.
std::vector<std::string> catalogue_names(const Solver& solver) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (std::find(solver.families.begin(), solver.families.end(), entry.family) != solver.families.end()) names.push_back(entry.name);
  }
  return names;
}

bool reads(const Solver& solver, const std::string& file) {
  try {
    return solver.files->read(file) != nullptr;
  } catch (const std::exception&) {
    return false;
  }
}

/// The end of a complaint about an instance that `own` does not take: who takes it, and how it is spelled there. Empty when nobody does.
std::string other_taker(const System& own, const std::string& file_or_name, const std::vector<System>& systems) {
  std::error_code error;
  const bool is_file = std::filesystem::exists(file_or_name, error);
  const std::string name = is_file ? file_or_name : std::filesystem::path(file_or_name).stem().string();
  for (const System& system : systems) {
    if (!system.solver || system.name == own.name) continue;
    const auto names = catalogue_names(*system.solver);
    if (is_file ? reads(*system.solver, name) : std::find(names.begin(), names.end(), name) != names.end())
      return fmt::format("; {}: vicinity solve {} --instance {}",
                         is_file ? system.name + " reads it" : fmt::format("the catalogue has {} for {}", name, system.name), system.name,
                         name);
  }
  return "";
}

/// Asks to stop after so many seconds, or when stop_requested() does.
class StopAfter {
 public:
  explicit StopAfter(double seconds)
      : thread_([this, seconds](const std::stop_token& ended) {
          const Stopwatch watch;
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any never;
          while (!ended.stop_requested() && !stop_requested() && watch.seconds() < seconds)
            never.wait_for(lock, ended, std::chrono::milliseconds(2), [] { return false; });
          wanted_ = true;
        }) {}

  [[nodiscard]] const std::atomic<bool>& wanted() const noexcept { return wanted_; }

 private:
  std::atomic<bool> wanted_ = false;
  std::jthread thread_;  // ends first
};

/// The seconds a whole search of this much work takes; of one cut off at `limit`, estimated from the part that was done, infinite where
/// that is none. On a CPU it is asked to stop within set-up and steps, too, after `stop_after` seconds; a device that is used the first
/// time takes as long as it takes.
double time_of(double limit, double stop_after, const Solver& solver, const Implementation& implementation, const Case& c,
               const Instance& instance, std::uint64_t seed) {
  const auto run = implementation.prepare(c, instance);
  run->reset(seed);
  std::optional<StopAfter> timer;
  if (implementation.backend == Backend::cpu && std::isfinite(stop_after)) timer.emplace(stop_after);
  const std::atomic<bool>& stop = timer ? timer->wanted() : stop_requested();
  const Stopwatch watch;
  bool more = true;
  while (more && watch.seconds() < limit && !stop) more = run->execute({.seconds = std::min(slice_seconds, limit / 4), .stop = &stop});
  const double seconds = watch.seconds();
  if (!more) return seconds;
  const std::int64_t done = run->outcome().iterations;
  return done > 0 ? seconds * static_cast<double>(solver.whole_work(c)) / static_cast<double>(done) : INFINITY;
}

/// A short search.
struct Trial {
  double work = 0;
  double seconds = 0;
};

/// Seconds for one more of the work, judged by two trials. A search begins slowly, with matrices to set up and many swaps to accept: what
/// more work costs shows in the difference of the two, not in the average.
double slope(const Trial& before, const Trial& last) {
  const double difference = (last.seconds - before.seconds) / (last.work - before.work);
  return difference > 0 ? difference : last.seconds / last.work;
}

/// The work that takes so many seconds.
double work_for(double seconds, const Trial& before, const Trial& last) {
  if (seconds <= last.seconds) return seconds * last.work / last.seconds;
  return last.work + (seconds - last.seconds) / slope(before, last);
}

/// The work of the first trial.
double least_work(const Solver& solver) { return static_cast<double>(std::max<std::int64_t>(1, solver.default_work / 100'000)); }

/// The seconds the whole case will take, by searches that grow until together they take `seconds`. One goes before them unmeasured: the
/// first use of a device loads its code.
double expected_seconds(const Solver& solver, const Implementation& implementation, Case c, const Instance& instance, std::uint64_t seed,
                        double seconds) {
  const auto whole = static_cast<double>(c.integer(solver.work_axis, 1, solver.most_work));
  const auto trial = [&](double work) {
    c.values[solver.work_axis] = static_cast<std::int64_t>(work);
    return Trial{work, std::max(time_of(seconds, 2 * seconds, solver, implementation, c, instance, seed), 1e-7)};
  };
  Trial before, last = trial(std::min(whole, least_work(solver)));
  if (last.seconds < seconds && !stop_requested()) last = trial(last.work);
  for (double spent = last.seconds; last.work < whole && spent < seconds && !stop_requested(); spent += last.seconds)
    before = std::exchange(last, trial(std::min(whole, 8 * last.work)));
  return std::isfinite(last.seconds) ? last.seconds + (whole - last.work) * slope(before, last) : INFINITY;
}

}  // namespace

const System& solvable_system(const std::vector<System>& systems, const std::string& name) {
  std::vector<std::string> solvable;
  for (const System& system : systems) {
    if (system.solver) solvable.push_back(system.name);
  }
  for (const System& system : systems) {
    if (system.name != name) continue;
    if (system.solver) return system;
    throw InputError(fmt::format("system '{}' does not search for a solution; allowed: {}", name, join(solvable)));
  }
  throw InputError(fmt::format("unknown system '{}'; {}", name, hint(name, solvable)));
}

std::int64_t parse_work(const std::string& option, const std::string& text, std::int64_t most) {
  const Value value = parse_number(text);
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < 1 || *number > most)
    throw InputError(fmt::format("{}: '{}' is not a whole number from 1 to {}; write 100000000, 1e8 or 2.5e6", option, text, most));
  return *number;
}

Case case_of(const Solver& solver, const std::vector<std::string>& settings) {
  Case c;
  for (const std::string& setting : settings) {
    const auto [axis, value] = split_setting("--set", setting);
    if (axis == solver.work_axis || axis == "seed") throw InputError(fmt::format("--set: {} has an option of its own: --{}", axis, axis));
    if (std::find(solver.settings.begin(), solver.settings.end(), axis) == solver.settings.end())
      throw InputError(fmt::format("--set: unknown axis '{}'; {}", axis, hint(axis, solver.settings)));
    if (!c.values.emplace(axis, parse_number(value)).second) throw InputError(fmt::format("--set: {} is given twice", axis));
  }
  return c;
}

std::shared_ptr<const Instance> instance_of(const System& system, const std::string& file_or_name, const std::vector<System>& systems) {
  const Solver& solver = *system.solver;
  std::error_code error;
  if (std::filesystem::exists(file_or_name, error)) {
    try {
      return solver.files->read(file_or_name);
    } catch (const InputError& complaint) {
      throw InputError(complaint.what() + other_taker(system, file_or_name, systems));
    }
  }
  const auto names = catalogue_names(solver);
  if (std::find(names.begin(), names.end(), file_or_name) != names.end())
    return system.instance({.problem = "", .instance = file_or_name, .values = {}});
  const std::string complaint = file_or_name + ": no such file", stem = std::filesystem::path(file_or_name).stem().string();
  if (std::find(names.begin(), names.end(), stem) != names.end())
    throw InputError(fmt::format("{}; the catalogue has {}", complaint, stem));
  if (const std::string other = other_taker(system, file_or_name, systems); !other.empty()) throw InputError(complaint + other);
  auto meant = nearest(stem, names);
  if (!meant) meant = nearest_file(file_or_name);
  throw InputError(complaint + (names.empty() ? "" : ", and the catalogue has no instance of this name") +
                   (meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
}

std::filesystem::path instance_path(const std::string& file_or_name) {
  std::error_code error;
  if (std::filesystem::exists(file_or_name, error) || !catalogue().contains(file_or_name)) return file_or_name;
  try {
    return instance_file(catalogue().at(file_or_name));
  } catch (const InputError&) {  // it is generated
    return {};
  }
}

std::vector<const Implementation*> candidates(const System& system, const std::string& name, bool has_device) {
  if (!name.empty()) {
    if (!known_implementation(system, name))
      throw InputError(fmt::format("--implementation: unknown implementation '{}' of {}; {}", name, system.name,
                                   hint(name, implementation_names(system))));
    const Implementation* asked = find(system, name);
    if (asked == nullptr) throw EnvironmentError(fmt::format("--implementation: {} is not in this program: GPU code is not built", name));
    if (asked->backend == Backend::gpu && !has_device)
      throw EnvironmentError(fmt::format("--implementation: {} needs a GPU: {}", name, device::absence()));
    if (!asked->absence.empty()) throw EnvironmentError(fmt::format("--implementation: {}: {}", name, asked->absence));
    return {asked};
  }
  std::vector<std::string> names = system.solver->preference;
  names.push_back(system.reference);
  std::vector<const Implementation*> list;
  for (const std::string& preferred : names) {
    const Implementation* implementation = find(system, preferred);
    if (implementation != nullptr && runs_here(*implementation, has_device) &&
        std::find(list.begin(), list.end(), implementation) == list.end())
      list.push_back(implementation);
  }
  return list;
}

std::vector<const Implementation*> fastest_first(const std::vector<const Implementation*>& twins, const Solver& solver, const Case& c,
                                                 const Instance& instance, std::uint64_t seed, double seconds) {
  std::vector<std::pair<double, const Implementation*>> timed;
  for (const Implementation* implementation : twins) {
    double expected = INFINITY;  // also of those that nobody waits for any more
    try {
      if (!stop_requested()) expected = expected_seconds(solver, *implementation, c, instance, seed, seconds);
    } catch (const std::bad_alloc&) {  // whether one can run is said where it is prepared for the search
    } catch (const DoesNotFit&) {
    } catch (const InputError&) {
    }
    timed.emplace_back(expected, implementation);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Implementation*> order;
  for (const auto& [expected, implementation] : timed) order.push_back(implementation);
  return order;
}

Prepared prepare_first(const std::vector<const Implementation*>& candidates, const Case& c, const Instance& instance) {
  for (const Implementation* implementation : candidates) {
    const bool last = implementation == candidates.back();
    try {
      return {implementation, implementation->prepare(c, instance)};
    } catch (const std::bad_alloc&) {
      if (last) throw EnvironmentError(fmt::format("{}: not enough host memory", implementation->name));
    } catch (const DoesNotFit& complaint) {
      if (last) throw DoesNotFit(fmt::format("{}: {}", implementation->name, complaint.what()));
    }
  }
  throw EnvironmentError("no implementation can run here");
}

std::int64_t work_within(double seconds, const Solver& solver, const Implementation& implementation, Case c, const Instance& instance,
                         std::uint64_t seed) {
  constexpr double margin = 0.85;  // a search cut off has not cooled down: better a little shorter
  const Stopwatch watch;
  const double aim = std::max(std::min(seconds / 12, 5.0), seconds / 50);
  Trial before, last{least_work(solver), 0};
  const auto whole = [&](double work) { return static_cast<std::int64_t>(std::clamp(work, 1.0, static_cast<double>(solver.most_work))); };
  for (;;) {
    c.values[solver.work_axis] = whole(last.work);
    last.seconds = std::max(time_of(seconds / 4, INFINITY, solver, implementation, c, instance, seed), 1e-7);
    const double spent = watch.seconds();
    if (last.seconds > aim || spent > seconds / 6 || whole(last.work) == solver.most_work || stop_requested())
      return whole(work_for(margin * std::max(seconds - spent, 0.0), before, last));
    const double next = std::clamp(work_for(1.2 * aim, before, last), 2 * last.work, 64 * last.work);
    before = std::exchange(last, {std::trunc(std::min(next, static_cast<double>(solver.most_work))), 0});
  }
}

Found search(Run& run, const Start& start_at, std::optional<double> seconds, std::optional<std::int64_t> target, SearchObserver& observer,
             bool at_start) {
  Found found;
  run.reset(start_at);
  std::optional<std::int64_t> none = target && at_start ? std::optional<std::int64_t>(0) : std::nullopt;  // iterations, of the first slice
  const Stopwatch watch;
  for (double left = seconds.value_or(INFINITY);;) {
    const bool more = run.execute({.iterations = std::exchange(none, std::nullopt),
                                   .seconds = std::clamp(left, 1e-3, slice_seconds),
                                   .target = target,
                                   .stop = &stop_requested()});
    found.seconds = watch.seconds();
    left = seconds.value_or(INFINITY) - found.seconds;
    const bool reached = more && run.reached_target();
    if (more && !reached && !stop_requested() && left > 0) {
      observer.on_progress(run, found.seconds);
      continue;
    }
    if (more) found.stop = reached ? Stop::target : signal_came() ? Stop::signal : Stop::time;
    found.outcome = run.outcome();
    return found;
  }
}

}  // namespace vicinity
