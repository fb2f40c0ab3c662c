// Annealing from inner products that are kept between accepted swaps, where that is less work. See engine.hpp for who uses it.
//
// Data layout: inner products by facility and by location, the accepted swaps that rows have not yet followed (inner_products.hpp), the
// random words of one row of pairs (thresholds.hpp).
//
// Phases: the pairs of a sweep come row by row, (i, i+1) .. (i, n-1). RowScan brings row i up to date and tests sixteen columns at a time;
// an accepted swap joins the list. A row that has missed many swaps is made from scratch, and as little of it as is read. A full
// list makes all rows follow.
//
// Synchronisation: with several threads, all rows are updated by all, and while swaps are rare rows are scanned ahead by all, each from the
// same state. Either path is taken only while the clock says that it is faster (PathTimer); what is accepted does not depend on it.
//
// Cost: a proposal takes two gathers, a product and a test; an accepted swap two products a pair at most.
#include "cpu_ref/sa/engine.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "cpu_ref/sa/inner_products.hpp"
#include "cpu_ref/sa/thread_team.hpp"
#include "cpu_ref/sa/thresholds.hpp"
#include "cpu_ref/sa/vector.hpp"

namespace vicinity::sa {
namespace {

// --- amounts of work ---------------------------------------------------------------------------------------------------

// Least work for which a thread is woken, ten microseconds or so: proposals to scan; lanes to multiply.
constexpr std::int64_t scan_share = 8192, update_share = 32768;
// Accepted swaps listed before all rows must follow: few enough for the list to stay in the L2 cache, and for single rows to have little to
// follow.
constexpr std::int64_t listed_swaps = 64;

/// Lanes to multiply then.
constexpr std::int64_t update_work(std::int64_t n) { return listed_swaps * n * n / lanes; }

// --- one row -----------------------------------------------------------------------------------------------------------

/// One thread's scan of a row of pairs, (i, i+1) .. (i, n-1), for the first accepted swap.
template <Arithmetic A>
class RowScan {
 public:
  using Products = InnerProducts<A>;
  using Lane = typename Products::Lane;
  using Sum = typename Products::Sum;

  explicit RowScan(Products& products)
      : products_(&products),
        thresholds_(products.size()),
        coefficients_(products.coefficients()),
        column_coefficients_(products.coefficients()) {}

  /// `own_rows`: this row and as many after it, less one, may be brought up to date on the way, since no other thread touches them.
  /// `from_scratch`: of F[.][p[i]] no more than is read is made, from scratch, and not kept, since the next swap is expected soon.
  void begin(std::uint64_t seed, std::int64_t sweep, std::int32_t row, std::int32_t own_rows, bool from_scratch) {
    row_ = row;
    from_scratch_ = from_scratch;
    thresholds_.begin(seed, sweep, row);
    std::array<std::int32_t, Products::block> rows{};
    for (std::int32_t q = 0; q < Products::block; ++q) rows[static_cast<std::size_t>(q)] = q < own_rows ? row + q : -1;
    products_->update(Products::facility, rows.data(), coefficients_.data());
    sums_ = products_->row(Products::facility, row);
    for (std::int32_t& i : rows)
      if (i >= 0) i = products_->locations()[i];
    begin_column(rows.data());
  }

  struct FirstAccepted {
    std::int32_t column;  ///< -1: none
    Sum delta;
  };
  /// Of columns from .. to - 1.
  [[nodiscard]] FirstAccepted first_accepted(std::int32_t from, std::int32_t to, const annealing::RowTemperature& temperature) {
    const Vector<float> base = temperature.base, step = temperature.step;
    for (std::int32_t chunk = from / lanes; chunk * lanes < to; ++chunk) {
      const std::int32_t first = chunk * lanes;
      const Vector<Sum> deltas = deltas_of(chunk);
      const Vector<float> position = converted<float>(lane_numbers() + (first - row_ - 1));
      const Vector<float> test = converted<float>(deltas) * (base + step * position);
      std::uint32_t candidates = 0xFFFFu;
      if (from > first) candidates &= 0xFFFFu << (from - first);
      if (to < first + lanes) candidates &= 0xFFFFu >> (first + lanes - to);
      const std::uint32_t accepted = thresholds_.accepted(chunk, test, candidates);
      if (accepted == 0) continue;
      const int lane = std::countr_zero(accepted);
      return {first + lane, deltas[lane]};
    }
    return {-1, 0};
  }

  /// Accepts the swap with column s, which first_accepted() just returned.
  void accept(std::int32_t s) {
    products_->swap(row_, s, column_sums(s / lanes)[s % lanes]);
    const std::int32_t rows[]{products_->locations()[row_], -1};
    begin_column(rows);
  }

 private:
  /// qap::swap_delta of sixteen pairs.
  [[nodiscard]] VICINITY_HD Vector<Sum> deltas_of(std::int32_t chunk) {
    const std::int32_t first = chunk * lanes, here = products_->locations()[row_];
    const std::int32_t* const locations = products_->locations() + first;
    const Vector<Sum> own = gather(sums_, locations) - products_->diagonal()[row_];
    const Vector<Sum> others = column_sums(chunk) - load(products_->diagonal() + first);
    const Vector<Sum> pair_products = load(products_->pair_factors(Products::facility, row_) + first) *
                                      gather(products_->pair_factors(Products::location, here), locations);
    return (own + others) * products_->scale() + pair_products;
  }
  /// F[j][p[i]] of sixteen columns j.
  [[nodiscard]] VICINITY_HD Vector<Sum> column_sums(std::int32_t chunk) {
    if (!from_scratch_) return load(column_ + chunk * lanes);
    if (chunk != column_chunk_) {
      column_chunk_ = chunk;
      column_sums_ = products_->sums_from_scratch(Products::location, chunk, column_coefficients_.data());
    }
    return column_sums_;
  }
  /// `rows`: the location here, and others that may be brought up to date with it.
  void begin_column(const std::int32_t* rows) {
    column_chunk_ = -1;
    if (from_scratch_)
      products_->coefficients_of(Products::location, rows[0], column_coefficients_.data());
    else
      products_->update(Products::location, rows, coefficients_.data());
    column_ = products_->row(Products::location, rows[0]);
  }

  Products* products_;
  std::int32_t row_ = 0;
  bool from_scratch_ = false;
  RowThresholds thresholds_;
  Aligned<Lane> coefficients_, column_coefficients_;
  const Sum* sums_ = nullptr;
  const Sum* column_ = nullptr;
  std::int32_t column_chunk_ = -1;
  Vector<Sum> column_sums_{};
};

// --- one thread or the team --------------------------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;

enum class Path : std::uint8_t { one_thread, team, one_thread_untimed };

/// Which path is faster for a kind of work on this machine now. Measured while the search goes on; the slower path is tried again as often
/// as costs a hundredth of the time.
class PathTimer {
 public:
  [[nodiscard]] bool team_is_faster() const noexcept { return team_.speed() > one_thread_.speed(); }
  /// The path to take next. The time of a timed one is to be added.
  [[nodiscard]] Path next() noexcept {
    if (one_thread_.seconds == 0) return Path::one_thread;
    if (team_.seconds == 0) return Path::team;
    --calls_to_trial_;
    if (team_is_faster()) return calls_to_trial_ > 0 ? Path::team : Path::one_thread;
    return calls_to_trial_ > 1 ? Path::one_thread_untimed : calls_to_trial_ == 1 ? Path::one_thread : Path::team;
  }
  /// `units` of work took from `start` until now.
  void add(Path path, double units, Clock::time_point start) noexcept {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - start).count();
    Speed& speed = path == Path::team ? team_ : one_thread_;
    speed.units = speed.units / 2 + units;
    speed.seconds = speed.seconds / 2 + seconds;
    if (calls_to_trial_ > 0) return;
    const double call_seconds = std::chrono::duration<double>(now - last_trial_).count() / static_cast<double>(interval_);
    const double lost = seconds - units / std::max(one_thread_.speed(), team_.speed());
    interval_ = static_cast<std::int64_t>(std::clamp(100 * lost / call_seconds, 64.0, 1e9));
    calls_to_trial_ = interval_;
    last_trial_ = now;
  }

 private:
  /// Of the last few calls: each halves the weight of those before.
  struct Speed {
    double units = 0, seconds = 0;
    [[nodiscard]] double speed() const noexcept { return seconds > 0 ? units / seconds : 0; }
  };

  Speed one_thread_, team_;
  std::int64_t interval_ = 64, calls_to_trial_ = 64;
  Clock::time_point last_trial_ = Clock::now();
};

// --- the search --------------------------------------------------------------------------------------------------------

template <Arithmetic A>
class EngineOf final : public Engine {
 public:
  EngineOf(const qap::Qap& qap, const EnginePolicy& policy, ThreadTeam& team)
      : n_(qap.size()),
        policy_(policy),
        team_(team),
        products_(qap, std::min<std::int64_t>(listed_swaps, qap.size())),
        update_threads_(std::clamp<std::int64_t>(update_work(qap.size()) / update_share, 1, policy.threads)) {
    for (int t = 0; t < policy.threads; ++t) {
      scans_.emplace_back(products_);
      coefficients_.emplace_back(products_.coefficients());
    }
  }

  void begin(const ChainState& state) override {
    products_.begin(state.permutation());
    visits_.assign(static_cast<std::size_t>(n_), 0);
  }

  void advance(ChainState& state, std::int64_t limit, const Interruption& interruption) override {
    const std::int64_t pairs = annealing::pairs(n_);
    if (state.next() >= limit) return;
    std::int64_t sweep = state.next() / pairs;
    annealing::Swap at = annealing::pair_at(n_, state.next() % pairs);
    while (true) {
      interruption.check();
      if (policy_.threads > 1 && at.s == at.r + 1) {
        skip_rejected(state, sweep, at.r, limit, interruption);
        at.s = at.r + 1;
      }
      if (state.next() < limit) scan_row(state, sweep, at.r, at.s, limit, interruption);
      if (state.next() == limit) return;
      next_row(sweep, at.r);
      at.s = at.r + 1;
    }
  }

 private:
  void next_row(std::int64_t& sweep, std::int32_t& row) const {
    if (++row < n_ - 1) return;
    row = 0;
    ++sweep;
  }

  /// The proposals of a row from column `column` on, those below `limit`.
  void scan_row(ChainState& state, std::int64_t sweep, std::int32_t row, std::int32_t column, std::int64_t limit,
                const Interruption& interruption) {
    RowScan<A>& scan = scans_.front();
    std::int64_t& visit = visits_[static_cast<std::size_t>(row)];
    const std::int64_t gain = update_timer_.team_is_faster() ? 2 * update_threads_ : 1;  // of the team in updates
    const bool from_scratch = state.chain().accepted - visit > gain * policy_.from_scratch_above;
    if (column == row + 1) visit = state.chain().accepted;
    scan.begin(state.seed(), sweep, row, n_ - row, from_scratch);
    const std::int64_t first = state.next() - (column - row - 1);
    while (column < n_ && state.next() < limit) {
      const std::int64_t until = std::min(limit - 1, state.freezing_proposal()) + 1;  // the temperature is the same up to there
      const auto to = static_cast<std::int32_t>(std::min<std::int64_t>(n_, column + (until - state.next())));
      const auto found = scan.first_accepted(column, to, annealing::row_temperature(state.cooling(), first));
      if (found.column < 0) {
        state.reject_until(state.next() + (to - column));
        column = to;
        continue;
      }
      if (!products_.has_room()) empty_list(from_scratch, interruption);
      state.accept(state.next() + (found.column - column), {row, found.column}, found.delta);
      scan.accept(found.column);
      column = found.column + 1;
    }
  }

  /// Whole rows that one thread scans, one after the other.
  struct RowRange {
    std::int64_t sweep, first;       ///< of the first row: sweep, and the proposal it begins with
    std::int32_t row, offset, rows;  ///< first row; rows of the ranges before; rows
  };

  /// While swaps are rare: scans whole rows from the beginning of `row` on, a range a thread, about as far as one swap is to be expected.
  /// Ends at the beginning of the first row with a swap (which is left to scan_row), or where several threads no longer pay.
  void skip_rejected(ChainState& state, std::int64_t& sweep, std::int32_t& row, std::int64_t limit, const Interruption& interruption) {
    while (true) {
      const std::int64_t expected = state.chain().accepted - visits_[static_cast<std::size_t>(row)] + 1;
      const std::int64_t same = std::min(limit - 1, state.freezing_proposal()) + 1 - state.next();  // proposals at this temperature
      const std::int64_t wanted = std::min(annealing::pairs(n_) / expected, same);
      const std::int64_t threads = std::min<std::int64_t>(policy_.threads, wanted / scan_share);
      if (threads < 2) return;
      const Path path = scan_timer_.next();
      if (path == Path::one_thread_untimed) return;
      const std::int32_t planned = plan(state.next(), sweep, row, wanted, path == Path::team ? threads : 1);
      if (planned == 0) return;
      const auto start = Clock::now();
      const std::int64_t before = state.next();
      std::atomic<std::int32_t> rejected = planned;
      team_.parallel_for(static_cast<int>(ranges_.size()), [&](int k) { scan_range(state, k, rejected, interruption); });
      interruption.check();
      for (std::int32_t i = 0; i < rejected; ++i) {
        visits_[static_cast<std::size_t>(row)] = state.chain().accepted;
        state.reject_until(state.next() + (n_ - 1 - row));
        next_row(sweep, row);
      }
      scan_timer_.add(path, static_cast<double>(state.next() - before), start);
      if (rejected < planned) return;
    }
  }
  /// Cuts whole rows of at most `wanted` proposals in all, less than a sweep, into a range a thread. Returns how many rows.
  std::int32_t plan(std::int64_t first, std::int64_t sweep, std::int32_t row, std::int64_t wanted, std::int64_t threads) {
    ranges_.clear();
    std::int64_t done = 0;
    std::int32_t rows = 0;
    while (rows < n_ - 1 && done + (n_ - 1 - row) <= wanted) {
      if (done * threads >= static_cast<std::int64_t>(ranges_.size()) * wanted) ranges_.push_back({sweep, first + done, row, rows, 0});
      ++ranges_.back().rows;
      ++rows;
      done += n_ - 1 - row;
      next_row(sweep, row);
    }
    return rows;
  }
  /// `rejected` becomes at most the number of planned rows before the first one with a swap.
  void scan_range(const ChainState& state, int k, std::atomic<std::int32_t>& rejected, const Interruption& interruption) {
    RowRange range = ranges_[static_cast<std::size_t>(k)];
    RowScan<A>& scan = scans_[static_cast<std::size_t>(k)];
    for (; range.rows > 0 && rejected > range.offset && !interruption.wanted(); --range.rows, ++range.offset) {
      scan.begin(state.seed(), range.sweep, range.row, std::min(range.rows, n_ - 1 - range.row), false);
      if (scan.first_accepted(range.row + 1, n_, annealing::row_temperature(state.cooling(), range.first)).column >= 0) {
        for (std::int32_t known = rejected; range.offset < known && !rejected.compare_exchange_weak(known, range.offset);) {
        }
        return;
      }
      range.first += n_ - 1 - range.row;
      next_row(range.sweep, range.row);
    }
  }

  /// Empties the list of accepted swaps, after all rows have followed it unless they are to be made from scratch.
  void empty_list(bool from_scratch, const Interruption& interruption) {
    if (!from_scratch) {
      const Path path = update_threads_ == 1 ? Path::one_thread_untimed : update_timer_.next();
      const auto start = Clock::now();
      update_all(path == Path::team ? update_threads_ : 1, interruption);
      if (path != Path::one_thread_untimed) update_timer_.add(path, 1, start);
    }
    products_.clear_list();
  }
  void update_all(std::int64_t threads, const Interruption& interruption) {
    constexpr std::int32_t rows = 256;  // between two looks
    const auto update = [&](std::int64_t k) {
      const auto end = static_cast<std::int32_t>(n_ * (k + 1) / threads);
      for (auto row = static_cast<std::int32_t>(n_ * k / threads); row < end && !interruption.wanted(); row += rows)
        products_.update_all(row, std::min(end, row + rows), coefficients_[static_cast<std::size_t>(k)].data());
    };
    if (threads == 1)
      update(0);
    else
      team_.parallel_for(static_cast<int>(threads), update);
    interruption.check();
  }

  std::int32_t n_;
  EnginePolicy policy_;
  ThreadTeam& team_;
  InnerProducts<A> products_;
  std::int64_t update_threads_;                          ///< that find enough work in an update; keeping up is then cheaper by that
  std::vector<RowScan<A>> scans_;                        ///< [thread]
  std::vector<Aligned<typename A::Lane>> coefficients_;  ///< [thread]
  std::vector<RowRange> ranges_;
  PathTimer scan_timer_, update_timer_;
  std::vector<std::int64_t> visits_;  ///< [row]: accepted swaps when it was last begun
};

}  // namespace

int threads_of(const annealing::Task& task) { return task.threads > 0 ? static_cast<int>(task.threads) : omp_get_max_threads(); }

EnginePolicy delta_policy(const qap::Qap& qap, const annealing::Task&) {
  return {1, Matrices(qap).element_bits(), std::numeric_limits<std::int64_t>::max()};
}
EnginePolicy serial_policy(const qap::Qap& qap, const annealing::Task&) { return {1, Matrices(qap).element_bits(), qap.size()}; }
EnginePolicy openmp_policy(const qap::Qap& qap, const annealing::Task& task) {
  const std::int64_t scanning = annealing::pairs(qap.size()) / scan_share, updating = update_work(qap.size()) / update_share;
  const auto useful = static_cast<int>(std::clamp<std::int64_t>(std::max(scanning, updating), 1, 4096));
  return {std::min(threads_of(task), useful), Matrices(qap).element_bits(), qap.size()};
}

std::unique_ptr<Engine> make_engine(const qap::Qap& qap, const EnginePolicy& policy, ThreadTeam& team) {
  if (policy.element_bits == 16) return std::make_unique<EngineOf<Packed16>>(qap, policy, team);
  if (policy.element_bits == 32) return std::make_unique<EngineOf<Unpacked<std::int32_t>>>(qap, policy, team);
  return std::make_unique<EngineOf<Unpacked<std::int64_t>>>(qap, policy, team);
}

}  // namespace vicinity::sa
