#include <fmt/format.h>

#include "core/api/device.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/text.hpp"
#include "harness/record/ceilings.hpp"
#include "harness/record/environment.hpp"

namespace vicinity {
namespace {

/// "2.84 TB/s", "15.1 Top/s", "1.1 us".
std::string with_unit(double value, const std::string& unit) {
  if (unit == "s") return human_seconds(value);
  constexpr std::pair<double, char> scales[]{{1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}};
  for (const auto& [scale, prefix] : scales) {
    if (value >= scale) return fmt::format("{:.3g} {}{}", value / scale, prefix, unit);
  }
  return fmt::format("{:.3g} {}", value, unit);
}

std::string text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.is_null() ? "unknown" : value.dump(); }

}  // namespace

int ceilings_command(const Options& options) {
  const Identity identity = identify(options.machine);
  print_stderr("measuring the ceilings of {}: a few seconds\n", identity.machine);
  std::map<std::string, double> ceilings = cpu_ceilings();
  if (device::info()) {
    ceilings.merge(device::ceilings());
  } else {
    print_stderr("no GPU ceilings: {}\n", device::absence());
  }
  store_environment(options.results, identity, ceilings_json(ceilings));
  for (const auto& [name, value] : ceilings) fmt::print("{:<20} {}\n", name, with_unit(value, ceiling_unit(name)));
  return exit_ok;
}

int environment_command(const Options& options) {
  const Json environment = environment_json(identify(options.machine));
  if (options.json) {
    fmt::print("{}\n", environment.dump(2));
    return exit_ok;
  }
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<10} {}\n", name, value); };
  const Json& gpu = environment["gpu"];
  const Json& cpu = environment["cpu"];
  const Json& compilers = environment["compilers"];
  line("machine", text(environment["machine"]));
  line("version", fmt::format("{}, commit {}{}, sources {}", text(environment["version"]), text(environment["commit"]),
                              environment["dirty"].get<bool>() ? " (changed)" : "", text(environment["sources"])));
  line("gpu", gpu.is_null() ? device::absence()
                            : fmt::format("{}, {} SMs, {:.1f} GB, driver {}", text(gpu["name"]), text(gpu["multiprocessors"]),
                                          gpu["memory_bytes"].get<double>() * 1e-9, text(gpu["driver"])));
  line("cpu", fmt::format("{}, cores {} ({} threads), {}", text(cpu["model"]), text(cpu["affinity"]), text(cpu["threads"]),
                          join(cpu["features"].get<std::vector<std::string>>())));
  std::vector<std::string> settings;
  for (const auto& [name, setting] : cpu["openmp"].items())
    settings.push_back(fmt::format("{}={} ({})", name, text(setting["value"]), text(setting["set_by"])));
  line("openmp", join(settings));
  line("memory", fmt::format("{:.1f} GB", environment["memory_bytes"].get<double>() * 1e-9));
  line("system", fmt::format("{}, Linux {}", text(environment["os"]), text(environment["kernel"])));
  line("c++", fmt::format("{} {}", text(compilers["cxx"]), text(compilers["cxx_flags"])));
  line("cuda", compilers["cuda"].is_null() ? "not built"
                                           : fmt::format("{} for {}", text(compilers["cuda"]), text(compilers["cuda_architectures"])));
  return exit_ok;
}

}  // namespace vicinity
