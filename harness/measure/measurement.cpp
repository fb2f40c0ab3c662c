#include "harness/measure/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>

#include "core/api/device.hpp"
#include "core/util/error.hpp"
#include "harness/cli/text.hpp"
#include "harness/measure/control.hpp"
#include "harness/measure/precision.hpp"
#include "harness/measure/sampler.hpp"
#include "harness/measure/threads.hpp"

namespace vicinity {
namespace {

/// The work of a repetition: the whole of it, or what the budget allows; with a boundary where the reference's prefix ends.
void execute(Run& run, const Check& check, const Protocol& protocol) {
  if (check.kind == Check::Kind::prefix && !run.execute({.iterations = check.iterations})) return;
  Budget budget = protocol.budget;
  budget.improvements = protocol.trace;
  static_cast<void>(run.execute(budget));
}

/// The protocol with the target that its gap is, of an objective that is minimised.
Protocol with_target(Protocol protocol, Referee& referee, const Job& job) {
  if (!protocol.gap) return protocol;
  if (const auto best = referee.best_known(job.executed))
    protocol.budget.target = *best + static_cast<std::int64_t>(std::abs(static_cast<double>(*best)) * *protocol.gap / 100);
  return protocol;
}

/// One run under measurement.
class Timing {
 public:
  Timing(Run& run, const Job& job, const Protocol& protocol, const Check& check, double slowdown)
      : run_(run), job_(job), protocol_(protocol), check_(check), slowdown_(slowdown) {}

  /// The full path of one repetition, times of one piece of work.
  [[nodiscard]] Sample once() {
    run_.reset(job_.seed);
    if (protocol_.flush_l2 && job_.implementation->backend == Backend::gpu) device::flush_l2();
    if (contention_ != nullptr) contention_->sample_begins();
    const Stopwatch watch;
    execute(run_, check_, protocol_);
    if (slowdown_ > 1) spin_until(watch, watch.seconds() * slowdown_);
    const double wall = watch.seconds();
    if (contention_ != nullptr) contention_->sample_ends(wall);
    return {.wall = wall / batch_, .parts = run_.times()};
  }

  /// From now on, what each repetition meets.
  void observe(ContentionWatch& contention) noexcept { contention_ = &contention; }

  /// Warms up, chooses the batch, and returns the seconds one repetition takes, reset included. `seconds` went into the run that was just
  /// checked: with warmup 0 it is the only one before the repetitions.
  [[nodiscard]] double warm_up(const Sample& checked, double seconds) {
    const double limit = protocol_.max_seconds > 0 ? protocol_.max_seconds / 4 : INFINITY;
    const Stopwatch watch;
    double kernel = INFINITY, each = seconds;
    contention_ = nullptr;
    if (protocol_.warmup == 0 && checked.parts[Part::kernel]) kernel = checked.parts[Part::kernel]->seconds;
    for (int done = 0; done < protocol_.warmup && (done == 0 || watch.seconds() < limit); ++done) {
      const Stopwatch repetition;
      const Sample sample = once();
      each = repetition.seconds();
      if (sample.parts[Part::kernel]) kernel = std::min(kernel, sample.parts[Part::kernel]->seconds);
    }
    const int wanted = batch_for(job_.implementation->backend, kernel, protocol_.flush_l2);
    if (wanted == 1 || !run_.set_batch(wanted)) return each;
    batch_ = wanted;
    const Stopwatch repetition;
    static_cast<void>(once());
    return repetition.seconds();
  }

  [[nodiscard]] int batch() const noexcept { return batch_; }

  void require_chosen_part(const Times& times) const {
    std::vector<std::string> allowed{"total", "wall"};
    times.for_each([&](Part part, const PartTime&) { allowed.emplace_back(name_of(part)); });
    if (std::find(allowed.begin(), allowed.end(), protocol_.time) != allowed.end()) return;
    throw InputError(fmt::format("{}: time: {} does not report the part '{}'; {}", protocol_.time_location, job_.implementation->name,
                                 protocol_.time, hint(protocol_.time, allowed)));
  }

 private:
  static void spin_until(const Stopwatch& watch, double seconds) {
    while (watch.seconds() < seconds) {
    }
  }

  Run& run_;
  const Job& job_;
  const Protocol& protocol_;
  const Check& check_;
  double slowdown_;
  ContentionWatch* contention_ = nullptr;
  int batch_ = 1;
};

/// Compares what a run gave with the reference. Sets the status to ok or invalid.
void judge(Referee& referee, const Job& job, Run& run, Result& result) {
  const Verdict found{run.outcome(), run.trace()};
  result.outcome = found.outcome;
  if (job.implementation->name == referee.check().reference) referee.adopt(job.executed, job.seed, found);
  const Verdict& expected = referee.reference(job.executed, job.seed);
  result.reference = expected.outcome;
  result.message = referee.complaint(found, expected);
  result.status = result.message.empty() ? Status::ok : Status::invalid;
}

/// The result of the last repetition must be that of the first: a race, or work skipped when nobody looks, shows here.
void prove_again(Referee& referee, const Job& job, const Protocol& protocol, Run& run, Result& result) {
  const Verdict last{run.outcome(), run.trace()};
  std::string complaint = referee.complaint(last, referee.reference(job.executed, job.seed));
  if (complaint.empty() && protocol.budget.unlimited() && last.outcome.digest != result.outcome->digest)
    complaint = fmt::format("digest {}, {} before the repetitions", hex16(last.outcome.digest), hex16(result.outcome->digest));
  if (complaint.empty()) return;
  result.status = Status::invalid;
  result.message = "after the last repetition: " + complaint;
  result.samples.clear();
  result.contention.reset();  // it is of samples
  result.gpu_joules.reset();
}

/// `slowdown` stretches the parts as it did the wall time.
void keep_samples(const std::vector<Sample>& samples, double slowdown, Result& result) {
  for (const Sample& sample : samples) {
    result.samples["wall"].push_back(sample.wall);
    sample.parts.for_each([&](Part part, const PartTime& time) {
      result.samples[std::string(name_of(part))].push_back(time.seconds * slowdown);
      result.time_source[std::string(name_of(part))] = name_of(time.source);
    });
  }
}

/// Clock, throttle reasons and control kernels, taken twice.
void sample_conditions(const Job& job, bool control, bool before, Result& result) {
  const auto place = [before](auto& around) -> auto& {
    if (!around) around.emplace();
    return before ? around->first : around->second;
  };
  const auto device = device::info();
  if (control && before) static_cast<void>(cpu_control_seconds());  // the first call finds cold caches and a sleeping core
  if (control) place(result.cpu_control) = cpu_control_seconds();
  if (control && device) place(result.gpu_control) = device::control_seconds();
  if (!device || job.implementation->backend != Backend::gpu) return;
  if (const auto state = nvml::state(device->pci_bus)) place(result.clocks) = *state;
}

/// What a GPU uses from its construction on. Of less than half a second its counter tells little.
class Energy {
 public:
  explicit Energy(const Job& job) {
    if (const auto device = device::info(); device && job.implementation->backend == Backend::gpu) bus_ = device->pci_bus;
    if (!bus_.empty()) before_ = nvml::joules(bus_);
  }
  [[nodiscard]] std::optional<double> joules() const {
    constexpr double shortest = 0.5;
    if (!before_ || watch_.seconds() < shortest) return std::nullopt;
    const auto now = nvml::joules(bus_);
    return now ? std::optional(*now - *before_) : std::nullopt;
  }

 private:
  std::string bus_;
  std::optional<double> before_;
  Stopwatch watch_;
};

double chosen_time(const Sample& sample, const std::string& time) {
  double total = 0;
  sample.parts.for_each([&](Part part, const PartTime& seconds) {
    if (time == "total" || time == name_of(part)) total += seconds.seconds;
  });
  return time == "wall" ? sample.wall : total;
}

/// The median of the samples that met nobody, by the protocol's precision; never before its fewest repetitions.
bool known_well_enough(const std::vector<Sample>& taken, const ContentionWatch& contention, const Protocol& protocol) {
  if (protocol.precision <= 0 || static_cast<int>(taken.size()) < protocol.min_repetitions) return false;
  std::vector<double> times;
  for (std::size_t k = 0; k < taken.size(); ++k)
    if (!contention.contended(k)) times.push_back(chosen_time(taken[k], protocol.time));
  return known_within(times, protocol.precision);
}

/// The checked run, and after it the repetitions; or where a run takes long and one is enough, the checked run alone.
void time(Referee& referee, const Job& job, const Protocol& protocol, const MeasureOptions& options, Run& run, Result& result) {
  Timing timing(run, job, protocol, referee.check(), options.slowdown);
  const LinuxCounts linux;
  const CountSource& counts = options.counts != nullptr ? *options.counts : linux;
  const auto ended = [&](const std::vector<Sample>& samples, ContentionWatch& contention) {
    keep_samples(samples, options.slowdown, result);
    result.contention = contention.finish();
    sample_conditions(job, options.control, false, result);
    result.batch = timing.batch();
    if (protocol.trace) result.trace = run.trace();
  };

  sample_conditions(job, options.control, true, result);
  ContentionWatch first(counts);
  timing.observe(first);
  const Energy of_checked(job);
  const Stopwatch watch;
  const Sample checked = timing.once();
  const double seconds = watch.seconds();
  result.gpu_joules = of_checked.joules();
  judge(referee, job, run, result);
  if (result.status != Status::ok) {  // there are no samples for these to be of
    result.clocks.reset();
    result.cpu_control.reset();
    result.gpu_control.reset();
    result.gpu_joules.reset();
    return;
  }
  timing.require_chosen_part(checked.parts);
  if (seconds >= options.long_run && repetitions_for(protocol, seconds) == 1) return ended({checked}, first);

  const double each = timing.warm_up(checked, seconds);
  sample_conditions(job, options.control, true, result);
  ContentionWatch contention(counts);
  timing.observe(contention);
  const auto enough = [&](const std::vector<Sample>& taken) { return known_well_enough(taken, contention, protocol); };
  const Energy of_all(job);
  const std::vector<Sample> taken = sample([&] { return timing.once(); }, repetitions_for(protocol, each), enough);
  result.gpu_joules = of_all.joules();
  ended(taken, contention);
  prove_again(referee, job, protocol, run, result);
}

Result skipped(std::string message) {
  Result result;
  result.message = std::move(message);
  return result;
}

template <class Body>
Result guarded(Referee& referee, const Job& job, Body body) {
  Result result;
  referee.turn_to(*job.implementation);
  std::shared_ptr<const Instance> data;
  try {
    data = referee.instance(job.executed);  // a broken case is the descriptor's fault: InputError goes up
  } catch (const MissingInput& error) {     // a file that is not here is nobody's
    result = skipped(error.what());
    result.missing_input = true;
    return result;
  } catch (const DoesNotFit& error) {
    return skipped(fmt::format("does not fit: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return skipped("does not fit: not enough host memory for the instance");
  }
  const Unbound unbound(job.implementation->backend == Backend::gpu);
  std::unique_ptr<Run> run;
  try {
    run = job.implementation->prepare(job.executed, *data);
    body(*run, result);
  } catch (const DoesNotFit& error) {
    result = skipped(fmt::format("does not fit: {}", error.what()));
  } catch (const std::bad_alloc&) {
    result = skipped("does not fit: not enough host memory");
  } catch (const InputError& error) {
    if (run) throw;
    result = skipped(fmt::format("not supported: {}", error.what()));
  }
  result.instance = std::move(data);
  return result;
}

}  // namespace

Result measure(Referee& referee, const Job& job, const Protocol& protocol, const MeasureOptions& options) {
  if (job.scaling) {
    Protocol once = protocol;
    once.repetitions = once.min_repetitions = 1;
    return predict(job, protocol, [&](const Job& run, int round) {
      MeasureOptions how = options;
      if (round > 0) how.long_run = long_later_run;
      return measure(referee, run, run.executed.key() == run.asked.key() ? protocol : once, how);
    });
  }
  return guarded(referee, job, [&](Run& run, Result& result) {
    time(referee, job, with_target(protocol, referee, job), options, run, result);
    result.policy = run.policy();
    result.work = run.work();
  });
}

Result verify(Referee& referee, const Job& job) {
  Protocol whole_or_prefix;
  if (referee.check().kind == Check::Kind::prefix) whole_or_prefix.budget.iterations = referee.check().iterations;
  return guarded(referee, job, [&](Run& run, Result& result) {
    run.reset(job.seed);
    execute(run, referee.check(), whole_or_prefix);
    judge(referee, job, run, result);
  });
}

int batch_for(Backend backend, double kernel_seconds, bool flush_l2) {
  constexpr double short_kernel = 20e-6, long_enough = 200e-6;
  constexpr double most = 1000;
  // A batch would warm the cache that flush_l2 asks to be cold.
  if (backend != Backend::gpu || flush_l2 || !(kernel_seconds < short_kernel)) return 1;
  return static_cast<int>(std::min(most, std::ceil(long_enough / std::max(kernel_seconds, 1e-9))));
}

int repetitions_for(const Protocol& protocol, double seconds) {
  if (protocol.max_seconds <= 0 || seconds * protocol.repetitions <= protocol.max_seconds) return protocol.repetitions;
  const int affordable = static_cast<int>(protocol.max_seconds / seconds);
  return std::min(protocol.repetitions, std::max(protocol.min_repetitions, affordable));
}

std::vector<double> chosen_times(const std::map<std::string, std::vector<double>>& samples, const std::string& time) {
  if (const auto part = samples.find(time); part != samples.end()) return part->second;
  std::vector<double> total;
  for (const auto& [part, seconds] : samples) {
    if (part == "wall") continue;
    total.resize(seconds.size());
    std::transform(seconds.begin(), seconds.end(), total.begin(), total.begin(), std::plus<>());
  }
  return total;
}

}  // namespace vicinity
