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
  bool force = false;
  bool quiet = false;
};

/// What the command line says, for all commands.
struct Options {
  std::vector<std::string> descriptors;
  std::string profile;
  std::vector<std::string> implementations;
  std::vector<std::string> where;
  std::string results = "results";
  std::string machine;
  std::optional<int> repetitions;
  std::optional<int> processes;
  int process = 0;  ///< number of this one among them; 0: the one that starts them
  bool fresh = false;
  bool control = false;
  std::string slowdown;  ///< "IMPL=FACTOR", tests only
  bool json = false;
  std::string json_file;
  std::string system;
  int random_cases = 0;
  std::uint64_t seed = 1;
  std::vector<std::string> settings;  ///< of verify: "axis=value"
  SolveOptions solve;
};

/// Exit codes, the same for every command.
enum Exit : int { exit_ok = 0, exit_check_failed = 1, exit_input = 2, exit_environment = 3 };

}  // namespace vicinity
