#include "harness/describe/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <regex>
#include <system_error>
#include <unordered_set>

#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "harness/cli/text.hpp"
#include "harness/describe/yaml_reader.hpp"

namespace vicinity {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

using Numbers = std::pair<std::uint64_t, std::uint64_t>;

/// "2/8" with '/' between them; nothing for anything else.
std::optional<Numbers> two_numbers(const std::string& text, char between) {
  Numbers found;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, found.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != between) return {};
  const auto second = std::from_chars(first.ptr + 1, end, found.second);
  if (second.ec != std::errc() || second.ptr != end) return {};
  return found;
}

std::string list_values(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(to_string(value));
  return join(texts);
}

using Conditions = std::map<std::string, std::vector<Value>>;

/// Equal as numbers or as names: --where load=1 also means 1.0.
bool same(const Value& a, const Value& b) {
  const auto number = [](const Value& v) {
    if (const auto* whole = std::get_if<std::int64_t>(&v)) return std::optional<double>(static_cast<double>(*whole));
    if (const auto* real = std::get_if<double>(&v)) return std::optional<double>(*real);
    return std::optional<double>();
  };
  return a == b || (number(a) && number(b) && *number(a) == *number(b)) || to_string(a) == to_string(b);
}

/// The values of an axis that a condition keeps; all where there is none.
std::vector<Value> kept(const std::string& axis, const std::vector<Value>& values, const Conditions& where) {
  const auto condition = where.find(axis);
  std::vector<Value> left;
  std::copy_if(values.begin(), values.end(), std::back_inserter(left), [&](const Value& value) {
    return condition == where.end() ||
           std::any_of(condition->second.begin(), condition->second.end(), [&](const Value& wanted) { return same(value, wanted); });
  });
  return left;
}

/// The axes of one product in order, each with the values that are left of it, those of `sweep` with its own. Nothing is multiplied yet.
struct Product {
  std::vector<std::pair<std::string, std::vector<Value>>> axes;

  Product(const Profile& profile, const Conditions& sweep, const Conditions& where) {
    if (!profile.instances.empty()) {
      const std::vector<Value> names(profile.instances.begin(), profile.instances.end());
      axes.emplace_back("instance", kept("instance", kept("instance", names, sweep), where));  // a sweep may be for some
    }
    for (const auto& [axis, values] : profile.axes) {
      const auto replaced = sweep.find(axis);
      axes.emplace_back(axis, kept(axis, replaced == sweep.end() ? values : replaced->second, where));
    }
  }
  [[nodiscard]] double size() const {
    double cases = 1;
    for (const auto& [axis, values] : axes) cases *= static_cast<double>(values.size());
    return cases;
  }
  /// Case number `index`, the last axis fastest.
  [[nodiscard]] Case at(std::size_t index, const Descriptor& descriptor) const {
    Case c{.problem = descriptor.problem, .instance = "", .values = {}};
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      const auto& [name, values] = *axis;
      const Value& value = values[index % values.size()];
      index /= values.size();
      if (name == "instance")
        c.instance = std::get<std::string>(value);
      else
        c.values[name] = value;
    }
    return c;
  }
};

std::vector<Product> products(const Profile& profile, const Conditions& where) {
  const std::vector<Conditions> one_product(1);
  std::vector<Product> all;
  for (const auto& sweep : profile.sweeps.empty() ? one_product : profile.sweeps) all.emplace_back(profile, sweep, where);
  return all;
}

bool passes(const Case& c, const Conditions& where) {
  return std::all_of(where.begin(), where.end(), [&](const auto& condition) {
    const Value actual = condition.first == "instance" ? Value(c.instance) : c.values.at(condition.first);
    return std::any_of(condition.second.begin(), condition.second.end(), [&](const Value& wanted) { return same(actual, wanted); });
  });
}

/// Of a misspelt name (of an instance, say): "did you mean 'nug30'? "; empty for a number, and when none is near.
std::string meant_name(const Value& value, const std::vector<Value>& known) {
  if (!std::holds_alternative<std::string>(value)) return "";
  std::vector<std::string> names;
  for (const Value& other : known) names.push_back(to_string(other));
  const auto meant = nearest(std::get<std::string>(value), names);
  return meant ? fmt::format("did you mean '{}'? ", *meant) : "";
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
      if (std::any_of(found->second.begin(), found->second.end(), [&](const Value& other) { return same(value, other); })) continue;
      throw InputError(fmt::format("--where: {} has no case with {}={}; {}this profile has {}", descriptor.path, axis, to_string(value),
                                   meant_name(value, found->second), list_values(found->second)));
    }
  }
}

}  // namespace

bool Shard::has(const Case& asked, const std::string& implementation) const {
  if (count == 1) return true;
  Digest digest;
  for (const std::string& text : {asked.key(), implementation}) {
    for (const char letter : text) digest.add(static_cast<unsigned char>(letter));  // char is signed on some machines
    digest.add(std::uint64_t{256});                                                 // no letter: the end of the text
  }
  return digest.value() % count == number - 1;
}

Division division_of(const std::string& stem) {
  static const std::regex shard(R"((.+)\.shard-[0-9]+-of-([0-9]+))");
  std::smatch parts;
  return std::regex_match(stem, parts, shard) ? Division{parts[1], parts[2]} : Division{stem, ""};
}

std::string Shard::suffix() const { return count == 1 ? "" : fmt::format(".shard-{}-of-{}", number, count); }

Shard parse_shard(const std::string& text) {
  constexpr std::uint64_t most = 100'000;
  const auto [number, count] = two_numbers(text, '/').value_or(Numbers());
  if (number < 1 || number > count || count > most)
    throw InputError(fmt::format("--shard: '{}' is not I/N with 1 <= I <= N <= {}", text, most));
  return {number, count};
}

SeedRange parse_seeds(const std::string& text) {
  const auto [first, last] = two_numbers(text.find('-') == std::string::npos ? "1-" + text : text, '-').value_or(Numbers());
  if (first < 1 || last < first) throw InputError(fmt::format("--seeds: '{}' is neither a number from 1 on nor FIRST-LAST", text));
  return {first - 1, last};
}

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
  const std::vector<Product> all = products(profile, where);
  double count = 0;
  for (const Product& product : all) count += product.size();
  if (count > most_cases)
    throw InputError(
        fmt::format("{}: {:.0f} cases; at most {} are planned at a time: choose some by --where", descriptor.path, count, most_cases));
  std::vector<Case> cases;
  std::unordered_set<std::string> known;
  for (const Product& product : all)
    for (std::size_t index = 0; index < static_cast<std::size_t>(product.size()); ++index)
      if (Case c = product.at(index, descriptor); known.insert(c.key()).second) cases.push_back(std::move(c));
  return cases;
}

std::optional<Case> first_case(const Descriptor& descriptor, const Profile& profile,
                               const std::map<std::string, std::vector<Value>>& where) {
  for (const Product& product : products(profile, where))
    if (product.size() > 0) return product.at(0, descriptor);
  return std::nullopt;
}

std::vector<std::uint64_t> seeds_of(const Protocol& protocol, int process, const SeedRange& chosen) {
  const auto [first, step] = protocol.seeds_divided ? std::pair(process - 1, protocol.processes) : std::pair(0, 1);
  std::vector<std::uint64_t> own;
  for (auto k = static_cast<std::size_t>(first); k < std::min<std::size_t>(chosen.second, protocol.seeds.size());
       k += static_cast<std::size_t>(step))
    if (k >= chosen.first) own.push_back(protocol.seeds[k]);
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

namespace {

/// To an implementation of one process, cases that differ in the number of ranks and in their GPUs are one: the first is taken.
class FirstOfRanks {
 public:
  explicit FirstOfRanks(const System& system)
      : matters_(std::any_of(system.implementations.begin(), system.implementations.end(), [](const auto& i) { return i.over_ranks; })) {}

  /// Those of `runnable` that take the next case.
  [[nodiscard]] std::vector<const Implementation*> next(Case c, std::vector<const Implementation*> runnable) {
    if (!matters_) return runnable;
    for (const char* axis : {"ranks", "gpus"}) c.values.erase(axis);
    if (!seen_.insert(c.key()).second) std::erase_if(runnable, [](const Implementation* i) { return !i->over_ranks; });
    return runnable;
  }

 private:
  bool matters_;
  std::unordered_set<std::string> seen_;
};

/// Each once.
std::vector<std::string> implementations_of(const Profile& profile, const Filter& filter) {
  std::vector<std::string> names;
  for (const std::string& name : filter.implementations.empty() ? profile.implementations : filter.implementations)
    if (!contains(names, name)) names.push_back(name);
  return names;
}

/// Has the shard the pair, and does no entry of `left_out` name both its case and its implementation?
bool takes(const Descriptor& descriptor, const Filter& filter, const Case& c, const std::string& implementation) {
  return filter.shard.has(c, implementation) &&
         std::none_of(descriptor.left_out.begin(), descriptor.left_out.end(), [&](const LeftOut& entry) {
           return !entry.where.empty() && contains(entry.implementations, implementation) && passes(c, entry.where);
         });
}

}  // namespace

bool runs_here(const Implementation& implementation, bool has_device) {
  return implementation.absence.empty() && (implementation.backend == Backend::cpu || has_device);
}

Plan make_plan(const Descriptor& descriptor, const Profile& profile, const Filter& filter, bool has_device, int process) {
  const System& system = *descriptor.system;
  Plan plan;
  std::vector<const Implementation*> runnable;
  for (const std::string& name : implementations_of(profile, filter)) {
    if (!known_implementation(system, name))
      throw InputError(fmt::format("--implementation: unknown implementation '{}' of {}; {}", name, system.name,
                                   hint(name, implementation_names(system))));
    const auto found =
        std::find_if(system.implementations.begin(), system.implementations.end(), [&](const auto& i) { return i.name == name; });
    if (found == system.implementations.end() || (found->backend == Backend::gpu && !has_device)) {
      plan.deviceless.push_back(name);
    } else if (!found->absence.empty()) {
      plan.absent.push_back(fmt::format("{}: {}", name, found->absence));
    } else {
      runnable.push_back(&*found);
    }
  }
  if (!runnable.empty())
    std::rotate(runnable.begin(), runnable.begin() + (process - 1) % static_cast<std::ptrdiff_t>(runnable.size()), runnable.end());
  const std::vector<Case> cases = expand(descriptor, profile, filter);
  const std::vector<std::uint64_t> seeds = seeds_of(profile.protocol, process, filter.seeds);
  if (const std::size_t count = cases.size() * seeds.size() * runnable.size(); count > most_jobs)
    throw InputError(fmt::format("{}: {} measurements; at most {} are planned at a time: choose some by --where or --implementation",
                                 descriptor.path, count, most_jobs));
  FirstOfRanks first(system);
  for (const Case& c : cases) {
    const std::vector<const Implementation*> asked = first.next(c, runnable);
    for (const std::uint64_t seed : seeds)
      for (const Implementation* implementation : asked)
        if (takes(descriptor, filter, c, implementation->name)) plan.jobs.push_back(make_job(c, *implementation, profile, seed));
  }
  return plan;
}

double likely_seconds(const Protocol& protocol, double run) {
  const double limit = protocol.budget.seconds ? *protocol.budget.seconds * protocol.repetitions : protocol.max_seconds * 1.25;
  return limit > 0 ? std::max(limit, run * std::min(protocol.min_repetitions, protocol.repetitions)) : 0;
}

double planned_seconds(const Protocol& protocol) {
  const double likely = likely_seconds(protocol);
  return likely > 0 ? likely : 1;
}

Estimate estimate(const Descriptor& descriptor, const Profile& profile, const Filter& filter) {
  const auto& all = descriptor.system->implementations;
  const auto on_gpu = [&](const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& i) { return i.name == name; });
    return found == all.end() ? name.find("gpu") != std::string::npos : found->backend == Backend::gpu;  // not built: by its name
  };
  std::size_t seeds = 0;
  for (int process = 1; process <= profile.protocol.processes; ++process) seeds += seeds_of(profile.protocol, process, filter.seeds).size();
  const std::vector<std::string> names = implementations_of(profile, filter);
  Estimate found;
  for (const Case& c : expand(descriptor, profile, filter))
    for (const std::string& name : names)
      if (takes(descriptor, filter, c, name)) {
        found.measurements += seeds;
        found.gpu |= on_gpu(name);
      }
  found.seconds = static_cast<double>(found.measurements) * planned_seconds(profile.protocol);
  return found;
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
