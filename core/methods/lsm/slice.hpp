#pragma once
// A search whose neighbourhood is shared among processes: what each of them evaluates, and how they agree on the move. Each has the whole
// solution and takes every move; of the neighbourhood it evaluates a slice.
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/methods/lsm/search.hpp"

namespace vicinity::local_search {

/// One of `count` parts of a neighbourhood. Several bests combine by better(), in any order.
struct Slice {
  std::int32_t index = 0, count = 1;

  [[nodiscard]] bool whole() const { return count == 1; }
  /// Where it begins and ends among n of equal cost.
  [[nodiscard]] std::int64_t first_of(std::int64_t n) const { return n * index / count; }
  [[nodiscard]] std::int64_t last_of(std::int64_t n) const { return n * (index + 1) / count; }
};

/// What the processes that share a neighbourhood agree on in each iteration. All of them call best() equally often.
class Agreement {
 public:
  virtual ~Agreement() = default;
  /// The best of all slices; `mine` is that of this one, nothing where its evaluation was interrupted. Nothing is returned, to all, where
  /// one was.
  [[nodiscard]] virtual std::optional<Choice> best(const std::optional<Choice>& mine) = 0;
  /// Raised when evaluations under way are to be interrupted.
  [[nodiscard]] virtual const std::atomic<bool>* stop() const = 0;
};

}  // namespace vicinity::local_search
