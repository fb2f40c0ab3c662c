#pragma once
// The seams between the harness and the implementations it measures (contracts: docs/design of the harness in
// docs/adding_an_algorithm.md). cpu_ref and kernels see only this side; they never include the harness.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/case.hpp"

namespace vicinity {

/// Immutable problem data. Holds no RNG, clock or parameter of a method.
class Instance {
 public:
  virtual ~Instance() = default;
  [[nodiscard]] virtual std::uint64_t hash() const = 0;
};

/// Result of one execution, taken outside the timed interval.
struct Outcome {
  std::uint64_t digest = 0;               ///< of the whole result; twins agree bit for bit
  std::optional<std::int64_t> objective;  ///< recomputed by the problem's oracle, from scratch
  bool feasible = false;                  ///< judged by the oracle
  std::string complaint;                  ///< what the oracle found wrong; empty when feasible
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;                  ///< ratings or moves the work asks for (not counting recomputation)
  std::map<std::string, std::int64_t> counters;  ///< deterministic: launches, bytes allocated, ...
  std::vector<std::int32_t> solution;            ///< of a search: the best found, in the problem's own encoding
};

/// Seconds of the last execute(), by part: "kernel" always, others ("clone", "transfer", "host") as the system has them.
/// Parts are disjoint. GPU parts come from CUDA events.
using Times = std::map<std::string, double>;

/// Fewest units the work needs of each ceiling of the machine ("integer" operations, "copy_bandwidth" bytes, ...);
/// the largest amount / ceiling is the speed-of-light time. Names are those that `vicinity ceilings` prints.
using Work = std::map<std::string, double>;

/// How the implementation runs this case: block size, items a thread, threads, ... Recorded with every sample.
using Policy = std::map<std::string, std::int64_t>;

/// One implementation prepared for one case: memory is allocated, inputs are in place.
class Run {
 public:
  virtual ~Run() = default;
  /// Restores the inputs and poisons every output buffer. Untimed.
  virtual void reset(std::uint64_t seed) = 0;
  /// The timed interval: does the whole work `batch` times and returns when it is complete.
  virtual void execute() = 0;
  /// Times of one piece of work in the last execute() (already divided by the batch).
  [[nodiscard]] virtual Times times() const = 0;
  [[nodiscard]] virtual Outcome outcome() = 0;
  /// For `vicinity solve`: goes on for about `seconds` from where reset() or the last advance() left the search, and returns whether
  /// work is left. outcome() then tells of the best found so far. By default the whole work is done at once.
  [[nodiscard]] virtual bool advance(double seconds) {
    static_cast<void>(seconds);
    execute();
    return false;
  }
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
};

/// A parameter a descriptor may sweep.
struct Axis {
  std::string name;
  std::string meaning;  ///< with unit and range, for `vicinity list`
};

struct Problem {
  std::string name;
  std::string meaning;
  std::vector<Axis> axes;
};

/// What `vicinity solve` needs to know of a system that searches. Objectives are minimised.
struct Solver {
  std::string problem;                ///< the problem of the cases it makes
  std::vector<std::string> families;  ///< of its instances in data/catalogue.yaml
  std::string format;                 ///< of instance files, in words: "QAPLIB .dat"
  std::string solution_suffix;        ///< ".sln"
  std::string work_axis;              ///< the axis that says how long to search: "iterations"
  std::string unit;                   ///< what Outcome::iterations counts, for people: "proposals"
  std::int64_t default_work = 0;
  std::int64_t most_work = 0;           ///< largest value of the work axis
  std::vector<std::string> settings;    ///< the other axes that mean something when the instance is given
  std::vector<std::string> preference;  ///< implementations, best first; the first that can run is taken, in the end the reference
  /// Where instances are of several problems: which one an instance is of, and how its solutions end.
  struct Variant {
    std::string problem, solution_suffix;
  };
  std::function<Variant(const Instance&)> variant_of;
  /// Reads an instance file. Throws InputError "file:line: ...".
  std::function<std::shared_ptr<const Instance>(const std::string& file)> read;
  /// The same instance, with searches that start from the solution in `file`. Throws InputError "file:line: ...".
  std::function<std::shared_ptr<const Instance>(const Instance&, const std::string& file)> start_from;
  /// Objective of the solution in `file`, by the oracle. Throws InputError "file:line: ...".
  std::function<std::int64_t(const Instance&, const std::string& file)> objective_of;
  /// The solution in the family's own format.
  std::function<std::string(const Instance&, const Outcome&)> solution_text;
  /// How large it is, in words: "100 facilities".
  std::function<std::string(const Instance&)> size_text;
  /// The best objective known of this instance, by its content; empty when it is not in the catalogue.
  std::function<std::optional<std::int64_t>(const Instance&)> best_known;
  /// Outcome::iterations of the whole case.
  std::function<std::int64_t(const Case&)> whole_work;
};

/// One of the systems (fang, sa, lsm, alns, lns): its problems and its implementations.
struct System {
  std::string name;
  std::string title;
  std::vector<Problem> problems;
  std::vector<Implementation> implementations;
  std::string reference;  ///< the implementation all others are compared with
  /// Builds (or reads) the instance of a case. Throws InputError.
  std::function<std::shared_ptr<const Instance>(const Case&)> instance;
  /// A random valid case for `vicinity verify --random`; covers the sizes at which implementations change path.
  std::function<Case(std::uint64_t seed)> random_case;
  std::optional<Solver> solver;  ///< empty: nothing to solve
};

}  // namespace vicinity
