#include "harness/measure/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "harness/cli/text.hpp"
#include "harness/measure/measurement.hpp"

namespace vicinity {
namespace {

using Lengths = std::array<std::int64_t, 3>;
using Series = std::array<std::vector<double>, 3>;

/// On the line through (x0, y0) and (x1, y1).
struct Line {
  double slope, fixed;

  Line(double x0, double y0, double x1, double y1) : slope((y1 - y0) / (x1 - x0)), fixed(y0 - slope * x0) {}
  [[nodiscard]] double at(double x) const { return fixed + slope * x; }
};

Line line(double y0, double y1, const Lengths& at) { return {static_cast<double>(at[0]), y0, static_cast<double>(at[2]), y1}; }

struct Spread {
  double mean, error;  ///< the error is that of the mean: standard deviation / sqrt(count)

  explicit Spread(const std::vector<double>& values) : mean(0), error(0) {
    const auto count = static_cast<double>(values.size());
    for (const double value : values) mean += value / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    error = std::sqrt(squares / (count - 1) / count);
  }
};

/// Is the mean above 0 by Student's t, at 97.5 % with the fewest values there may be?
bool positive_beyond_noise(const std::vector<double>& values) {
  constexpr double t = 4.303;  // of two degrees of freedom: three values
  const Spread spread(values);
  return spread.mean > t * spread.error;
}

void append(const Result& more, Result& result) {
  for (const auto& [part, seconds] : more.samples) {
    std::vector<double>& all = result.samples[part];
    all.insert(all.end(), seconds.begin(), seconds.end());
  }
  if (more.clocks && result.clocks) {
    result.clocks->first.throttled |= result.clocks->second.throttled || more.clocks->first.throttled;
    result.clocks->second = more.clocks->second;
  }
  if (!more.contention || !result.contention) return;
  std::vector<Disturbance>& all = result.contention->samples;
  all.insert(all.end(), more.contention->samples.begin(), more.contention->samples.end());
  result.contention->after = more.contention->after;
}

/// The samples of all parts, each on its own line. One whose line falls below 0 is too small to be told from noise and left out.
std::map<std::string, std::vector<double>> predicted_samples(const std::array<Result, 3>& cut, const Scaling& scaling) {
  std::map<std::string, std::vector<double>> samples;
  for (const auto& [part, longest] : cut[2].samples) {
    const auto &shortest = cut[0].samples.at(part), &middle = cut[1].samples.at(part);
    const std::vector<double> whole = fit({shortest, middle, longest}, scaling.at, scaling.to).whole;
    if (std::all_of(whole.begin(), whole.end(), [](double seconds) { return seconds >= 0; })) samples[part] = whole;
  }
  return samples;
}

/// What the work asks for grows in a straight line, too.
void predict_amounts(const Result& shortest, const Scaling& scaling, Result& result) {
  const auto amount = [&](double low, double high) { return line(low, high, scaling.at).at(static_cast<double>(scaling.to)); };
  for (auto& [ceiling, units] : result.work) {
    const auto low = shortest.work.find(ceiling);
    units = amount(low == shortest.work.end() ? 0 : low->second, units);
  }
  for (std::int64_t Outcome::*count : {&Outcome::iterations, &Outcome::evaluations}) {
    std::int64_t& units = (*result.outcome).*count;
    units = std::llround(amount(static_cast<double>((*shortest.outcome).*count), static_cast<double>(units)));
  }
}

/// Around all lengths: before the first and after the last. Throttled if any was; a sample is contended if it was at any length.
template <class T>
void widen(const std::optional<Around<T>>& first, std::optional<Around<T>>& all) {
  if (first && all) all->first = first->first;
}
void widen_conditions(const std::array<Result, 3>& cut, Result& result) {
  widen(cut[0].cpu_control, result.cpu_control);
  widen(cut[0].gpu_control, result.gpu_control);
  widen(cut[0].clocks, result.clocks);
  for (const Result& one : cut)
    if (one.clocks && result.clocks) result.clocks->second.throttled |= one.clocks->first.throttled || one.clocks->second.throttled;
  if (!cut[0].contention || !cut[1].contention || !result.contention) return;
  result.contention->before = cut[0].contention->before;
  std::vector<Disturbance>& samples = result.contention->samples;
  samples.resize(std::min({cut[0].contention->samples.size(), cut[1].contention->samples.size(), samples.size()}));
  for (std::size_t k = 0; k < samples.size(); ++k)
    for (const Result& one : cut) samples[k].contended |= one.contention->samples[k].contended;
}

}  // namespace

Fit fit(const Series& seconds, const Lengths& at, std::int64_t to) {
  const auto& [shortest, middle, longest] = seconds;
  const auto whole_length = static_cast<double>(to);
  const std::size_t count = std::min({shortest.size(), middle.size(), longest.size()});
  Fit found;
  if (count == 0) {
    found.doubt = "there is no sample";
    return found;
  }
  std::vector<double> slopes, fixed, lower, upper, changes;
  for (std::size_t k = 0; k < count; ++k) {
    const Line whole = line(shortest[k], longest[k], at);
    found.whole.push_back(whole.at(whole_length));
    slopes.push_back(whole.slope);
    fixed.push_back(whole.fixed);
    lower.push_back((middle[k] - shortest[k]) / static_cast<double>(at[1] - at[0]));
    upper.push_back((longest[k] - middle[k]) / static_cast<double>(at[2] - at[1]));
    changes.push_back(upper.back() - lower.back());
  }
  found.slope = median(slopes);
  found.fixed = median(fixed);
  const double steepest = std::max({found.slope, median(lower), median(upper)}), last = median(longest);
  const auto length = static_cast<double>(at[2]);
  found.most = std::max(last / length * whole_length, last + steepest * (whole_length - length));
  if (count < static_cast<std::size_t>(fewest_to_predict)) {
    found.doubt = "fewer than three samples tell no slope from noise";
  } else if (!positive_beyond_noise(slopes) || *std::min_element(found.whole.begin(), found.whole.end()) <= 0) {
    found.doubt = fmt::format("between lengths {} and {} its time does not grow by more than the noise", at[0], at[2]);
  } else {
    found.change = (median(upper) - median(lower)) / found.slope;
    const double noise = std::min(2 * Spread(changes).error / found.slope, most_change);
    if (std::abs(found.change) > most_change + noise)
      found.doubt = fmt::format("from length {} on a unit costs {:+.0f} %", at[1], 100 * found.change);
  }
  return found;
}

Result predict(const Job& job, const Protocol& protocol, const std::function<Result(const Job&, int round)>& run) {
  const Scaling& scaling = *job.scaling;
  std::array<Result, 3> cut;
  Series seconds;
  Fit found;
  const auto hopeless = [&] { return !found.doubt.empty() && found.most > scaling.most_seconds; };
  const auto wanted = [&] { return std::max(fewest_to_predict, repetitions_for(protocol, seconds[2].back())); };
  for (int round = 0; round < fewest_to_predict || round < wanted() || (round < most_rounds && hopeless()); ++round) {
    for (std::size_t k = 0; k < cut.size(); ++k) {
      Result one = run(run_of_length(job, scaling.at[k]), round);
      if (one.status == Status::invalid) one.message = fmt::format("at {} = {}: {}", scaling.axis, scaling.at[k], one.message);
      if (one.status != Status::ok) return one;
      if (round == 0)
        cut[k] = std::move(one);
      else
        append(one, cut[k]);
      seconds[k] = chosen_times(cut[k].samples, protocol.time);
    }
    found = fit(seconds, scaling.at, scaling.to);
  }
  const bool sound = found.doubt.empty();
  if (sound ? median(found.whole) < scaling.whole_under : !hopeless()) return run(run_of_whole(job), 0);
  if (!sound) {
    Result unmeasurable;
    unmeasurable.instance = cut[2].instance;
    unmeasurable.message = fmt::format("unmeasurable: its time cannot be predicted from {} = {} to {} ({}), and run whole it may take {}",
                                       scaling.axis, scaling.at[0], scaling.at[2], found.doubt, human_seconds(found.most));
    return unmeasurable;
  }
  Result result = cut[2];
  result.samples = predicted_samples(cut, scaling);
  predict_amounts(cut[0], scaling, result);
  widen_conditions(cut, result);
  result.gpu_joules.reset();
  result.prediction = {.axis = scaling.axis,
                       .at = scaling.at,
                       .to = scaling.to,
                       .fixed_seconds = found.fixed,
                       .seconds_per_unit = found.slope,
                       .change = found.change};
  return result;
}

}  // namespace vicinity
