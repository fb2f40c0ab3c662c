#pragma once
// A system: one paper's problems and implementations, and what `vicinity solve` needs of one that searches.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/api/run.hpp"

namespace vicinity {

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

/// Instances and solutions as files. What reads throws InputError "file:line: ...".
class FileFormat {
 public:
  virtual ~FileFormat() = default;
  [[nodiscard]] virtual std::shared_ptr<const Instance> read(const std::string& file) const = 0;
  /// Name of the problem the instance is one of.
  [[nodiscard]] virtual std::string problem_of(const Instance& instance) const = 0;
  /// How large it is, in words: "100 facilities".
  [[nodiscard]] virtual std::string size_of(const Instance& instance) const = 0;
  /// The best objective known of this instance, by its content; empty when it is not in the catalogue.
  [[nodiscard]] virtual std::optional<std::int64_t> best_known_of(const Instance& instance) const = 0;
  /// Units of the objective in a unit of the files: 1000 where costs are counted in thousandths.
  [[nodiscard]] virtual std::int32_t scale_of(const Instance&) const { return 1; }
  /// How solution files of the instance end: ".sln".
  [[nodiscard]] virtual std::string solution_suffix(const Instance& instance) const = 0;
  /// Throws also for what is no feasible solution.
  [[nodiscard]] virtual Solution read_solution(const Instance& instance, const std::string& file) const = 0;
  /// By the oracle.
  [[nodiscard]] virtual Objective objective_of(const Instance& instance, const Solution& solution) const = 0;
  /// The solution as its files have it.
  [[nodiscard]] virtual std::string text_of(const Instance& instance, const Solution& solution) const = 0;
  /// The instance of a case as a file, for programs of others; empty where this is not offered.
  [[nodiscard]] virtual std::string instance_text(const Case&, const Instance&) const { return ""; }
};

/// What `vicinity solve` needs to know of a system that searches.
struct Solver {
  std::shared_ptr<const FileFormat> files;
  std::string format;                 ///< of instance files, in words: "QAPLIB .dat"
  std::string solution_suffix;        ///< in words: ".sln"
  std::vector<std::string> families;  ///< of its instances in data/catalogue.yaml
  std::string work_axis;              ///< the axis that says how long to search: "iterations"
  std::string unit;                   ///< what Outcome::iterations counts, for people: "proposals"
  std::int64_t default_work = 0;
  std::int64_t most_work = 0;           ///< largest value of the work axis
  std::vector<std::string> settings;    ///< the other axes that mean something when the instance is given
  std::map<std::string, Value> better;  ///< settings where the user gives none: better than what a paper's experiments take
  std::vector<std::string> preference;  ///< implementations, best first; the first that can run is taken, in the end the reference
  bool anytime = false;                 ///< knowing how long it will search changes nothing: a limit in time needs no work planned
  std::int64_t (*whole_work)(const Case&) = nullptr;  ///< Outcome::iterations of the whole case
};

/// Its problems and its implementations.
struct System {
  std::string name;
  std::string title;
  std::vector<Problem> problems;
  std::vector<Implementation> implementations;
  std::string reference;  ///< the implementation all others are compared with that name none of their own
  /// Builds (or reads) the instance of a case. Throws InputError.
  std::function<std::shared_ptr<const Instance>(const Case&)> instance;
  /// A random valid case for `vicinity verify --random`; covers the sizes at which implementations change path.
  std::function<Case(std::uint64_t seed)> random_case;
  /// The best objective known of a case; empty: as the catalogue says. `instance` is null where it cannot be had.
  std::function<std::optional<std::int64_t>(const Case&, const Instance* instance)> best_known;
  std::optional<Solver> solver;  ///< empty: nothing to solve
};

}  // namespace vicinity
