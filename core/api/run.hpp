#pragma once
// The seam between the harness and what it measures: an Implementation prepares a Run for a case. cpu_ref and kernels see only this side;
// they never include the harness (how to write one: docs/adding_an_algorithm.md).
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/api/budget.hpp"
#include "core/api/case.hpp"
#include "core/api/ceiling.hpp"
#include "core/api/outcome.hpp"
#include "core/api/times.hpp"

namespace vicinity {

/// Immutable problem data. Holds no random numbers, clock, parameter of a method, start or best known value.
class Instance {
 public:
  virtual ~Instance() = default;
  [[nodiscard]] virtual std::uint64_t hash() const = 0;
};

/// Fewest units the work needs of each ceiling of the machine: operations, bytes, launches, barriers. The largest amount / ceiling is the
/// speed-of-light time.
using Work = std::map<Ceiling, double>;

/// How the implementation runs this case: block size, items a thread, threads, ... Recorded with every sample.
using Policy = std::map<std::string, std::int64_t>;

/// A typed tuning policy: the numbers of one algorithm in one place, which print themselves into the record.
template <class P>
concept TuningPolicy = requires(const P& policy) {
  { policy.record() } -> std::same_as<Policy>;
};

/// Where a run begins.
struct Start {
  Start(std::uint64_t random_seed, std::optional<Solution> first = std::nullopt)  // NOLINT: a seed is a start
      : seed(random_seed), solution(std::move(first)) {}

  std::uint64_t seed;
  std::optional<Solution> solution;  ///< where searches start; empty: drawn from the seed
};

/// One implementation prepared for one case: memory is allocated, inputs are in place.
class Run {
 public:
  virtual ~Run() = default;
  /// Restores the inputs and poisons every output buffer. Untimed.
  virtual void reset(const Start& start) = 0;
  /// The timed interval: goes on from where reset() or the last execute() left it until the method ends by its own rule or the budget is
  /// spent, and returns when that is complete. Is work left? What is no search does all its work, whatever the budget, `batch` times.
  virtual bool execute(const Budget& budget) = 0;
  void execute() { static_cast<void>(execute(Budget{})); }
  /// Did the last execute() end because some search reached the budget's target?
  [[nodiscard]] virtual bool reached_target() const { return false; }
  /// Times of one piece of work since reset() (already divided by the batch).
  [[nodiscard]] virtual Times times() const = 0;
  /// Of the best found so far.
  [[nodiscard]] virtual Outcome outcome() = 0;
  /// Of a search, since reset().
  [[nodiscard]] virtual Trace trace() const { return {}; }
  /// Asks that execute() repeat the work `batch` times from the same inputs, for pieces too short to time alone.
  /// Returns false, and changes nothing, when the implementation cannot.
  [[nodiscard]] virtual bool set_batch(int batch) { return batch == 1; }
  [[nodiscard]] virtual Policy policy() const { return {}; }
  [[nodiscard]] virtual Work work() const { return {}; }
};

enum class Backend { cpu, gpu };

struct Implementation {
  std::string name;  ///< cpu-serial, cpu-openmp, gpu, gpu-<variant>, gpu-tuned, mpi-<...>
  Backend backend = Backend::cpu;
  std::string summary;  ///< one line for `vicinity list`
  std::string limit;    ///< which ceiling binds it, in words
  /// Throws InputError for a case it does not support, DoesNotFit when the machine is too small.
  std::function<std::unique_ptr<Run>(const Case&, const Instance&)> prepare;
  /// What it is compared with; empty: the system's reference. For a method of its own, whose results are others.
  std::string reference = {};
  /// For `vicinity solve`, where an iteration is another piece of work than the solver of the system counts.
  struct Pace {
    std::string unit;  ///< what Outcome::iterations counts, for people: "rounds"
    std::int64_t default_work = 0;
    bool anytime = false;                               ///< as Solver::anytime
    std::int64_t (*whole_work)(const Case&) = nullptr;  ///< as Solver::whole_work; null: that is it
  };
  std::optional<Pace> pace = {};
  /// Why it cannot run here, in one line: what it needs beside the program is missing. Empty: nothing is.
  std::string absence = {};
  /// Its runs are those of processes that it starts, its ranks: to start them takes a second or more.
  bool over_ranks = false;
};

}  // namespace vicinity
