#include "cpu_ref/sa/engine.hpp"

#include "cpu_ref/sa/inner_products.hpp"
#include "cpu_ref/sa/row_scan.hpp"

namespace vicinity::sa {
namespace {

template <class Arithmetic>
class EngineOf final : public Engine {
 public:
  EngineOf(const qap::Qap& qap, const Tuning& tuning)
      : n_(qap.size()), tuning_(tuning), products_(qap, tuning.pending), scan_(products_), coefficients_(products_.coefficients()) {}

  void begin(const Walk& walk) override {
    products_.begin(walk.permutation());
    visits_.assign(static_cast<std::size_t>(n_), 0);
  }

  void advance(Walk& walk, std::int64_t limit) override {
    const std::int64_t pairs = annealing::pairs(n_);
    if (walk.next() >= limit) return;
    std::int64_t lap = walk.next() / pairs;
    annealing::Swap at = annealing::pair_at(n_, walk.next() % pairs);
    while (true) {
      scan_row(walk, lap, at.r, at.s, limit);
      if (walk.next() == limit) return;
      if (++at.r == n_ - 1) {
        at.r = 0;
        ++lap;
      }
      at.s = at.r + 1;
    }
  }

  [[nodiscard]] std::int64_t bits() const override {
    return Arithmetic::depth == 2 ? 16 : 8 * static_cast<std::int64_t>(sizeof(typename Arithmetic::Lane));
  }

 private:
  /// The proposals of a row from column `column` on, those below `limit`.
  void scan_row(Walk& walk, std::int64_t lap, std::int32_t row, std::int32_t column, std::int64_t limit) {
    std::int64_t& visit = visits_[static_cast<std::size_t>(row)];
    const bool hot = walk.chain().accepted - visit > tuning_.hot;
    if (column == row + 1) visit = walk.chain().accepted;
    scan_.open(walk.seed(), lap, row, hot, tuning_.scratch);
    const std::int64_t first = walk.next() - (column - row - 1);
    while (column < n_ && walk.next() < limit) {
      const std::int64_t until = std::min(limit - 1, walk.freezing_proposal()) + 1;  // the temperature is the same up to there
      const auto to = static_cast<std::int32_t>(std::min<std::int64_t>(n_, column + (until - walk.next())));
      const auto hit = scan_.first_accepted(column, to, annealing::row_temperature(walk.cooling(), first));
      if (hit.column < 0) {
        walk.reject_until(walk.next() + (to - column));
        column = to;
        continue;
      }
      if (!products_.room()) make_room(hot);
      walk.accept(walk.next() + (hit.column - column), {row, hit.column}, hit.delta);
      scan_.accept(hit.column);
      column = hit.column + 1;
    }
  }

  void make_room(bool hot) {
    if (!hot) products_.refresh_all(0, n_, coefficients_.data());
    products_.forget();
  }

  std::int32_t n_;
  Tuning tuning_;
  InnerProducts<Arithmetic> products_;
  RowScan<Arithmetic> scan_;
  Aligned<typename Arithmetic::Lane> coefficients_;
  std::vector<std::int64_t> visits_;  ///< accepted swaps when a row was last begun
};

/// Do the entries, and the differences of two of them, fit `bits` bits?
bool fit(const qap::Qap& qap, int bits) {
  const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
  const std::size_t entries = static_cast<std::size_t>(qap.size()) * static_cast<std::size_t>(qap.size());
  for (const std::int32_t* matrix : {qap.view().a, qap.view().b}) {
    const auto [low, high] = std::minmax_element(matrix, matrix + entries);
    if (*low < -most || *high > most || std::int64_t{*high} - *low > most) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const qap::Qap& qap, const Tuning& tuning) {
  if (qap.narrow() && fit(qap, 16)) return std::make_unique<EngineOf<Packed>>(qap, tuning);
  if (qap.narrow() && fit(qap, 32)) return std::make_unique<EngineOf<Plain<std::int32_t>>>(qap, tuning);
  return std::make_unique<EngineOf<Plain<std::int64_t>>>(qap, tuning);
}

}  // namespace vicinity::sa
