#pragma once
// A program whose processes are ranks: what main() of systems/<system>_mpi_programs/ calls. Rank 0 has the requests of
// cpu_ref/run/ranks.hpp; all ranks do them together.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/api/run.hpp"
#include "core/api/team.hpp"

namespace vicinity {

/// What a rank does for an implementation.
struct RankPart {
  std::string implementation;
  /// Prepares the part of this rank. The team outlives the run.
  std::function<std::unique_ptr<Run>(const Case&, const Instance&, Team&)> prepare;
  /// Axis with the number of independent searches that the ranks share: rank after rank has consecutive ones, and `prepare` is given a case
  /// of these alone, in which search k is search k + (those of ranks before). Their seeds follow one another, so that seed + k is search
  /// k's. Empty: all ranks work on each search in step, and call Team::least() in each iteration.
  std::string searches = {};
  /// Takes the GPU with this number, modulo those of the host, for what is prepared then; returns how many there are. Empty: none is
  /// needed.
  std::function<std::int64_t(std::int32_t)> take_device = {};
};

/// The exit code of main(). `program`: its name, for messages.
[[nodiscard]] int serve_as_rank(int argc, char** argv, const std::string& program, const std::vector<RankPart>& parts);

}  // namespace vicinity
