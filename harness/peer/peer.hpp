#pragma once
// A program of others, behind an adapter that runs it on one instance and tells how it fared. What the two say to each other:
// docs/peers.md.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/api/system.hpp"

namespace vicinity {

struct Peer {
  std::string command;  ///< of the adapter, for a shell
  std::string name, version;
  std::string program;  ///< the command line or call behind the adapter, in words
  std::string reads;    ///< the format of instance files, as Solver::format says it
};

/// What an adapter says of itself. Throws EnvironmentError where it says nothing: its peer is not installed.
[[nodiscard]] Peer introduced(const std::string& command);

struct PeerTask {
  std::filesystem::path instance, solution;  ///< files: to read, to write
  std::int32_t scale = 1;                    ///< objectives are whole numbers in units of 1 / scale
  double seconds = 0;
  std::uint64_t seed = 1;
  std::int64_t threads = 1;
};

struct PeerAnswer {
  std::string failure;           ///< in words; empty: it ended as it should
  Trace trace;                   ///< what it tells of its incumbents; digests are 0: it tells no moves
  double seconds = 0;            ///< of its search
  std::int64_t iterations = 0;   ///< as it counts them; without a count its incumbents
  std::optional<double> waited;  ///< seconds its threads were ready and had no processor, where it can tell
};

/// Runs it. Much longer than it was told, and it is killed.
[[nodiscard]] PeerAnswer ask(const Peer& peer, const PeerTask& task);

}  // namespace vicinity
