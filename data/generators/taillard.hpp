#pragma once
#include <cstdint>
#include <vector>

namespace vicinity {

/// The generator of Taillard's random instances (tai*a of QAPLIB): x <- 16807 x mod (2^31 - 1), stepped before each draw;
/// an entry is floor(range * x / (2^31 - 1)). A stream can fill several matrices, one after the other.
class TaillardStream {
 public:
  /// `seed` in [1, 2^31 - 2]; throws InputError otherwise.
  explicit TaillardStream(std::int64_t seed);

  /// n x n, row-major, zero diagonal: the strict upper triangle row by row, mirrored.
  [[nodiscard]] std::vector<std::int32_t> symmetric(std::int32_t n, std::int64_t range = 100);
  /// n x n, row-major, every entry drawn, diagonal included. (Not Taillard's.)
  [[nodiscard]] std::vector<std::int32_t> asymmetric(std::int32_t n, std::int64_t range = 100);

 private:
  [[nodiscard]] std::int32_t draw(std::int64_t range);

  std::int64_t state_;
};

}  // namespace vicinity
