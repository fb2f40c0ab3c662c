#include "harness/describe/descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <regex>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "data/catalogue.hpp"
#include "data/input_file.hpp"
#include "data/search_path.hpp"
#include "data/sha256.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/plan.hpp"
#include "harness/describe/yaml_reader.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

template <class Range>
std::vector<std::string> names_of(const Range& things) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

template <class Thing>
const Thing* pick(const YamlReader& node, const std::string& what, const std::vector<Thing>& things) {
  const std::string name = node.one_of(what, names_of(things));
  return &*std::find_if(things.begin(), things.end(), [&](const Thing& thing) { return thing.name == name; });
}

std::string read_implementation(const YamlReader& node, const System& system) {
  const std::string name = node.text();
  if (!known_implementation(system, name))
    node.fail(fmt::format("unknown implementation '{}' of {}; {}", name, system.name, hint(name, implementation_names(system))));
  return name;
}

std::vector<std::string> read_implementations(const YamlReader& node, const System& system) {
  std::vector<std::string> names;
  for (const YamlReader& item : node.items()) {
    names.push_back(read_implementation(item, system));
    if (std::count(names.begin(), names.end(), names.back()) > 1) item.fail(fmt::format("implementation '{}' appears twice", names.back()));
  }
  return names;
}

/// Numbers, where the first of those that the axis has already, or of these, is one. A number among names is a name.
std::vector<Value> read_values(const YamlReader& node, const std::vector<Value>& has = {}) {
  const auto is_name = [](const Value& value) { return std::holds_alternative<std::string>(value); };
  std::vector<Value> values;
  for (const YamlReader& item : node.items()) {
    values.push_back(item.value());
    const Value& first = has.empty() ? values.front() : has.front();
    if (is_name(values.back()) && !is_name(first))
      item.fail(fmt::format("value {} is no number, as {} is", to_string(values.back()), to_string(first)));
    if (std::count(values.begin(), values.end(), values.back()) > 1)
      item.fail(fmt::format("value {} appears twice", to_string(values.back())));
  }
  return values;
}

std::vector<std::string> read_instances(const YamlReader& node) {
  std::vector<std::string> names;
  for (const YamlReader& item : node.items()) {
    names.push_back(item.one_of("instance", names_of(catalogue().entries())));
    if (std::count(names.begin(), names.end(), names.back()) > 1) item.fail(fmt::format("instance '{}' appears twice", names.back()));
  }
  return names;
}

/// Entries of a map from axes of the problem.
std::vector<std::pair<std::string, YamlReader>> axis_entries(const YamlReader& node, const Problem& problem) {
  const auto allowed = names_of(problem.axes);
  auto entries = node.entries();
  for (const auto& [name, values] : entries) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
      values.fail(fmt::format("unknown axis '{}' of {}; {}", name, problem.name, hint(name, allowed)));
  }
  return entries;
}

void read_axes(const YamlReader& node, const Problem& problem, Profile& base) {
  for (const auto& [name, values] : axis_entries(node, problem)) base.axes.emplace_back(name, read_values(values));
}

std::vector<std::string> axis_names(const Profile& profile) {
  std::vector<std::string> names;
  for (const auto& axis : profile.axes) names.push_back(axis.first);
  return names;
}

/// Instances are an axis of their own.
std::vector<std::string> names_with_instance(const Profile& profile) {
  std::vector<std::string> names = axis_names(profile);
  if (!profile.instances.empty()) names.emplace_back("instance");
  return names;
}

std::vector<Value>& axis_values(const YamlReader& node, const std::string& name, Profile& profile) {
  const auto axis = std::find_if(profile.axes.begin(), profile.axes.end(), [&](const auto& entry) { return entry.first == name; });
  if (axis == profile.axes.end())
    node.fail(fmt::format("axis '{}' is not one of this descriptor; {}", name, hint(name, axis_names(profile))));
  return axis->second;
}

/// A profile may give other values to the descriptor's axes, never add one: published rows map to the same axes. With other
/// axes the descriptor's sweeps no longer apply.
void override_axes(const YamlReader& node, Profile& profile) {
  profile.sweeps.clear();
  for (const auto& [name, values] : node.entries()) {
    std::vector<Value>& own = axis_values(values, name, profile);
    own = read_values(values, own);
  }
}

/// A sweep may be for some of the descriptor's instances.
void check_instances(const YamlReader& node, const Profile& profile) {
  for (const YamlReader& item : node.items()) static_cast<void>(item.one_of("instance", profile.instances));
}

void read_sweeps(const YamlReader& node, Profile& profile) {
  profile.sweeps.clear();
  for (const YamlReader& sweep : node.items()) {
    auto& replaced = profile.sweeps.emplace_back();
    for (const auto& [name, values] : sweep.entries()) {
      if (name == "instance") check_instances(values, profile);
      replaced[name] = read_values(values, name == "instance" ? std::vector<Value>() : axis_values(values, name, profile));
    }
  }
}

/// A list, or {first: 1, count: 20, divided: true, under: 1}.
void read_seeds(const YamlReader& node, Protocol& protocol) {
  constexpr std::int64_t largest = std::int64_t{1} << 40, many = 100'000;
  std::vector<std::uint64_t>& seeds = protocol.seeds;
  seeds.clear();
  protocol.seeds_divided = false;
  protocol.seeds_under = 0;
  if (node.is_list()) {
    for (const YamlReader& item : node.items()) {
      seeds.push_back(static_cast<std::uint64_t>(item.integer(0, largest)));
      if (std::count(seeds.begin(), seeds.end(), seeds.back()) > 1) item.fail(fmt::format("seed {} appears twice", seeds.back()));
    }
    if (seeds.empty()) node.fail("no seed at all");
    return;
  }
  node.require_keys({"first", "count", "divided", "under"});
  const std::int64_t first = node.at("first").integer(0, largest), count = node.at("count").integer(1, many);
  for (std::int64_t k = 0; k < count; ++k) seeds.push_back(static_cast<std::uint64_t>(first + k));
  if (const auto key = node.find("divided")) protocol.seeds_divided = key->boolean();
  if (const auto key = node.find("under")) protocol.seeds_under = key->real(1e-6, 1e6);
}

/// A number, or {count: 5, under: 10}.
void read_processes(const YamlReader& node, Protocol& protocol) {
  const bool limited = node.is_map();
  if (limited) node.require_keys({"count", "under"});
  protocol.processes = static_cast<int>((limited ? node.at("count") : node).integer(1, 1000));
  protocol.processes_under = limited ? node.at("under").real(1e-6, 1e6) : 0;
}

void read_protocol(const YamlReader& node, Protocol& protocol) {
  constexpr int many = 1'000'000;
  node.require_keys({"statistic", "repetitions", "warmup", "time", "flush_l2", "seeds", "max_seconds", "budget", "trace", "min_repetitions",
                     "precision", "processes"});
  if (const auto key = node.find("statistic")) protocol.statistic = key->one_of("statistic", {"median", "mean", "min"});
  if (const auto key = node.find("repetitions")) protocol.repetitions = static_cast<int>(key->integer(1, many));
  if (const auto key = node.find("min_repetitions")) protocol.min_repetitions = static_cast<int>(key->integer(1, many));
  if (const auto key = node.find("precision")) protocol.precision = key->real(0, 1);
  if (const auto key = node.find("processes")) read_processes(*key, protocol);
  if (const auto key = node.find("warmup")) protocol.warmup = static_cast<int>(key->integer(0, many));
  if (const auto key = node.find("time")) {
    protocol.time = key->text();
    protocol.time_location = key->location();
  }
  if (const auto key = node.find("flush_l2")) protocol.flush_l2 = key->boolean();
  if (const auto key = node.find("seeds")) read_seeds(*key, protocol);
  if (const auto key = node.find("trace")) protocol.trace = key->boolean();
  if (const auto key = node.find("budget")) {
    key->require_keys({"seconds", "target", "gap"});
    if (const auto limit = key->find("seconds")) protocol.budget.seconds = limit->real(1e-3, 1e6);
    if (const auto limit = key->find("target"))
      protocol.budget.target = limit->integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    if (protocol.budget.unlimited()) key->fail("a budget has seconds, a target or both");
    if (const auto limit = key->find("gap")) protocol.gap = limit->real(0, 100);
    if (protocol.gap && (!protocol.budget.seconds || protocol.budget.target))
      key->fail("a gap stands beside seconds, which end a search that comes no nearer, and without a target");
  }
  if (const auto key = node.find("max_seconds")) protocol.max_seconds = key->real(0, 1e6);
}

Check read_check(const YamlReader& node, const System& system) {
  node.require_keys({"kind", "tolerance", "iterations", "reference"});
  const std::string kind = node.at("kind").one_of("kind of check", {"identical", "tolerance", "prefix"});
  Check check{.kind = kind == "identical"   ? Check::Kind::identical
                      : kind == "tolerance" ? Check::Kind::tolerance
                                            : Check::Kind::prefix,
              .tolerance = 0,
              .iterations = 0,
              .reference = system.reference};
  if (const auto key = node.find("tolerance")) {
    check.tolerance = key->real(0, 1);
    if (check.kind != Check::Kind::tolerance && check.tolerance != 0) key->fail("tolerance must be 0, or the kind 'tolerance'");
  }
  if (check.kind == Check::Kind::prefix) check.iterations = node.at("iterations").integer(1, std::numeric_limits<std::int64_t>::max());
  if (const auto key = node.find("reference")) check.reference = key->one_of("reference", implementation_names(system));
  return check;
}

/// Has any row of a published table a parameter of that name? Each may have an instance.
bool has_parameter(const std::string& table, const std::string& name) {
  const auto stands_behind = [&](const char* before) { return table.find(before + name + "=") != std::string::npos; };
  return name == "instance" || stands_behind(",") || stands_behind(";") || stands_behind("\"");
}

Published read_published(const YamlReader& node, const Profile& base) {
  node.require_keys({"csv", "axes", "metric"});
  const YamlReader csv = node.at("csv");
  Published published{.csv = csv.text(), .axes = {}, .metric = node.at("metric").text()};
  const bool leads_out = fs::path(published.csv).has_parent_path();
  if (leads_out || !fs::is_regular_file(data_folder() / "published" / published.csv))
    csv.fail(fmt::format("'{}' is not a file of data/published/", published.csv));
  const std::string table = read_input_file(data_folder() / "published" / published.csv);
  if (table.find("," + published.metric + ",") == std::string::npos)
    node.at("metric").fail(fmt::format("no row of {} has the metric '{}'", published.csv, published.metric));
  if (const auto axes = node.find("axes")) {
    for (const auto& [parameter, axis] : axes->entries()) {
      if (!has_parameter(table, parameter)) axis.fail(fmt::format("no row of {} has a parameter '{}'", published.csv, parameter));
      published.axes[parameter] = axis.one_of("axis", names_with_instance(base));
    }
  }
  return published;
}

std::map<std::string, Watch> read_watched(const YamlReader& node, const System& system, const Problem& problem) {
  node.require_keys({"memcheck", "racecheck", "initcheck", "synccheck"});
  std::map<std::string, Watch> watched;
  for (const auto& [tool, entry] : node.entries()) {
    entry.require_keys({"leave_out", "set", "note"});
    Watch& watch = watched[tool];
    watch.note = entry.at("note").text();
    if (const auto key = entry.find("leave_out")) watch.leave_out = read_implementations(*key, system);
    if (const auto key = entry.find("set"))
      for (const auto& [axis, value] : axis_entries(*key, problem)) watch.set[axis] = value.value();
  }
  return watched;
}

/// axis -> values, each of which some case of the profile has.
std::map<std::string, std::vector<Value>> read_condition(const YamlReader& node, const Profile& profile) {
  const std::map<std::string, std::vector<Value>> known = all_values(profile);
  std::map<std::string, std::vector<Value>> condition;
  for (const auto& [name, values] : node.entries()) {
    const auto there = known.find(name);
    if (there == known.end())
      values.fail(fmt::format("axis '{}' is not one of this descriptor; {}", name, hint(name, names_with_instance(profile))));
    condition[name] = read_values(values);
    for (const Value& value : condition[name]) {
      if (std::find(there->second.begin(), there->second.end(), value) == there->second.end())
        values.fail(fmt::format("no case of the profile has {} = {}", name, to_string(value)));
    }
  }
  return condition;
}

/// Throws where `full` measures what is left out by cases or by implementations alone, and for values that no case of it has.
std::vector<LeftOut> read_left_out(const YamlReader& node, const Descriptor& descriptor) {
  const Profile& full = descriptor.profile("full");
  std::vector<LeftOut> all;
  for (const YamlReader& entry : node.items()) {
    entry.require_keys({"where", "implementations", "reason"});
    LeftOut& one = all.emplace_back();
    one.reason = entry.at("reason").text();
    if (one.reason.empty()) entry.at("reason").fail("a reason has words");
    if (const auto key = entry.find("implementations")) one.implementations = read_implementations(*key, *descriptor.system);
    if (const auto key = entry.find("where")) one.where = read_condition(*key, full);
    if (one.where.empty() && one.implementations.empty()) entry.fail("'where', 'implementations' or both say what is left out");
    if (!one.where.empty() && !one.implementations.empty()) continue;  // no plan has them
    for (const std::string& name : full.implementations) {
      if (!one.implementations.empty() &&
          std::find(one.implementations.begin(), one.implementations.end(), name) == one.implementations.end())
        continue;
      if (const std::optional<Case> first = first_case(descriptor, full, one.where))
        entry.fail(fmt::format("the profile full measures {} for {}", name, first->key()));
    }
  }
  return all;
}

/// The two lengths of an extrapolation. One would scale what a run costs once along with the rest.
std::pair<std::int64_t, std::int64_t> read_lengths(const YamlReader& node) {
  const auto lengths = node.is_list() ? node.items() : std::vector<YamlReader>{};
  if (lengths.size() != 2) node.fail("two lengths are needed, [short, long]: a time is what a run costs once, and a slope");
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const std::int64_t shorter = lengths[0].integer(1, most), longer = lengths[1].integer(1, most);
  if (longer < shorter + 2)
    node.fail(fmt::format("[{}, {}]: the second length must exceed the first by at least 2, for a third between them", shorter, longer));
  return {shorter, longer};
}

Extrapolation read_extrapolation(const YamlReader& node, const Profile& profile, const System& system) {
  node.require_keys({"axis", "at", "implementations", "where"});
  const auto [shorter, longer] = read_lengths(node.at("at"));
  Extrapolation result{.axis = node.at("axis").one_of("axis", axis_names(profile)),
                       .shorter = shorter,
                       .longer = longer,
                       .implementations = read_implementations(node.at("implementations"), system),
                       .where = {}};
  if (const auto where = node.find("where")) result.where = read_condition(*where, profile);
  const auto chosen = result.where.find(result.axis);
  const std::vector<Value> values = chosen == result.where.end() ? values_of(profile, result.axis) : chosen->second;
  std::int64_t most = 0;
  for (const Value& value : values) {
    if (!std::holds_alternative<std::int64_t>(value))
      node.fail(fmt::format("axis '{}' has values that are not whole numbers", result.axis));
    most = std::max(most, std::get<std::int64_t>(value));
  }
  if (most <= longer) node.at("at").fail(fmt::format("no case it applies to has {} above {}", result.axis, longer));
  if (!profile.protocol.budget.unlimited() || profile.protocol.trace)
    node.fail("a run that ends by a budget, or whose trace is recorded, is run whole");
  return result;
}

/// What must be run whole in a profile, seconds. A descriptor may ask for more, never for less.
double least_whole(const std::string& profile) { return profile == "smoke" ? 0 : profile == "quick" ? 1 : 60; }

Profile read_profile(const std::string& name, const YamlReader& node, Profile profile, const System& system) {
  node.require_keys({"axes", "sweeps", "instances", "implementations", "protocol", "extrapolate", "whole_under", "most_seconds"});
  if (const auto key = node.find("axes")) override_axes(*key, profile);
  if (const auto key = node.find("instances")) profile.instances = read_instances(*key);
  if (const auto key = node.find("sweeps")) read_sweeps(*key, profile);
  if (const auto key = node.find("implementations")) profile.implementations = read_implementations(*key, system);
  if (const auto key = node.find("protocol")) read_protocol(*key, profile.protocol);
  if (const auto key = node.find("extrapolate")) {
    for (const YamlReader& item : key->is_list() ? key->items() : std::vector<YamlReader>{*key})
      profile.extrapolations.push_back(read_extrapolation(item, profile, system));
  }
  constexpr double longest = 1e6;
  profile.whole_under = least_whole(name);
  if (const auto key = node.find("whole_under")) profile.whole_under = key->real(least_whole(name), longest);
  profile.most_seconds = 5 * profile.whole_under;
  if (const auto key = node.find("most_seconds")) profile.most_seconds = key->real(profile.whole_under, longest);
  return profile;
}

Profile read_base(const YamlReader& root, const System& system, const Problem& problem) {
  Profile base;
  if (const auto key = root.find("instances")) base.instances = read_instances(*key);
  if (const auto key = root.find("axes")) read_axes(*key, problem, base);
  if (const auto key = root.find("sweeps")) read_sweeps(*key, base);
  base.implementations = read_implementations(root.at("implementations"), system);
  if (const auto key = root.find("protocol")) read_protocol(*key, base.protocol);
  return base;
}

}  // namespace

std::vector<Value> values_of(const Profile& profile, const std::string& axis) {
  if (axis == "instance") return {profile.instances.begin(), profile.instances.end()};
  std::vector<Value> values;
  const auto add = [&](const std::vector<Value>& more) {
    for (const Value& value : more)
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  for (const auto& [name, defaults] : profile.axes)
    if (name == axis) add(defaults);
  for (const auto& sweep : profile.sweeps)
    if (sweep.contains(axis)) add(sweep.at(axis));
  return values;
}

std::map<std::string, std::vector<Value>> all_values(const Profile& profile) {
  std::map<std::string, std::vector<Value>> all;
  for (const std::string& name : names_with_instance(profile)) all[name] = values_of(profile, name);
  return all;
}

std::vector<std::string> implementation_names(const System& system) { return names_of(system.implementations); }

std::vector<std::string> system_names(const std::vector<System>& systems) { return names_of(systems); }

bool known_implementation(const System& system, const std::string& name) {
  const auto names = implementation_names(system);
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  return !device::built() && (name == "gpu" || name.starts_with("gpu-") || name == "mpi-gpu" || name.starts_with("mpi-gpu-"));
}

const Profile& Descriptor::profile(const std::string& name) const {
  const auto found = profiles.find(name);
  if (found != profiles.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : profiles) names.push_back(entry.first);
  throw InputError(fmt::format("{}: unknown profile '{}'; {}", path, name, hint(name, names)));
}

namespace {

/// The file's name is that of the experiment, and of the file of its records, whose shards have names of their own.
std::string stem_of(const std::string& path) {
  static const std::regex form("[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}");
  const std::string stem = fs::path(path).stem().string();
  if (!std::regex_match(stem, form))
    throw InputError(
        fmt::format("{}: a descriptor's file name is at most 100 letters, digits, '_', '.', '+' and '-', the first a letter, a "
                    "digit or '_'; rename the file",
                    path));
  if (!division_of(stem).count.empty())
    throw InputError(fmt::format("{}: named like the records of a shard (.shard-I-of-N); rename the file", path));
  return stem;
}

}  // namespace

Descriptor load_descriptor(const std::string& path, const std::vector<System>& systems) {
  constexpr std::uintmax_t most = 1 << 24;
  return parse_descriptor(read_input_file(path, most), path, systems);
}

Descriptor parse_descriptor(const std::string& text, const std::string& path, const std::vector<System>& systems) {
  const YamlReader root = YamlReader::parse(text, path);
  root.require_keys({"schema", "title", "paper", "system", "problem", "instances", "published", "axes", "sweeps", "implementations",
                     "protocol", "check", "watched", "left_out", "profiles"});
  static_cast<void>(root.at("schema").integer(1, 1));
  const System& system = *pick(root.at("system"), "system", systems);
  const Problem& problem = *pick(root.at("problem"), "problem", system.problems);
  const Profile base = read_base(root, system, problem);

  Descriptor descriptor{.path = path,
                        .hash = sha256(text).substr(0, 16),
                        .experiment = system.name + "/" + stem_of(path),
                        .title = root.at("title").text(),
                        .paper = root.at("paper").text(),
                        .problem = problem.name,
                        .system = &system,
                        .published = std::nullopt,
                        .check = read_check(root.at("check"), system),
                        .watched = {},
                        .left_out = {},
                        .profiles = {}};
  if (const auto key = root.find("published")) descriptor.published = read_published(*key, base);
  if (const auto key = root.find("watched")) descriptor.watched = read_watched(*key, system, problem);
  const YamlReader profiles = root.at("profiles");
  for (const auto& [name, node] : profiles.entries()) {
    descriptor.profiles.emplace(name, read_profile(name, node, base, system));
    if (!descriptor.profiles.at(name).protocol.budget.unlimited() && descriptor.check.kind != Check::Kind::prefix)
      node.fail("a run with a budget is not repeatable; its check is of the kind 'prefix'");
  }
  for (const char* name : {"smoke", "quick", "full"}) {
    if (!descriptor.profiles.contains(name))
      profiles.fail(fmt::format("profile '{}' is missing; every descriptor has smoke, quick and full", name));
  }
  if (const auto key = root.find("left_out")) descriptor.left_out = read_left_out(*key, descriptor);
  return descriptor;
}

}  // namespace vicinity
