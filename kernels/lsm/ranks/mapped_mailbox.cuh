#pragma once
// The memory of RankMailbox (mailbox.cuh): this rank's, and that of the others as it has mapped them, through handles for memory of other
// processes (cudaIpcMemHandle_t) that ranks tell each other when the first run is prepared. NVLink multicast and collective libraries have
// no part in it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/api/team.hpp"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/lsm/ranks/exchange.hpp"
#include "kernels/lsm/ranks/mailbox.cuh"

namespace vicinity::lsm {

class MappedMailbox {
 public:
  /// That of this process. By all ranks at the first call, which maps.
  [[nodiscard]] static MappedMailbox& of(Team& team);

  MappedMailbox(const MappedMailbox&) = delete;
  MappedMailbox& operator=(const MappedMailbox&) = delete;

  [[nodiscard]] Exchange exchange() const noexcept { return exchange_; }
  [[nodiscard]] std::int32_t ranks() const noexcept { return ranks_; }
  /// Of each rank's GPU.
  [[nodiscard]] std::int32_t multiprocessors() const noexcept { return multiprocessors_; }
  /// Blocks of a search in so many shares.
  [[nodiscard]] GridShare share(std::int64_t shares) const { return GridShare::of(shares, rank_, ranks_, multiprocessors_); }

  /// Before step 1 of a run, when no rank has a search under way. What follows a step must come after all ranks have done this.
  void clear();
  /// For so many blocks of all ranks, as share() deals them.
  template <cuda::PackableKey K>
  [[nodiscard]] RankMailbox<K> view(std::int32_t blocks) const {
    static_assert(sizeof(cuda::KeyMessage<K>) <= message_bytes);
    RankMailbox<K> view{{}, rank_, ranks_, blocks, patience, given_up_->data()};
    for (std::size_t r = 0; r < of_rank_.size(); ++r) view.of_rank[r] = reinterpret_cast<cuda::KeyMessage<K>*>(of_rank_[r]);
    return view;
  }
  /// Throws std::runtime_error where a search has ended without an answer of another rank.
  void check() const;

 private:
  static constexpr std::size_t message_bytes = 16;
  static constexpr cuda::Word patience = 60'000'000'000;  ///< nanoseconds; more than ranks are apart, whatever the neighbourhood

  explicit MappedMailbox(Team& team);
  [[nodiscard]] Exchange map(Team& team);

  std::int32_t rank_, ranks_, multiprocessors_;
  cuda::DeviceBuffer<std::byte> memory_;
  std::unique_ptr<cuda::HostBuffer<cuda::Word>> given_up_;
  std::vector<void*> of_rank_;  ///< [rank]
  Exchange exchange_;
};

}  // namespace vicinity::lsm
