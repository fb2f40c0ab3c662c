#include "cpu_ref/sa/engine.hpp"

#include <atomic>

#include "cpu_ref/sa/inner_products.hpp"
#include "cpu_ref/sa/row_scan.hpp"

namespace vicinity::sa {
namespace {

// Least work for which a thread is woken, ten microseconds or so: proposals to scan; lanes to multiply.
constexpr std::int64_t scan_share = 8192, refresh_share = 32768;
// Accepted swaps listed before all rows must follow: few enough for the list to stay in the L2 cache, and single rows to have little to
// follow.
constexpr std::int64_t listed = 64;

/// Lanes to multiply then.
constexpr std::int64_t refresh_work(std::int64_t n) { return listed * n * n / lanes; }

template <class Arithmetic>
class EngineOf final : public Engine {
 public:
  EngineOf(const qap::Qap& qap, const Tuning& tuning)
      : n_(qap.size()),
        tuning_(tuning),
        products_(qap, std::min<std::int64_t>(listed, qap.size())),
        threads_(tuning.team ? tuning.team->threads() : 1),
        refresh_shares_(std::clamp<std::int64_t>(refresh_work(qap.size()) / refresh_share, 1, threads_)) {
    for (int t = 0; t < threads_; ++t) {
      scans_.emplace_back(products_);
      coefficients_.emplace_back(products_.coefficients());
    }
  }

  void begin(const ChainState& state) override {
    products_.begin(state.permutation());
    visits_.assign(static_cast<std::size_t>(n_), 0);
  }

  void advance(ChainState& state, std::int64_t limit) override {
    const std::int64_t pairs = annealing::pairs(n_);
    if (state.next() >= limit) return;
    std::int64_t sweep = state.next() / pairs;
    annealing::Swap at = annealing::pair_at(n_, state.next() % pairs);
    while (true) {
      if (threads_ > 1 && at.s == at.r + 1) {
        skip_rejected(state, sweep, at.r, limit);
        at.s = at.r + 1;
      }
      if (state.next() < limit) scan_row(state, sweep, at.r, at.s, limit);
      if (state.next() == limit) return;
      next_row(sweep, at.r);
      at.s = at.r + 1;
    }
  }

  [[nodiscard]] std::int64_t bits() const override {
    return Arithmetic::depth == 2 ? 16 : 8 * static_cast<std::int64_t>(sizeof(typename Arithmetic::Lane));
  }

 private:
  void next_row(std::int64_t& sweep, std::int32_t& row) const {
    if (++row < n_ - 1) return;
    row = 0;
    ++sweep;
  }

  /// The proposals of a row from column `column` on, those below `limit`.
  void scan_row(ChainState& state, std::int64_t sweep, std::int32_t row, std::int32_t column, std::int64_t limit) {
    RowScan<Arithmetic>& scan = scans_.front();
    std::int64_t& visit = visits_[static_cast<std::size_t>(row)];
    const bool hot = state.chain().accepted - visit > (refreshing_.team_wins() ? 2 * refresh_shares_ * tuning_.hot : tuning_.hot);
    if (column == row + 1) visit = state.chain().accepted;
    scan.open(state.seed(), sweep, row, n_ - row, hot);
    const std::int64_t first = state.next() - (column - row - 1);
    while (column < n_ && state.next() < limit) {
      const std::int64_t until = std::min(limit - 1, state.freezing_proposal()) + 1;  // the temperature is the same up to there
      const auto to = static_cast<std::int32_t>(std::min<std::int64_t>(n_, column + (until - state.next())));
      const auto hit = scan.first_accepted(column, to, annealing::row_temperature(state.cooling(), first));
      if (hit.column < 0) {
        state.reject_until(state.next() + (to - column));
        column = to;
        continue;
      }
      if (!products_.room()) make_room(hot);
      state.accept(state.next() + (hit.column - column), {row, hit.column}, hit.delta);
      scan.accept(hit.column);
      column = hit.column + 1;
    }
  }

  /// Whole rows one thread scans, one after the other.
  struct Stretch {
    std::int64_t sweep, first;       ///< of the first row: sweep, and the proposal it begins with
    std::int32_t row, offset, rows;  ///< first row; rows of the stretches before; rows
  };

  /// While swaps are rare: scans whole rows from the beginning of `row` on, a stretch a thread, about as far as one swap is to be expected.
  /// Ends at the beginning of the first row with a swap (which is left to scan_row), or where sharing no longer pays.
  void skip_rejected(ChainState& state, std::int64_t& sweep, std::int32_t& row, std::int64_t limit) {
    while (true) {
      const std::int64_t expected = state.chain().accepted - visits_[static_cast<std::size_t>(row)] + 1;
      const std::int64_t same = std::min(limit - 1, state.freezing_proposal()) + 1 - state.next();  // proposals at this temperature
      const std::int64_t wanted = std::min(annealing::pairs(n_) / expected, same);
      const std::int64_t shares = std::min<std::int64_t>(threads_, wanted / scan_share);
      if (shares < 2) return;
      const Contest::Way way = scanning_.next();
      if (way == Contest::Way::unmeasured) return;
      const std::int32_t planned = plan(state.next(), sweep, row, wanted, way == Contest::Way::team ? shares : 1);
      if (planned == 0) return;
      const auto start = Clock::now();
      const std::int64_t before = state.next();
      std::atomic<std::int32_t> hit = planned;
      tuning_.team->share(static_cast<int>(stretches_.size()), [&](int k) { scan_stretch(state, k, hit); });
      for (std::int32_t i = 0; i < hit; ++i) {
        visits_[static_cast<std::size_t>(row)] = state.chain().accepted;
        state.reject_until(state.next() + (n_ - 1 - row));
        next_row(sweep, row);
      }
      scanning_.note(way, static_cast<double>(state.next() - before), start);
      if (hit < planned) return;
    }
  }
  /// Cuts whole rows of at most `wanted` proposals in all, less than a sweep, into `shares` stretches. Returns how many rows.
  std::int32_t plan(std::int64_t first, std::int64_t sweep, std::int32_t row, std::int64_t wanted, std::int64_t shares) {
    stretches_.clear();
    std::int64_t done = 0;
    std::int32_t rows = 0;
    while (rows < n_ - 1 && done + (n_ - 1 - row) <= wanted) {
      if (done * shares >= static_cast<std::int64_t>(stretches_.size()) * wanted) stretches_.push_back({sweep, first + done, row, rows, 0});
      ++stretches_.back().rows;
      ++rows;
      done += n_ - 1 - row;
      next_row(sweep, row);
    }
    return rows;
  }
  /// `hit` becomes the first row with a swap, counted from the first stretch.
  void scan_stretch(const ChainState& state, int k, std::atomic<std::int32_t>& hit) {
    Stretch at = stretches_[static_cast<std::size_t>(k)];
    RowScan<Arithmetic>& scan = scans_[static_cast<std::size_t>(k)];
    for (; at.rows > 0 && hit > at.offset; --at.rows, ++at.offset) {
      scan.open(state.seed(), at.sweep, at.row, std::min(at.rows, n_ - 1 - at.row), false);
      if (scan.first_accepted(at.row + 1, n_, annealing::row_temperature(state.cooling(), at.first)).column >= 0) {
        for (std::int32_t known = hit; at.offset < known && !hit.compare_exchange_weak(known, at.offset);) {
        }
        return;
      }
      at.first += n_ - 1 - at.row;
      next_row(at.sweep, at.row);
    }
  }

  /// Makes all rows follow the list, and empties it.
  void make_room(bool hot) {
    if (!hot) {
      const Contest::Way way = refresh_shares_ == 1 ? Contest::Way::unmeasured : refreshing_.next();
      const auto start = Clock::now();
      refresh_all(way == Contest::Way::team ? refresh_shares_ : 1);
      if (way != Contest::Way::unmeasured) refreshing_.note(way, 1, start);
    }
    products_.forget();
  }
  void refresh_all(std::int64_t shares) {
    const auto refresh = [&](std::int64_t k) {
      products_.refresh_all(static_cast<std::int32_t>(n_ * k / shares), static_cast<std::int32_t>(n_ * (k + 1) / shares),
                            coefficients_[static_cast<std::size_t>(k)].data());
    };
    if (shares == 1)
      refresh(0);
    else
      tuning_.team->share(static_cast<int>(shares), refresh);
  }

  std::int32_t n_;
  Tuning tuning_;
  InnerProducts<Arithmetic> products_;
  int threads_;
  std::int64_t refresh_shares_;             ///< threads that can find work in refreshing; keeping up is then cheaper by that
  std::vector<RowScan<Arithmetic>> scans_;  ///< one a thread
  std::vector<Aligned<typename Arithmetic::Lane>> coefficients_;  ///< one a thread
  std::vector<Stretch> stretches_;
  Contest scanning_, refreshing_;
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

int useful_threads(std::int32_t n) {
  const std::int64_t scanning = annealing::pairs(n) / scan_share, refreshing = refresh_work(n) / refresh_share;
  return static_cast<int>(std::clamp<std::int64_t>(std::max(scanning, refreshing), 1, 4096));
}

std::unique_ptr<Engine> make_engine(const qap::Qap& qap, const Tuning& tuning) {
  if (qap.narrow() && fit(qap, 16)) return std::make_unique<EngineOf<Packed>>(qap, tuning);
  if (qap.narrow() && fit(qap, 32)) return std::make_unique<EngineOf<Plain<std::int32_t>>>(qap, tuning);
  return std::make_unique<EngineOf<Plain<std::int64_t>>>(qap, tuning);
}

}  // namespace vicinity::sa
