#include "harness/record/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/util/digest.hpp"
#include "harness/cli/text.hpp"

namespace vicinity {
namespace {

Json case_json(const Case& c) {
  Json json{{"problem", c.problem}, {"instance", c.instance.empty() ? Json() : Json(c.instance)}};
  for (const auto& [axis, value] : c.values) json[axis] = to_json(value);
  return json;
}

Json protocol_json(const Protocol& protocol, double slowdown) {
  Json json{{"statistic", protocol.statistic}, {"repetitions", protocol.repetitions}, {"min_repetitions", protocol.min_repetitions},
            {"precision", protocol.precision}, {"processes", protocol.processes},     {"warmup", protocol.warmup},
            {"time", protocol.time},           {"flush_l2", protocol.flush_l2}};
  if (!protocol.budget.unlimited())
    json["budget"] = {
        {"seconds", or_null(protocol.budget.seconds)}, {"target", or_null(protocol.budget.target)}, {"gap", or_null(protocol.gap)}};
  if (slowdown != 1) json["test_slowdown"] = slowdown;  // never mistaken for a measurement
  return json;
}

const char* status_name(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::invalid:
      return "invalid";
    case Status::skipped:
      return "skipped";
  }
  return "invalid";
}

Json clocks_json(const std::optional<Around<nvml::State>>& clocks) {
  if (!clocks) return nullptr;
  return {{"sm_mhz_before", clocks->first.sm_mhz},
          {"sm_mhz_after", clocks->second.sm_mhz},
          {"throttle_before", clocks->first.reasons},
          {"throttle_after", clocks->second.reasons}};
}

Json control_json(const Result& result) {
  if (!result.cpu_control) return nullptr;
  Json json{{"cpu", {result.cpu_control->first, result.cpu_control->second}}};
  if (result.gpu_control) json["gpu"] = {result.gpu_control->first, result.gpu_control->second};
  return json;
}

Json extrapolated_json(const std::optional<Prediction>& prediction) {
  if (!prediction) return nullptr;
  return {{"axis", prediction->axis},
          {"at", prediction->at},
          {"to", prediction->to},
          {"fixed_seconds", prediction->fixed_seconds},
          {"seconds_per_unit", prediction->seconds_per_unit},
          {"change", prediction->change}};
}

Json work_json(const Work& work) {
  Json json = Json::object();
  for (const auto& [ceiling, amount] : work) json[std::string(name_of(ceiling))] = amount;
  return json;
}

Json trace_json(const Trace& trace) {
  Json json = Json::array();
  for (const TracePoint& point : trace)
    json.push_back({{"seconds", point.seconds},
                    {"iterations", point.iterations},
                    {"objective", or_null(point.objective)},
                    {"digest", hex16(point.digest)}});
  return json;
}

/// Growth of a count; null where it is not told.
template <class Count>
Json growth_json(const std::optional<Count>& before, const std::optional<Count>& after) {
  return before && after ? Json(*after - *before) : Json();
}

/// One entry a sample, and what the system counted around all of them.
void add_contention(const std::optional<Contention>& found, Json& json) {
  json["contended"] = Json::array();
  json["contention"] = nullptr;
  if (!found) return;
  Json waited = Json::array(), voluntary = Json::array(), involuntary = Json::array();
  for (const Disturbance& sample : found->samples) {
    json["contended"].push_back(sample.contended);
    waited.push_back(or_null(sample.waited));
    voluntary.push_back(sample.voluntary);
    involuntary.push_back(sample.involuntary);
  }
  const SystemCounts &before = found->before, &after = found->after;
  json["contention"] = {{"waited", waited},
                        {"voluntary", voluntary},
                        {"involuntary", involuntary},
                        {"seconds", after.time - before.time},
                        {"processor_time", after.processor_time - before.processor_time},
                        {"load", {or_null(before.load), or_null(after.load)}},
                        {"runnable", {or_null(before.runnable), or_null(after.runnable)}},
                        {"steal", growth_json(before.steal, after.steal)},
                        {"throttlings", growth_json(before.throttlings, after.throttlings)},
                        {"throttled", growth_json(before.throttled, after.throttled)},
                        {"pressure", growth_json(before.pressure, after.pressure)}};
}

void add_outcome(const Result& result, const std::string& reference, Json& json) {
  json["verified"] = result.status == Status::ok;
  json["reference"] = reference;
  json["digest"] = result.outcome ? Json(hex16(result.outcome->digest)) : Json();
  json["reference_digest"] = result.reference ? Json(hex16(result.reference->digest)) : Json();
  const Outcome outcome = result.outcome.value_or(Outcome{});
  json["objective"] = or_null(outcome.objective);
  json["objective_sense"] = outcome.objective.sense() == Sense::minimise ? "minimise" : "maximise";
  json["feasible"] = outcome.feasible;
  json["iterations"] = outcome.iterations;
  json["evaluations"] = outcome.evaluations;
  json["counters"] = outcome.counters.empty() ? Json::object() : Json(outcome.counters);
}

template <class Map>
Json object(const Map& map) {
  Json json = Json::object();
  for (const auto& [name, value] : map) json[name] = value;
  return json;
}

/// Tells hosts apart, which may have processes of one number and start, without naming them.
std::string host_digest() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  Digest digest;
  digest.add(std::string_view(name.data()));
  return hex16(digest.value());
}

/// Unprintable, so that no name can contain it.
constexpr char separator = '\x1f';

template <class... Parts>
std::string key_of(const Parts&... parts) {
  std::string key;
  ((key += fmt::format("{}{}", parts, separator)), ...);
  return key;
}

}  // namespace

Json to_record(const RunContext& context, const Descriptor& descriptor, const Job& job, const Protocol& protocol, const Result& result) {
  Json json{{"schema", 1},
            {"experiment", descriptor.experiment},
            {"system", descriptor.system->name},
            {"paper", descriptor.paper},
            {"profile", context.profile},
            {"case", case_json(job.asked)},
            {"case_key", job.asked.key()},
            {"implementation", job.implementation->name},
            {"backend", job.implementation->backend == Backend::gpu ? "gpu" : "cpu"},
            {"status", status_name(result.status)},
            {"message", result.message},
            {"machine", context.machine},
            {"commit", context.commit},
            {"dirty", context.dirty},
            {"sources", context.sources},
            {"build", context.build},
            {"descriptor", descriptor.hash},
            {"version", context.version},
            {"process", {{"pid", getpid()}, {"host", host_digest()}, {"start", context.started}, {"number", context.process}}},
            {"protocol", protocol_json(protocol, context.slowdown)},
            {"seeds", Json::array({job.seed})},
            {"batch", result.batch},
            {"samples", object(result.samples)},
            {"time_source", object(result.time_source)}};
  add_outcome(result, reference_of(*descriptor.system, descriptor.check, *job.implementation), json);
  if (!context.reference_sources.empty()) json["reference_sources"] = context.reference_sources;
  json["best_known"] = or_null(best_known_of(*descriptor.system, job.asked, result.instance.get()));
  json["policy"] = object(result.policy);
  json["work"] = work_json(result.work);
  add_contention(result.contention, json);
  json["clocks"] = clocks_json(result.clocks);
  json["throttled"] = result.clocks && (result.clocks->first.throttled || result.clocks->second.throttled);
  if (result.gpu_joules) json["gpu_joules"] = *result.gpu_joules;
  json["extrapolated"] = extrapolated_json(result.prediction);
  if (descriptor.check.kind == Check::Kind::prefix) json["proof"] = {{"kind", "prefix"}, {"iterations", descriptor.check.iterations}};
  if (!result.trace.empty()) json["trace"] = trace_json(result.trace);
  if (result.missing_input) json["missing_input"] = true;
  json["control"] = control_json(result);
  return json;
}

std::string resume_key(const RunContext& context, const Descriptor& descriptor, const Job& job, const Protocol& protocol) {
  return key_of(descriptor.experiment, job.asked.key(), job.implementation->name, context.profile, context.machine, context.sources,
                descriptor.hash, protocol.repetitions, protocol.min_repetitions, protocol.precision, context.slowdown, job.seed,
                context.process);
}

std::string resume_key(const Json& record) {
  if (record.value("schema", 0) != 1) return "";
  const auto text = [&](const char* name) { return record.value(name, std::string()); };
  const std::string status = text("status");
  if ((status != "ok" && status != "skipped") || record.value("missing_input", false)) return "";
  const Json protocol = record.value("protocol", Json::object()), seeds = record.value("seeds", Json::array());
  const std::uint64_t seed = seeds.is_array() && seeds.size() == 1 && seeds[0].is_number_integer() ? seeds[0].get<std::uint64_t>() : 0;
  return key_of(text("experiment"), text("case_key"), text("implementation"), text("profile"), text("machine"), text("sources"),
                text("descriptor"), protocol.value("repetitions", 0), protocol.value("min_repetitions", Protocol().min_repetitions),
                protocol.value("precision", Protocol().precision), protocol.value("test_slowdown", 1.0), seed,
                record.value("process", Json::object()).value("number", 1));
}

}  // namespace vicinity
