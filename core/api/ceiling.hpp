#pragma once
// What a machine can do at most, as `vicinity ceilings` measures it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vicinity {

enum class Ceiling : std::uint8_t {
  integer,           ///< 32-bit integer operations a second of the GPU
  multiply_add,      ///< single-precision multiply-adds
  popcount,          ///< counts of ones
  special_function,  ///< reciprocals, roots, sines
  issue,             ///< instructions, of any kind
  copy_bandwidth,    ///< bytes a second of device memory, read and written
  shared_bandwidth,  ///< bytes a second of shared memory
  launch,            ///< seconds of a launch that the host waits for
  block_barrier,     ///< seconds
  cluster_barrier,
  grid_barrier,
  cpu_integer,       ///< 32-bit integer operations a second of all cores, vectors by lanes
  cpu_integer_core,  ///< of one core
  cpu_copy_bandwidth,
};
inline constexpr std::array<std::string_view, 14> ceiling_names{
    "integer", "multiply_add",  "popcount",        "special_function", "issue",       "copy_bandwidth",   "shared_bandwidth",
    "launch",  "block_barrier", "cluster_barrier", "grid_barrier",     "cpu_integer", "cpu_integer_core", "cpu_copy_bandwidth"};

/// As records and `vicinity ceilings` call it.
[[nodiscard]] constexpr std::string_view name_of(Ceiling ceiling) { return ceiling_names[static_cast<std::size_t>(ceiling)]; }

}  // namespace vicinity
