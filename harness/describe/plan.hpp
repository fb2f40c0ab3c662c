#pragma once
// From a descriptor's profile to the list of things to measure.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/describe/descriptor.hpp"

namespace vicinity {

/// A part of the (case, implementation) pairs of an experiment, by a hash of both: the same on every machine and in every version. The
/// parts of one count have every pair once; seeds and processes of a pair stay together.
struct Shard {
  std::uint64_t number = 1, count = 1;

  [[nodiscard]] bool has(const Case& asked, const std::string& implementation) const;
  /// ".shard-2-of-8", which the file of its records has after the experiment's name; nothing where there is one part only.
  [[nodiscard]] std::string suffix() const;
};

/// The experiment that a file of records is of, by its name without the ending, and into how many shards it is divided there ("": not at
/// all).
struct Division {
  std::string experiment, count;
};
[[nodiscard]] Division division_of(const std::string& stem);

/// "2/8". Throws InputError for anything else, and for a number that is not among the parts.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Which of a profile's seeds, from 0 on: [first, second).
using SeedRange = std::pair<std::uint64_t, std::uint64_t>;
inline constexpr SeedRange all_seeds{0, UINT64_MAX};

/// "3" are the first three, "4-10" the fourth to the tenth. Throws InputError for anything else.
[[nodiscard]] SeedRange parse_seeds(const std::string& text);

/// What the command line narrows.
struct Filter {
  std::vector<std::string> implementations;         ///< each counts once; empty: those of the profile
  std::map<std::string, std::vector<Value>> where;  ///< axis (or "instance") -> values kept
  Shard shard = {};
  SeedRange seeds = all_seeds;
};

/// From what the time of a case may be predicted, and when it must not be.
struct Scaling {
  std::string axis;
  std::array<std::int64_t, 3> at{};  ///< lengths that are run, ascending; the middle one shows whether the time is a straight line
  std::int64_t to = 0;               ///< length of the case
  double whole_under = 0;            ///< as in Profile
  double most_seconds = 0;
};

/// One case and seed for one implementation.
struct Job {
  Case asked = {};                                ///< as the descriptor says
  Case executed = {};                             ///< what one run does: the same, or cut to a length of `scaling`, the longest at first
  std::optional<Scaling> scaling = std::nullopt;  ///< empty: run whole
  const Implementation* implementation = nullptr;
  std::uint64_t seed = 1;
};

struct Plan {
  std::vector<Job> jobs;                ///< case by case, seed by seed, implementations in the descriptor's order, rotated by the process
  std::vector<std::string> absent;      ///< those left out because something else is missing: "name: what"
  std::vector<std::string> deviceless;  ///< GPU implementations left out because there is no GPU here
};

/// "axis=value" in its two parts. Throws InputError that begins with `option` for anything else.
[[nodiscard]] std::pair<std::string, std::string> split_setting(const std::string& option, const std::string& argument);

/// "axis=value" arguments of an option as a filter. Throws InputError for anything else.
[[nodiscard]] std::map<std::string, std::vector<Value>> parse_where(const std::vector<std::string>& arguments,
                                                                    const std::string& option = "--where");

/// No more is planned at a time; what has more cases is counted, not made.
inline constexpr std::size_t most_cases = 100'000, most_jobs = 1'000'000;

/// Cases of a profile, filtered. Throws InputError for an unknown axis, and when nothing is left.
[[nodiscard]] std::vector<Case> expand(const Descriptor& descriptor, const Profile& profile, const Filter& filter);

/// Those cases of a profile that have one of the values of each axis of `where`; perhaps none. Throws InputError for more than most_cases.
[[nodiscard]] std::vector<Case> cases_where(const Descriptor& descriptor, const Profile& profile,
                                            const std::map<std::string, std::vector<Value>>& where);

/// The first of them.
[[nodiscard]] std::optional<Case> first_case(const Descriptor& descriptor, const Profile& profile,
                                             const std::map<std::string, std::vector<Value>>& where);

/// What a process, numbered from 1, runs of the `chosen` seeds: all of them; where they are divided, each `processes`-th of the protocol's
/// from its own on, whichever are chosen.
[[nodiscard]] std::vector<std::uint64_t> seeds_of(const Protocol& protocol, int process, const SeedRange& chosen = all_seeds);

/// Jobs of a profile. `has_device`: may GPU implementations run here? Throws InputError for an unknown implementation.
/// `process`: its number among those of the protocol, from 1; each begins a case with the next implementation, so that none always comes
/// first.
[[nodiscard]] Plan make_plan(const Descriptor& descriptor, const Profile& profile, const Filter& filter, bool has_device, int process = 1);

/// Is all there that the implementation needs?
[[nodiscard]] bool runs_here(const Implementation& implementation, bool has_device);

/// What a plan asks of a machine, also of one that is not at hand.
struct Estimate {
  std::size_t measurements = 0;  ///< of all processes, recorded already or not
  double seconds = 0;            ///< that they take, about, without their checks; where there is no limit, a second each
  bool gpu = false;              ///< an implementation among them needs one

  Estimate& operator+=(const Estimate& other) {
    measurements += other.measurements;
    seconds += other.seconds;
    gpu |= other.gpu;
    return *this;
  }
};

/// Of all implementations asked for, whether they are built and can run here or not.
[[nodiscard]] Estimate estimate(const Descriptor& descriptor, const Profile& profile, const Filter& filter);

/// The seconds that a measurement takes, about: its budgets, or a quarter more than the limit of the protocol, for the warm-up; or its
/// fewest repetitions, where these are known to take longer: `run`, the seconds of one. 0: no limit.
[[nodiscard]] double likely_seconds(const Protocol& protocol, double run = 0);
/// The same for plans: a second where there is no limit.
[[nodiscard]] double planned_seconds(const Protocol& protocol);

/// `asked` for `implementation`: with a scaling where the profile says so. A case no longer than the three lengths together has none.
[[nodiscard]] Job make_job(const Case& asked, const Implementation& implementation, const Profile& profile, std::uint64_t seed);

/// A scaled job's run of one length, and that of the whole case; neither is scaled.
[[nodiscard]] Job run_of_length(const Job& job, std::int64_t length);
[[nodiscard]] Job run_of_whole(const Job& job);

/// "load=1 states=1024" in the descriptor's order, for people; with the seed where there are several.
[[nodiscard]] std::string describe(const Job& job, const Profile& profile);

}  // namespace vicinity
