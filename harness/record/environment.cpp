#include "harness/record/environment.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <memory>
#include <regex>
#include <string_view>

#include "build_info.hpp"
#include "core/api/device.hpp"
#include "core/util/digest.hpp"
#include "harness/cli/text.hpp"
#include "harness/measure/cpu.hpp"
#include "harness/measure/nvml.hpp"
#include "harness/measure/threads.hpp"
#include "harness/record/checked_json.hpp"
#include "harness/record/recorder.hpp"
#include "source_hash.hpp"

namespace vicinity {
namespace {

namespace fs = std::filesystem;

/// What `git <arguments>` prints in the source folder, without the last newline; empty optional when it fails.
std::optional<std::string> git(const std::string& arguments) {
  std::string folder;
  for (const char* c = build::source_folder; *c != '\0'; ++c) folder += *c == '\'' ? std::string("'\\''") : std::string(1, *c);
  const std::string command = fmt::format("git -C '{}' {} 2>/dev/null", folder, arguments);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> block{};
  for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;) output.append(block.data(), got);
  if (pclose(pipe) != 0) return std::nullopt;
  if (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

void identify_commit(Identity& identity) {
  constexpr std::string_view suffix = "-dirty";
  if (const char* given = std::getenv("VICINITY_COMMIT"); given != nullptr && *given != '\0') {
    identity.commit = given;
    identity.dirty = identity.commit.ends_with(suffix);
    if (identity.dirty) identity.commit.resize(identity.commit.size() - suffix.size());
    return;
  }
  const auto commit = git("rev-parse HEAD");
  identity.commit = commit.value_or("unknown");
  identity.dirty = commit && !git("status --porcelain --untracked-files=no").value_or("").empty();
}

Json gpu_json() {
  const auto info = device::info();
  if (!info) return nullptr;
  const auto driver = nvml::driver_version();
  return {{"name", info->name},
          {"compute_capability", info->compute_capability},
          {"multiprocessors", info->multiprocessors},
          {"clock_khz", info->clock_khz},
          {"memory_clock_khz", info->memory_clock_khz},
          {"bus_bits", info->bus_bits},
          {"memory_bytes", info->memory_bytes},
          {"l2_bytes", info->l2_bytes},
          {"shared_bytes_per_multiprocessor", info->shared_bytes_per_multiprocessor},
          {"driver_version", info->driver_version},
          {"runtime_version", info->runtime_version},
          {"driver", or_null(driver)}};
}

/// Each variable with who set it.
Json openmp_json() {
  Json json = Json::object();
  for (const auto& [name, setting] : current_thread_settings())
    json[name] = {{"value", setting.value}, {"set_by", setting.by_user ? "user" : "vicinity"}};
  return json;
}

Json cpu_json() {
  const CpuInfo info = cpu_info();
  return {{"model", info.model},
          {"cores", info.cores},
          {"physical_cores", info.physical_cores},
          {"quota", or_null(info.quota)},
          {"threads", info.threads},
          {"places", info.places},
          {"openmp", openmp_json()},
          {"affinity", info.affinity},
          {"governor", or_null(info.governor)},
          {"caches", info.caches.empty() ? Json::object() : Json(info.caches)},
          {"features", info.features}};
}

Json compilers_json() {
  const auto or_null = [](const char* text) { return *text == '\0' ? Json() : Json(text); };
  return {{"cxx", build::cxx_compiler},
          {"cxx_flags", build::cxx_flags},
          {"cuda", or_null(build::cuda_compiler)},
          {"cuda_flags", build::cuda_flags},
          {"cuda_architectures", build::cuda_architectures}};
}

Json libraries_json() { return {{"benchmark", build::benchmark_version}, {"openmp", _OPENMP}}; }

/// With how threads wait, where the user says so: times of the CPU depend on that as much as on the compiler's flags.
Json with_waiting(Json json) {
  for (const auto& [name, setting] : current_thread_settings())
    if (setting.by_user && (name == "OMP_WAIT_POLICY" || name == "GOMP_SPINCOUNT")) json["waiting"][name] = setting.value;
  return json;
}

/// What a build is known by: these members of an environment.
Json build_json(const Json& environment) {
  Json build = Json::object();
  for (const char* name : {"sources", "version", "compilers", "libraries", "waiting"})
    if (environment.contains(name)) build[name] = environment[name];
  return build;
}

std::string build_hash(const Json& build) {
  Digest digest;
  digest.add(build.dump());
  return hex16(digest.value());
}

/// The builds of an environment file, with the only one that an older file knows: the last.
Json builds_of(const Json& environment) {
  if (environment.is_object() && environment.contains("builds") && environment["builds"].is_object()) return environment["builds"];
  Json builds = Json::object();
  if (environment.is_object() && environment.contains("compilers")) builds[build_hash(build_json(environment))] = build_json(environment);
  return builds;
}

}  // namespace

std::string sources_of(const std::string& system) {
  for (const auto& [name, hash] : vicinity_system_hashes)
    if (name == system) return std::string(hash);
  return vicinity_source_hash;
}

std::string sources_of(const std::string& system, const std::string& implementation) {
  Digest digest;
  bool known = false;
  for (const VicinitySourcePart& part : vicinity_source_parts) {
    if (part.system != system || !std::regex_match(implementation, std::regex(std::string(part.implementations)))) continue;
    digest.add(std::string_view(part.hash));
    known = true;
  }
  return known ? hex16(digest.value()) : vicinity_source_hash;
}

Identity identify(const std::string& machine) {
  Identity identity;
  const auto gpu = device::info();
  identity.machine = slug(!machine.empty() ? machine : gpu ? gpu->name : cpu_info().model);
  identity.sources = vicinity_source_hash;
  identity.version = build::version;
  identity.build = build_hash(with_waiting(
      {{"sources", identity.sources}, {"version", identity.version}, {"compilers", compilers_json()}, {"libraries", libraries_json()}}));
  identify_commit(identity);
  return identity;
}

Json environment_json(const Identity& identity) {
  return with_waiting({{"schema", 1},
                       {"machine", identity.machine},
                       {"time", utc_now()},
                       {"commit", identity.commit},
                       {"dirty", identity.dirty},
                       {"sources", identity.sources},
                       {"version", identity.version},
                       {"build", identity.build},
                       {"gpu", gpu_json()},
                       {"cpu", cpu_json()},
                       {"memory_bytes", memory_bytes()},
                       {"os", operating_system()},
                       {"kernel", kernel_release()},
                       {"compilers", compilers_json()},
                       {"libraries", libraries_json()},
                       {"ceilings", Json::object()}});
}

fs::path machine_folder(const fs::path& results, const Identity& identity) { return results / identity.machine; }

namespace {

/// What results stand under: GPU and CPU.
std::string hardware(const Json& environment) {
  std::string names;
  for (const auto& [part, name] : {std::pair("gpu", "name"), std::pair("cpu", "model")})
    if (environment.contains(part) && environment[part].is_object()) names += environment[part].value(name, "") + ", ";
  return names.substr(0, names.empty() ? 0 : names.size() - 2);
}

}  // namespace

void store_environment(const fs::path& results, const Identity& identity, const std::optional<Json>& ceilings) {
  const fs::path path = machine_folder(results, identity) / "environment.json";
  std::error_code later;  // whatever is wrong with the folder, writing says it
  fs::create_directories(path.parent_path(), later);
  const FolderLock lock(path.parent_path());  // another shard must not lose what this one adds
  Json before = read_environment(path);
  Json now = environment_json(identity);
  if (ceilings) {
    now["ceilings"] = *ceilings;
  } else if (before.is_object() && before.contains("ceilings")) {
    now["ceilings"] = before["ceilings"];
  }
  now["builds"] = builds_of(before);
  now["builds"][identity.build] = build_json(now);
  if (const std::string known = hardware(before), here = hardware(now); !known.empty() && known != here)
    print_stderr("vicinity: warning: {}: other hardware recorded here before ({}; now {}); --machine NAME keeps them apart\n",
                 path.string(), printable(known), here);
  if (before.is_object()) {
    before["time"] = now["time"];
    if (before == now) return;
  }
  write_atomically(path, now.dump(2) + "\n");
}

}  // namespace vicinity
