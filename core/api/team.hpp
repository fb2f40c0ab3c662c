#pragma once
// The processes that share one run, its ranks, as one of them sees them. Implementations know nothing of MPI but this
// (cpu_ref/run/mpi_programs/ has the other side).
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace vicinity {

class Team {
 public:
  /// Whole numbers in the order of their elements: the least is the same whoever brings which, in whatever order.
  using Offer = std::array<std::int64_t, 3>;

  virtual ~Team() = default;
  [[nodiscard]] virtual std::int32_t rank() const = 0;
  [[nodiscard]] virtual std::int32_t size() const = 0;
  /// Among the ranks of its host.
  [[nodiscard]] virtual std::int32_t host_rank() const = 0;
  [[nodiscard]] virtual std::int32_t host_size() const = 0;
  /// Cores for the threads of this rank.
  [[nodiscard]] virtual std::int32_t cores() const = 0;

  // --- by all ranks, equally often and in the same order -----------------------------------------------------------------------------

  /// The least offer of all. Nothing is offered by a rank that was interrupted, and then nothing is returned to all.
  [[nodiscard]] virtual std::optional<Offer> least(const std::optional<Offer>& mine) = 0;
  /// What each rank brings, [rank].
  [[nodiscard]] virtual std::vector<std::vector<std::int64_t>> gathered(const std::vector<std::int64_t>& mine) = 0;

  // --- alone -------------------------------------------------------------------------------------------------------------------------

  /// Raised when work under way is to be interrupted.
  [[nodiscard]] virtual const std::atomic<bool>* stop() const = 0;
};

}  // namespace vicinity
