#include "harness/describe/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/util/error.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/yaml_reader.hpp"

namespace vicinity {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list_values(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_string(value));
  return join(texts);
}

/// Adds one axis to the product: every case so far with every value, the new axis fastest.
template <class Range, class Assign>
void multiply(std::vector<Case>& cases, const Range& values, Assign assign) {
  std::vector<Case> product;
  for (const Case& c : cases) {
    for (const auto& value : values) assign(product.emplace_back(c), value);
  }
  cases = std::move(product);
}

/// Those of the profile that a sweep is for.
std::vector<std::string> instances_of(const Profile& profile, const std::map<std::string, std::vector<Value>>& sweep) {
  const auto named = sweep.find("instance");
  if (named == sweep.end()) return profile.instances;
  std::vector<std::string> chosen;
  for (const std::string& name : profile.instances)
    if (std::find(named->second.begin(), named->second.end(), Value(name)) != named->second.end()) chosen.push_back(name);
  return chosen;
}

/// All combinations of the axes, those of `sweep` with its values.
std::vector<Case> product(const Descriptor& descriptor, const Profile& profile, const std::map<std::string, std::vector<Value>>& sweep) {
  std::vector<Case> cases{{.problem = descriptor.problem, .instance = "", .values = {}}};
  if (!profile.instances.empty())
    multiply(cases, instances_of(profile, sweep), [](Case& c, const std::string& name) { c.instance = name; });
  for (const auto& [axis, values] : profile.axes) {
    const auto replaced = sweep.find(axis);
    multiply(cases, replaced == sweep.end() ? values : replaced->second,
             [&name = axis](Case& c, const Value& value) { c.values[name] = value; });
  }
  return cases;
}

/// Equal as numbers or as names: --where load=1 also means 1.0.
bool same(const Value& a, const Value& b) {
  const auto number = [](const Value& v) {
    if (const auto* whole = std::get_if<std::int64_t>(&v)) return std::optional<double>(static_cast<double>(*whole));
    if (const auto* real = std::get_if<double>(&v)) return std::optional<double>(*real);
    return std::optional<double>();
  };
  return a == b || (number(a) && number(b) && *number(a) == *number(b)) || to_string(a) == to_string(b);
}

bool passes(const Case& c, const std::map<std::string, std::vector<Value>>& where) {
  return std::all_of(where.begin(), where.end(), [&](const auto& condition) {
    const Value actual = condition.first == "instance" ? Value(c.instance) : c.values.at(condition.first);
    return std::any_of(condition.second.begin(), condition.second.end(), [&](const Value& wanted) { return same(actual, wanted); });
  });
}

/// An unknown axis, or a value no case has, is a typing mistake: say what there is.
void check_where(const Descriptor& descriptor, const Profile& profile, const Filter& filter) {
  const std::map<std::string, std::vector<Value>> known = all_values(profile);
  std::vector<std::string> names;
  for (const auto& entry : known) names.push_back(entry.first);
  for (const auto& [axis, values] : filter.where) {
    const auto found = known.find(axis);
    if (found == known.end())
      throw InputError(fmt::format("--where: unknown axis '{}' of {}; {}", axis, descriptor.path, hint(axis, names)));
    for (const Value& value : values) {
      if (std::none_of(found->second.begin(), found->second.end(), [&](const Value& other) { return same(value, other); }))
        throw InputError(fmt::format("--where: {} has no case with {}={}; this profile has {}", descriptor.path, axis, to_string(value),
                                     list_values(found->second)));
    }
  }
}

}  // namespace

std::pair<std::string, std::string> split_setting(const std::string& option, const std::string& argument) {
  const auto equals = argument.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == argument.size())
    throw InputError(fmt::format("{}: '{}' is not of the form axis=value", option, argument));
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::map<std::string, std::vector<Value>> parse_where(const std::vector<std::string>& arguments, const std::string& option) {
  std::map<std::string, std::vector<Value>> where;
  for (const std::string& argument : arguments) {
    const auto [axis, value] = split_setting(option, argument);
    where[axis].push_back(parse_value(value));
  }
  return where;
}

std::vector<Case> expand(const Descriptor& descriptor, const Profile& profile, const Filter& filter) {
  check_where(descriptor, profile, filter);
  return cases_where(descriptor, profile, filter.where);
}

std::vector<Case> cases_where(const Descriptor& descriptor, const Profile& profile,
                              const std::map<std::string, std::vector<Value>>& where) {
  std::vector<Case> cases;
  const std::vector<std::map<std::string, std::vector<Value>>> one_product(1);
  for (const auto& sweep : profile.sweeps.empty() ? one_product : profile.sweeps) {
    for (Case& c : product(descriptor, profile, sweep)) {
      const auto equal = [&](const Case& other) { return other.key() == c.key(); };
      if (std::none_of(cases.begin(), cases.end(), equal)) cases.push_back(std::move(c));
    }
  }
  std::erase_if(cases, [&](const Case& c) { return !passes(c, where); });
  return cases;
}

std::vector<std::uint64_t> seeds_of(const Protocol& protocol, int process) {
  if (!protocol.seeds_divided) return protocol.seeds;
  std::vector<std::uint64_t> own;
  const auto count = protocol.seeds.size(), step = static_cast<std::size_t>(protocol.processes);
  for (std::size_t k = static_cast<std::size_t>(process - 1) % count; k < count; k += step) own.push_back(protocol.seeds[k]);
  return own;
}

Job make_job(const Case& asked, const Implementation& implementation, const Profile& profile, std::uint64_t seed) {
  Job job{.asked = asked, .executed = asked, .scaling = std::nullopt, .implementation = &implementation, .seed = seed};
  const auto cut = std::find_if(profile.extrapolations.begin(), profile.extrapolations.end(), [&](const Extrapolation& entry) {
    return contains(entry.implementations, implementation.name) && passes(asked, entry.where);
  });
  if (cut == profile.extrapolations.end()) return job;
  const auto* value = std::get_if<std::int64_t>(&asked.values.at(cut->axis));
  const std::int64_t middle = (cut->shorter + cut->longer) / 2;
  if (value == nullptr || *value <= cut->shorter + middle + cut->longer) return job;
  job.executed.values[cut->axis] = cut->longer;
  job.scaling = {.axis = cut->axis,
                 .at = {cut->shorter, middle, cut->longer},
                 .to = *value,
                 .whole_under = profile.whole_under,
                 .most_seconds = profile.most_seconds};
  return job;
}

Job run_of_length(const Job& job, std::int64_t length) {
  Job run = job;
  run.executed.values[job.scaling->axis] = length;
  run.scaling.reset();
  return run;
}

Job run_of_whole(const Job& job) {
  Job run = job;
  run.executed = job.asked;
  run.scaling.reset();
  return run;
}

Plan make_plan(const Descriptor& descriptor, const Profile& profile, const Filter& filter, bool has_device, int process) {
  const System& system = *descriptor.system;
  const auto& names = filter.implementations.empty() ? profile.implementations : filter.implementations;
  Plan plan;
  std::vector<const Implementation*> runnable;
  for (const std::string& name : names) {
    if (!known_implementation(system, name))
      throw InputError(fmt::format("--implementation: unknown implementation '{}' of {}; {}", name, system.name,
                                   hint(name, implementation_names(system))));
    const auto found =
        std::find_if(system.implementations.begin(), system.implementations.end(), [&](const auto& i) { return i.name == name; });
    if (found == system.implementations.end() || (found->backend == Backend::gpu && !has_device)) {
      plan.deviceless.push_back(name);
    } else {
      runnable.push_back(&*found);
    }
  }
  if (!runnable.empty())
    std::rotate(runnable.begin(), runnable.begin() + (process - 1) % static_cast<std::ptrdiff_t>(runnable.size()), runnable.end());
  for (const Case& c : expand(descriptor, profile, filter)) {
    for (const std::uint64_t seed : seeds_of(profile.protocol, process))
      for (const Implementation* implementation : runnable) plan.jobs.push_back(make_job(c, *implementation, profile, seed));
  }
  return plan;
}

std::string describe(const Job& job, const Profile& profile) {
  const Case& c = job.asked;
  std::vector<std::string> parts;
  if (!c.instance.empty()) parts.push_back(c.instance);
  for (const auto& [axis, values] : profile.axes) parts.push_back(axis + "=" + to_string(c.values.at(axis)));
  if (profile.protocol.seeds.size() > 1) parts.push_back(fmt::format("seed {}", job.seed));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace vicinity
