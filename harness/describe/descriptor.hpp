#pragma once
// An experiment as its YAML file describes it: one descriptor a published table or figure. Schema: docs/protocol.md.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/system.hpp"

namespace vicinity {

/// How a case is timed.
struct Protocol {
  std::string statistic = "median";  ///< the paper's own: median, mean or min
  int repetitions = 30;              ///< at most
  int min_repetitions = 3;           ///< at least, whatever precision and max_seconds say
  double precision = 0;              ///< repetitions end when the median's interval is narrower than this part of it; 0: all are made
  int processes = 1;                 ///< each case is measured, and recorded, in so many processes one after the other
  double processes_under = 0;        ///< seconds: what takes no less in the first process is not measured in others; 0: no such limit
  int warmup = 3;
  std::string time = "kernel";  ///< the Part that the paper's number means, "total" (the sum of all parts) or "wall"
  std::string time_location;    ///< "path:line" where the descriptor says so, for errors found later
  bool flush_l2 = false;
  std::vector<std::uint64_t> seeds{1};  ///< a distribution: each case is run, and recorded, once a seed
  bool seeds_divided = false;           ///< each process has a share of the seeds, not all
  double seeds_under = 0;  ///< seconds: what takes no less with a process's first seed is not run with others, nor what only a reference of
                           ///< three times that can check; 0: no such limit
  Budget budget;           ///< of a search that is judged by how good and how soon: seconds, target
  std::optional<double> gap = std::nullopt;  ///< percent: so near the best known objective, where there is one, is a target too
  bool trace = false;                        ///< records have the trace of each search
  double max_seconds = 0;                    ///< limit a case and implementation; 0 = none
};

/// What a result must pass before it is timed.
struct Check {
  enum class Kind {
    identical,  ///< digests equal
    tolerance,  ///< objectives within `tolerance`, relative
    prefix,     ///< digests equal after the first `iterations`, for runs the reference cannot repeat; the oracle judges the end
  };
  Kind kind = Kind::identical;
  double tolerance = 0;
  std::int64_t iterations = 0;
  std::string reference = "";  ///< implementation to compare with
};

/// How rows of a published table map to cases.
struct Published {
  std::string csv;                          ///< file in data/published/
  std::map<std::string, std::string> axes;  ///< published parameter -> axis
  std::string metric;
};

/// Predicts the times of `implementations` from runs with `axis` cut to two lengths: for what would take hours.
struct Extrapolation {
  std::string axis;
  std::int64_t shorter = 1, longer = 3;  ///< at least one length lies between them
  std::vector<std::string> implementations;
  std::map<std::string, std::vector<Value>> where;  ///< only cases with one of these values of each of these axes; empty: all
};

/// What one profile measures: the descriptor's own entries with the profile's overrides applied.
struct Profile {
  std::vector<std::string> instances;
  std::vector<std::pair<std::string, std::vector<Value>>> axes;   ///< product in this order, last fastest
  std::vector<std::map<std::string, std::vector<Value>>> sweeps;  ///< each a product with these axes replaced; empty: one product
  std::vector<std::string> implementations;
  Protocol protocol;
  std::vector<Extrapolation> extrapolations;  ///< the first that applies to a case and implementation counts
  double whole_under = 0;                     ///< seconds: what takes less is run whole, whatever `extrapolations` say
  double most_seconds = 0;                    ///< of one run, for the whole run of what cannot be predicted
};

/// How an experiment is run under a tool of compute-sanitizer, where it would otherwise hardly get on.
struct Watch {
  std::vector<std::string> leave_out;  ///< implementations
  std::map<std::string, Value> set;    ///< axis -> value of every case
  std::string note;                    ///< why
};

/// What the experiment does not run in the profile `full`, and why: the report prints it where a value is missing. Where both are
/// given, these implementations of these cases are in no plan.
struct LeftOut {
  std::vector<std::string> implementations;         ///< empty: all
  std::map<std::string, std::vector<Value>> where;  ///< only cases with one of these values of each of these axes; empty: all
  std::string reason;
};

struct Descriptor {
  std::string path;
  std::string hash;        ///< first 16 hex digits of the SHA-256 of the file
  std::string experiment;  ///< "<system>/<file name without .yaml>"
  std::string title;
  std::string paper;
  std::string problem;
  const System* system = nullptr;
  std::optional<Published> published;
  Check check;
  std::map<std::string, Watch> watched;  ///< by tool
  std::vector<LeftOut> left_out;
  std::map<std::string, Profile> profiles;  ///< smoke, quick, full, and any other

  /// Throws InputError with a hint for an unknown name.
  [[nodiscard]] const Profile& profile(const std::string& name) const;
};

/// Reads and checks a descriptor against the systems of this program. Throws InputError "path:line: message".
/// `systems` must outlive the descriptor.
[[nodiscard]] Descriptor load_descriptor(const std::string& path, const std::vector<System>& systems);
[[nodiscard]] Descriptor parse_descriptor(const std::string& text, const std::string& path, const std::vector<System>& systems);

/// All values of an axis (or the names of the instances) over the profile's cases, in order of appearance.
[[nodiscard]] std::vector<Value> values_of(const Profile& profile, const std::string& axis);
/// The same of all axes, and of "instance" where the profile names some.
[[nodiscard]] std::map<std::string, std::vector<Value>> all_values(const Profile& profile);

/// Names a descriptor may use for implementations of `system`; GPU names are also open when GPU code is not built.
[[nodiscard]] bool known_implementation(const System& system, const std::string& name);
[[nodiscard]] std::vector<std::string> implementation_names(const System& system);
[[nodiscard]] std::vector<std::string> system_names(const std::vector<System>& systems);

}  // namespace vicinity
