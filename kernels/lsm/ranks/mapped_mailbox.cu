#include "kernels/lsm/ranks/mapped_mailbox.cuh"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/util/error.hpp"
#include "kernels/cuda/runtime/launch.cuh"

namespace vicinity::lsm {
namespace {

/// What a rank tells the others.
struct Announcement {
  RankDevice device;
  cudaIpcMemHandle_t handle;  ///< of its mailbox, where that is exported
};
static_assert(sizeof(Announcement) % sizeof(std::int64_t) == 0);

[[nodiscard]] RankDevice present_device() {
  int number = 0;
  cudaDeviceProp properties{};
  VICINITY_CUDA_CHECK(cudaGetDevice(&number));
  VICINITY_CUDA_CHECK(cudaGetDeviceProperties(&properties, number));
  RankDevice device{};
  static_assert(sizeof(properties.uuid) == sizeof(device.id));
  std::memcpy(device.id, &properties.uuid, sizeof(device.id));
  device.multiprocessors = properties.multiProcessorCount;
  device.shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  device.capability = 10 * properties.major + properties.minor;
  return device;
}

/// Did it work? An error is not left for others to find.
[[nodiscard]] bool succeeds(cudaError_t status) {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status == cudaSuccess;
}

[[nodiscard]] std::vector<Announcement> announced(Team& team, const Announcement& mine) {
  std::vector<std::int64_t> words(sizeof(Announcement) / sizeof(std::int64_t));
  std::memcpy(words.data(), &mine, sizeof mine);
  std::vector<Announcement> all;
  for (const std::vector<std::int64_t>& of_rank : team.gathered(words)) std::memcpy(&all.emplace_back(), of_rank.data(), sizeof mine);
  return all;
}

}  // namespace

/// It is never freed: other ranks write to it, or have it mapped, until they end.
MappedMailbox& MappedMailbox::of(Team& team) {
  static auto* const mailbox = new MappedMailbox(team);
  return *mailbox;
}

MappedMailbox::MappedMailbox(Team& team)
    : rank_(team.rank()), ranks_(team.size()), multiprocessors_(cuda::multiprocessors()), exchange_(map(team)) {}

/// Ranks on several hosts need tell each other nothing, and those on one do so twice whatever goes wrong, so that none waits for another.
Exchange MappedMailbox::map(Team& team) {
  if (team.host_size() < ranks_) return Exchange::several_hosts;
  Announcement mine{present_device(), {}};
  try {
    memory_ =
        cuda::DeviceBuffer<std::byte>(2 * static_cast<std::size_t>(ranks_) * static_cast<std::size_t>(multiprocessors_) * message_bytes);
    given_up_ = std::make_unique<cuda::HostBuffer<cuda::Word>>(1);
    mine.device.is_exported = ranks_ == 1 || succeeds(cudaIpcGetMemHandle(&mine.handle, memory_.data())) ? 1 : 0;
  } catch (const DoesNotFit&) {  // through the hosts it may
  }
  const std::vector<Announcement> all = announced(team, mine);
  std::vector<RankDevice> devices;
  for (const Announcement& one : all) devices.push_back(one.device);
  const Exchange allowed = exchange_of(devices);
  if (allowed != Exchange::polled_words) return allowed;

  bool is_mapped = true;
  for (std::int32_t r = 0; r < ranks_; ++r) {
    void* address = memory_.data();
    if (r != rank_)
      is_mapped =
          succeeds(cudaIpcOpenMemHandle(&address, all[static_cast<std::size_t>(r)].handle, cudaIpcMemLazyEnablePeerAccess)) && is_mapped;
    of_rank_.push_back(address);
  }
  const std::vector<std::vector<std::int64_t>> of_ranks = team.gathered({is_mapped ? 1 : 0});
  const bool all_are = std::all_of(of_ranks.begin(), of_ranks.end(), [](const auto& of_rank) { return of_rank.front() == 1; });
  return all_are ? Exchange::polled_words : Exchange::no_mapping;
}

void MappedMailbox::clear() {
  VICINITY_CUDA_CHECK(cudaMemset(memory_.data(), 0, memory_.bytes()));
  VICINITY_CUDA_CHECK(cudaDeviceSynchronize());
  (*given_up_)[0] = 0;
}

void MappedMailbox::check() const {
  if (*static_cast<const volatile cuda::Word*>(given_up_->data()) != 0)
    throw std::runtime_error("another rank's GPU has not answered for " + std::to_string(patience / 1'000'000'000) + " s");
}

}  // namespace vicinity::lsm
