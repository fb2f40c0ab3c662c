#include "harness/peer/peer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "harness/cli/process.hpp"
#include "harness/cli/text.hpp"
#include "harness/record/json.hpp"
#include "harness/record/recorder.hpp"

namespace vicinity {
namespace {

/// Objects that an adapter prints, a line each. Returns how it failed; empty: it did not.
std::string converse(const std::string& command, const std::vector<std::string>& arguments, double seconds,
                     const std::function<void(const Json&)>& said) {
  std::string error;
  const std::string failure = run_command_line(command, arguments, seconds, [&](const std::string& line) {
    try {
      const Json message = Json::parse(line);
      if (message.contains("error"))
        error = message.at("error").get<std::string>();
      else
        said(message);
    } catch (const Json::exception&) {
      if (error.empty()) error = fmt::format("'{}' is no message of an adapter", printable(line.substr(0, 100)));
    }
  });
  return !error.empty() ? printable(error) : failure.empty() ? "" : "the adapter " + failure;
}

/// No search has more improvements or is longer than this; a larger number is a mistake.
constexpr double largest = 9e15;

double number(const Json& value) {
  const auto found = value.get<double>();
  if (!(std::abs(found) <= largest)) throw Json::type_error::create(302, "a number is too large", &value);
  return found;
}

}  // namespace

Peer introduced(const std::string& command) {
  constexpr double patience = 60;
  Peer peer{.command = command, .name = "", .version = "", .program = "", .reads = ""};
  const std::string failure = converse(command, {"--about"}, patience, [&](const Json& about) {
    peer.name = about.at("name").get<std::string>();
    peer.version = about.at("version").get<std::string>();
    peer.program = about.at("program").get<std::string>();
    peer.reads = about.at("reads").get<std::string>();
  });
  if (!failure.empty() || peer.name.empty())
    throw EnvironmentError(fmt::format("--adapter '{}': {}", command, failure.empty() ? "it does not say what it is" : failure));
  return peer;
}

PeerAnswer ask(const Peer& peer, const PeerTask& task) {
  constexpr double patience = 120;  // to load, to read, to end
  PeerAnswer answer;
  const std::vector<std::string> arguments{"--instance", task.instance.string(),     "--solution", task.solution.string(),
                                           "--scale",    std::to_string(task.scale), "--seconds",  fmt::format("{}", task.seconds),
                                           "--seed",     std::to_string(task.seed),  "--threads",  std::to_string(task.threads)};
  bool ended = false;
  answer.failure = converse(peer.command, arguments, 2 * task.seconds + patience, [&](const Json& message) {
    const double seconds = number(message.at("seconds"));
    const bool ends = !message.contains("objective");
    const double before = answer.trace.empty() ? 0 : answer.trace.back().seconds;
    if (!(seconds >= before)) throw Json::type_error::create(302, "times go forward", &message);
    if (ends && seconds == 0) throw Json::type_error::create(302, "a search takes time", &message);
    const auto iterations = static_cast<std::int64_t>(number(message.value("iterations", Json(0))));
    if (!ends) {
      answer.trace.push_back(
          {.seconds = seconds, .iterations = iterations, .objective = std::llround(number(message.at("objective"))), .digest = 0});
      return;
    }
    ended = true;
    answer.seconds = seconds;
    answer.iterations = iterations;
    if (message.contains("waited")) answer.waited = number(message.at("waited"));
  });
  if (answer.failure.empty() && !ended) answer.failure = "the adapter did not say how long its search took";
  if (answer.iterations < 1) answer.iterations = std::max<std::int64_t>(1, static_cast<std::int64_t>(answer.trace.size()));
  return answer;
}

}  // namespace vicinity
