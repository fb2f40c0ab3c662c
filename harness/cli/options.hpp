#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vicinity {

/// What `vicinity solve` is asked.
struct SolveOptions {
  std::string instance;                     ///< file, or a name of the catalogue
  std::map<std::string, std::string> work;  ///< work axis of any solver -> what was given; empty: nothing
  std::optional<double> seconds;
  std::string start;
  std::optional<double> target;
  std::string implementation;
  std::vector<std::string> settings;  ///< "axis=value"
  std::string output;
  std::string plot;
  bool force = false;
  bool quiet = false;
};

/// Where an experiment stands in a run of several. Shares are of the time that all are expected to take.
struct RunPart {
  int number = 1, count = 1;
  double seconds = 0;            ///< since the first began
  double before = 0, share = 1;  ///< of the parts before it; its own

  /// Seconds left of the whole run, when this part has run for `own` seconds and has done `fraction` of its work; nothing is known at
  /// first.
  [[nodiscard]] std::optional<double> left(double own, double fraction) const {
    const double done = before + share * fraction;
    if (done <= 0) return std::nullopt;
    return (seconds + own) / done * (1 - done);
  }
};

/// What the command line says, for all commands.
struct Options {
  std::vector<std::string> descriptors;  ///< files, or experiments by name
  std::vector<std::string> names;        ///< of list: systems and experiments
  bool only_names = false;
  std::string profile;
  std::vector<std::string> implementations;
  std::vector<std::string> where;
  std::string results = "results";
  std::string machine;
  std::optional<int> repetitions;
  std::optional<int> processes;
  std::string seeds;         ///< "N" or "FIRST-LAST"; empty: all
  int process = 0;           ///< number of this one among them; 0: the one that starts them
  std::vector<double> part;  ///< number, count, seconds, before, share of a RunPart; empty: the only one
  std::string shard;         ///< "I/N"; empty: all
  bool estimate = false;
  bool fresh = false;
  std::vector<std::string> adapters;  ///< commands of peers' adapters
  bool control = false;
  std::string slowdown;  ///< "IMPL=FACTOR", tests only
  bool json = false;
  std::string json_file;
  std::string system;
  std::string shell;
  int random_cases = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> settings;  ///< of verify: "axis=value"
  SolveOptions solve;
};

/// Exit codes, the same for every command.
enum Exit : int { exit_ok = 0, exit_check_failed = 1, exit_input = 2, exit_environment = 3 };

}  // namespace vicinity
