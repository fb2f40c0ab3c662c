#include "core/methods/sa/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/util/permutation.hpp"

namespace vicinity::annealing {
namespace {

constexpr std::uint64_t probe_seed = 1;
/// Apart from the streams of starts and samples.
constexpr std::uint32_t probe_stream = 0x80000002u;
/// T of a stage over that of the stage before.
constexpr double stage_factor = 0.84;
constexpr std::int64_t samples = 1000;

/// A walk by the Metropolis test. Pairs are drawn: those of a few rows would not stand for all.
class Probe {
 public:
  Probe(const qap::FromScratch& from_scratch, std::int32_t n, const std::atomic<bool>* stop)
      : from_scratch_(&from_scratch), n_(n), stop_(stop), p_(shuffled(n, probe_seed, start_stream)) {}

  /// The mean magnitude of the deltas that are not 0; 0 where there are none.
  [[nodiscard]] double mean_magnitude() const {
    double sum = 0, count = 0;
    for (std::int64_t k = 0; k < samples && !stopped(); ++k) {
      const Swap swap = sample_swap(probe_seed, n_, k);
      const std::int64_t delta = from_scratch_->delta(p_, swap.r, swap.s);
      if (delta == 0) continue;
      sum += std::abs(static_cast<double>(delta));
      ++count;
    }
    return count == 0 ? 0 : sum / count;
  }

  /// The share of `proposals` at T that is expected to be accepted though its delta is positive.
  [[nodiscard]] double share_uphill(double t, std::int64_t proposals) {
    const auto inverse = static_cast<float>(1 / t);
    double expected = 0;
    for (std::int64_t k = 0; k < proposals && !stopped(); ++k) {
      const Swap swap = sample_swap(probe_seed, n_, samples + next_);
      const std::int64_t delta = from_scratch_->delta(p_, swap.r, swap.s);
      if (delta > 0) expected += acceptance(static_cast<double>(delta) / t);
      const auto word = static_cast<std::uint32_t>(random_bits(probe_seed, static_cast<std::uint64_t>(next_), 0, probe_stream));
      if (accepts(delta, inverse, threshold(word))) std::swap(p_[static_cast<std::size_t>(swap.r)], p_[static_cast<std::size_t>(swap.s)]);
      ++next_;
    }
    return expected / static_cast<double>(proposals);
  }

  [[nodiscard]] bool stopped() const { return stop_ != nullptr && *stop_; }

 private:
  const qap::FromScratch* from_scratch_;
  std::int32_t n_;
  const std::atomic<bool>* stop_;
  qap::Permutation p_;
  std::int64_t next_ = 0;
};

}  // namespace

std::int64_t stage_of(std::int32_t n, std::int64_t iterations) {
  return std::clamp<std::int64_t>(iterations / 1000, 50, std::clamp<std::int64_t>(pairs(n), 1000, 20'000));
}

double acceptance(double x) {
  if (x >= highest_threshold) return 0;
  const double binary = x * 1.4426950408889634;
  const auto whole = static_cast<int>(binary);
  const double y = (binary - whole) * -0.6931471805599453;  // exp(y), y in (-ln 2, 0], by its series
  double sum = 1;
  for (int k = 9; k > 0; --k) sum = 1 + sum * y / k;
  return std::ldexp(sum, -whole);
}

Window calibrated(const qap::FromScratch& from_scratch, std::int32_t n, std::int64_t iterations, const std::atomic<bool>* stop) {
  Probe probe(from_scratch, n, stop);
  const std::int64_t stage = stage_of(n, iterations);
  const double start = probe.mean_magnitude();
  if (start == 0) return {.hot = 1, .cold = 1};
  double warm = 0, t = start;  // warm: where first_share is accepted
  while (!probe.stopped()) {
    const double share = probe.share_uphill(t, stage);
    if (warm == 0 && share < first_share) warm = t;
    if (share < last_share) break;
    t *= stage_factor;
  }
  const double part = std::clamp(warm / t / slow, first_part, 1.0);
  return {.hot = std::max(warm * part, t), .cold = t, .hottest = start};
}

std::optional<Cooling> known_cooling(const qap::FromScratch& from_scratch, std::int32_t n, const Task& task,
                                     const std::atomic<bool>* stop) {
  if (task.window) return cooling_in(*task.window, task, n);
  if (task.schedule == Schedule::connolly) return std::nullopt;
  return cooling_in(calibrated(from_scratch, n, task.iterations, stop), task, n);
}

}  // namespace vicinity::annealing
