#pragma once
// What a search is after.
#include <cstdint>
#include <optional>

namespace vicinity {

enum class Sense : std::uint8_t { minimise, maximise };

/// A whole number (or one in fixed point) with its sense; or none, when nothing was found; or infeasible.
class Objective {
 public:
  Objective() = default;
  constexpr Objective(std::int64_t value, Sense sense = Sense::minimise) : value_(value), sense_(sense) {}  // NOLINT: a plain number
  [[nodiscard]] static constexpr Objective infeasible(Sense sense = Sense::minimise) {
    Objective objective;
    objective.sense_ = sense;
    objective.infeasible_ = true;
    return objective;
  }

  [[nodiscard]] constexpr bool has_value() const noexcept { return value_.has_value(); }
  [[nodiscard]] constexpr bool is_infeasible() const noexcept { return infeasible_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] constexpr std::int64_t value() const { return value_.value(); }
  [[nodiscard]] constexpr std::int64_t operator*() const { return *value_; }
  [[nodiscard]] constexpr Sense sense() const noexcept { return sense_; }

  /// Anything with a value is better than anything without.
  [[nodiscard]] constexpr bool better_than(const Objective& other) const {
    if (!has_value() || !other.has_value()) return has_value() && !other.has_value();
    return sense_ == Sense::minimise ? *value_ < *other.value_ : *value_ > *other.value_;
  }
  /// Is it as good as `target`, or better?
  [[nodiscard]] constexpr bool reaches(std::int64_t target) const { return has_value() && !Objective(target, sense_).better_than(*this); }

  friend constexpr bool operator==(const Objective&, const Objective&) = default;

 private:
  std::optional<std::int64_t> value_;
  Sense sense_ = Sense::minimise;
  bool infeasible_ = false;
};

/// Percent by which `objective` misses the best known one, never below 0 for what is worse; empty where there is nothing to divide by.
[[nodiscard]] std::optional<double> gap_percent(const Objective& objective, std::optional<std::int64_t> best_known);

}  // namespace vicinity
