#pragma once
// Where a result comes from: machine, code, compilers. results/<machine>/environment.json.
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harness/record/record.hpp"

namespace vicinity {

struct Identity {
  std::string machine;  ///< slug of the GPU, else of the CPU
  std::string commit;   ///< $VICINITY_COMMIT, else what git says of the source folder, else "unknown"
  bool dirty = false;
  std::string sources;  ///< hash of all that computes (cmake/source_hash.cmake)
  std::string version;
  std::string build;  ///< hash of sources, version, compilers, flags, libraries and how threads wait if the user says: what made a record
};

/// Hash of the sources that a system's results depend on (cmake/source_hash.cmake); of all for one that is not of this repository.
/// "shared": of what every system uses.
[[nodiscard]] std::string sources_of(const std::string& system);
/// Of those that the results of one of its implementations depend on (systems/NAME.parts).
[[nodiscard]] std::string sources_of(const std::string& system, const std::string& implementation);

/// `machine` overrides the slug when not empty.
[[nodiscard]] Identity identify(const std::string& machine);

[[nodiscard]] Json environment_json(const Identity& identity);

/// results/<machine>
[[nodiscard]] std::filesystem::path machine_folder(const std::filesystem::path& results, const Identity& identity);

/// Writes environment.json, keeping the ceilings already there unless new ones are given, and in `builds` every build that ever recorded
/// there, by its hash. Leaves the file alone when only the time would change. Throws EnvironmentError.
void store_environment(const std::filesystem::path& results, const Identity& identity, const std::optional<Json>& ceilings = std::nullopt);

}  // namespace vicinity
