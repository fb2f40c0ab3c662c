#pragma once
// How a step ends before its end: a flag that long loops look at after every bounded piece of work.
#include <atomic>

namespace vicinity {

/// Thrown within a step and caught by the driver. What the step had not finished is void, and so is what its method keeps.
struct Interrupted {};

/// A flag that is raised once and stays so. Looked at after every piece of work that takes at most some hundredths of a second.
class Interruption {
 public:
  explicit Interruption(const std::atomic<bool>* flag = nullptr) noexcept : flag_(flag) {}  // null: never

  [[nodiscard]] bool wanted() const noexcept { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  /// For what looks at a flag of its own accord; null: never raised.
  [[nodiscard]] const std::atomic<bool>* flag() const noexcept { return flag_; }
  void check() const {
    if (wanted()) throw Interrupted();
  }

 private:
  const std::atomic<bool>* flag_;
};

}  // namespace vicinity
