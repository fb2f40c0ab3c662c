#pragma once
// How the ranks of mpi-gpu tell each other their best moves, and how a search is divided among their grids. All ranks come to the same
// answers, from what each has said of its device.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/methods/lsm/slice.hpp"

namespace vicinity::lsm {

/// Most ranks that write to each other's memory: a lane writes to a rank.
inline constexpr std::int32_t most_mapped_ranks = 32;

/// By polled words in device memory that all ranks have mapped; or through the hosts, because of the first of these that holds.
enum class Exchange : std::int32_t {
  polled_words,
  several_hosts,   ///< the ranks are on more than one
  too_many_ranks,  ///< more than most_mapped_ranks
  shared_device,   ///< two ranks have one GPU: grids that wait for each other need not run at the same time
  unlike_devices,  ///< grids would have other shapes
  no_mapping,      ///< a rank cannot map the memory of another: there is no peer access between two GPUs
};

/// As the key of a policy: the reason, where there is one.
[[nodiscard]] inline const char* name_of(Exchange exchange) {
  constexpr std::array names{"polled_words",      "several_hosts",       "more_ranks_than_can_map",
                             "ranks_share_a_gpu", "gpus_differ_in_kind", "no_peer_access"};
  return names[static_cast<std::size_t>(exchange)];
}

/// What a rank says of its device, in words of Team::gathered().
struct RankDevice {
  std::int64_t id[2];  ///< no other GPU has it
  std::int64_t multiprocessors;
  std::int64_t shared_bytes;  ///< that a block may have
  std::int64_t capability;    ///< compute capability, times ten
  std::int64_t is_exported;   ///< 1: others may map its memory

  [[nodiscard]] bool is(const RankDevice& other) const { return id[0] == other.id[0] && id[1] == other.id[1]; }
  [[nodiscard]] bool is_like(const RankDevice& other) const {
    return multiprocessors == other.multiprocessors && shared_bytes == other.shared_bytes && capability == other.capability;
  }
};

/// What the devices of all ranks of a host allow, before any has mapped the memory of another.
[[nodiscard]] inline Exchange exchange_of(std::span<const RankDevice> devices) {
  if (devices.size() > static_cast<std::size_t>(most_mapped_ranks)) return Exchange::too_many_ranks;
  for (std::size_t r = 0; r < devices.size(); ++r)
    if (std::any_of(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(r),
                    [&](const RankDevice& other) { return other.is(devices[r]); }))
      return Exchange::shared_device;
  for (const RankDevice& device : devices) {
    if (!device.is_like(devices.front())) return Exchange::unlike_devices;
    if (device.is_exported == 0) return Exchange::no_mapping;
  }
  return Exchange::polled_words;
}

/// Blocks of a search that lie in several grids, one a rank. Every rank has one at least, since each follows the search. The first
/// `working` have moves of their own; where there are more, block b evaluates what block b - working does: its own copy of that
/// changes no least key.
struct GridShare {
  std::int32_t first, count;  ///< of this rank
  std::int32_t all, working;

  /// For moves in so many shares, at most `multiprocessors` blocks a rank.
  [[nodiscard]] static GridShare of(std::int64_t shares, std::int32_t rank, std::int32_t ranks, std::int32_t multiprocessors) {
    const std::int64_t working = std::clamp<std::int64_t>(shares, 1, std::int64_t{multiprocessors} * ranks);
    GridShare share{0, 0, 0, static_cast<std::int32_t>(working)};
    for (std::int32_t r = 0; r < ranks; ++r) {
      const local_search::Slice slice{r, ranks};
      const auto count = std::max(1, static_cast<std::int32_t>(slice.last_of(working) - slice.first_of(working)));
      if (r == rank) {
        share.first = share.all;
        share.count = count;
      }
      share.all += count;
    }
    return share;
  }
};

}  // namespace vicinity::lsm
