#include "harness/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

#include "harness/cli/text.hpp"

namespace vicinity {
namespace {

/// Case and seed.
std::string baseline_key(const Json& record) {
  return record.at("case_key").get<std::string>() + record.value("seeds", Json::array()).dump();
}

/// Which samples a value rests on: those that are not contended, if these are three or half of them; else all.
std::vector<bool> kept_samples(const Json& record, std::size_t count) {
  const auto contended = record.value("contended", std::vector<bool>());
  const auto clean = static_cast<std::size_t>(std::count(contended.begin(), contended.end(), false));
  std::vector<bool> kept(count, true);
  if (contended.size() != count || (clean < 3 && 2 * clean < count)) return kept;
  std::transform(contended.begin(), contended.end(), kept.begin(), std::logical_not<>());
  return kept;
}

bool rests_on_contended(const Json& record) {
  const auto contended = record.value("contended", std::vector<bool>());
  const std::vector<bool> kept = kept_samples(record, contended.size());
  return std::inner_product(contended.begin(), contended.end(), kept.begin(), false, std::logical_or<>(), std::logical_and<>());
}

/// What stands after the ratio.
std::string remarks(const Json& record) {
  std::string text;
  if (!record.at("extrapolated").is_null()) text += "  extrapolated";
  if (record.at("throttled").get<bool>()) text += "  throttled";
  if (rests_on_contended(record)) text += "  contended";
  return text;
}

}  // namespace

double chosen_median(const Json& record) {
  std::map<std::string, std::vector<double>> samples;
  for (const auto& [part, values] : record.at("samples").items()) samples[part] = values.get<std::vector<double>>();
  const auto times = chosen_times(samples, record.at("protocol").at("time").get<std::string>());
  const std::vector<bool> kept = kept_samples(record, times.size());
  std::vector<double> counted;
  for (std::size_t k = 0; k < times.size(); ++k)
    if (kept[k]) counted.push_back(times[k]);
  return counted.empty() ? std::nan("") : median(counted);
}

Progress::Progress(const Descriptor& descriptor, const Profile& profile, const std::vector<Job>& jobs, const RunPart& part)
    : profile_(profile),
      part_(part),
      name_(part.count > 1 ? fmt::format("[{}/{}] {} ", part.number, part.count, descriptor.experiment) : ""),
      reference_(descriptor.check.reference),
      total_(jobs.size()),
      case_width_(4),
      name_width_(14),
      terminal_(isatty(STDERR_FILENO) != 0) {
  for (const Job& job : jobs) {
    case_width_ = std::max(case_width_, describe(job, profile).size());
    name_width_ = std::max(name_width_, job.implementation->name.size());
  }
  fmt::print("{:<{}}  {:<{}}  {:>10}  vs {}\n", "case", case_width_, "implementation", name_width_, "median", reference_);
  std::fflush(stdout);
}

Progress::~Progress() { clear_line(); }

void Progress::clear_line() const {
  if (terminal_) print_stderr("\r\033[K");
}

std::string Progress::remaining() const {
  const double elapsed = since_start_.seconds();
  const std::optional<double> left =
      part_.left(elapsed, static_cast<double>(done_) / static_cast<double>(std::max<std::size_t>(total_, 1)));
  return fmt::format("{}{} of {}, {} elapsed{}", name_, done_, total_, clock_text(part_.seconds + elapsed),
                     left ? fmt::format(", about {} left", clock_text(*left)) : "");
}

void Progress::recall(const Json& record) {
  if (record.value("implementation", "") == reference_ && record.value("status", "") == "ok")
    baselines_[baseline_key(record)] = {chosen_median(record), !record.at("extrapolated").is_null()};
}

std::string Progress::comparison(const Json& record, double seconds) const {
  const auto text = [&](const char* name) { return record.at(name).get<std::string>(); };
  if (text("status") != "ok") return text("status") + ": " + text("message");
  const auto baseline = baselines_.find(baseline_key(record));
  if (baseline == baselines_.end() || text("implementation") == reference_) return fmt::format("-{}", remarks(record));
  return fmt::format("{:.3g}x{}{}", baseline->second.seconds / seconds, baseline->second.extrapolated ? " (its time extrapolated)" : "",
                     remarks(record));
}

void Progress::begin(const Job& job) {
  constexpr double quiet_seconds = 10;  // plain output: a line now and then
  if (terminal_) {
    print_stderr("\r\033[K{}: {} {}", remaining(), job.implementation->name, describe(job, profile_));
    std::fflush(stderr);
  } else if (since_line_.seconds() >= quiet_seconds) {
    print_stderr("{}\n", remaining());
    since_line_ = {};
  }
}

void Progress::finish(const Job& job, const Json& record) {
  ++done_;
  recall(record);
  clear_line();
  const double seconds = chosen_median(record);
  fmt::print("{:<{}}  {:<{}}  {:>10}  {}\n", describe(job, profile_), case_width_, job.implementation->name, name_width_,
             human_seconds(seconds), comparison(record, seconds));
  std::fflush(stdout);
}

}  // namespace vicinity
