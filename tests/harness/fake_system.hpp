#pragma once
// A system whose implementations misbehave in the ways the harness must catch. For tests only; also linked into the
// fake_vicinity program that the command-line tests drive.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/api/system.hpp"
#include "core/util/digest.hpp"
#include "core/util/error.hpp"
#include "tests/harness/fake_search.hpp"

namespace vicinity::fake {

struct Numbers : Instance {
  std::int64_t size = 0;
  [[nodiscard]] std::uint64_t hash() const override { return static_cast<std::uint64_t>(size); }
};

/// The size whose instance "file" is only there when the environment has FAKE_HAS_FILE.
constexpr std::int64_t missing_size = 404;

/// From this size on, cpu-slow waits as long as the file exists that the environment's FAKE_GATE names: a test decides when it goes on.
constexpr std::int64_t gate_size = 5;
inline void wait_at_gate() {
  const char* gate = std::getenv("FAKE_GATE");
  while (gate != nullptr && std::filesystem::exists(gate)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// How an implementation behaves.
struct Behaviour {
  bool wrong_at_13 = false;  ///< wrong digest for size 13
  int wrong_after = 0;       ///< wrong digest from this execution on; 0 = never
  bool infeasible = false;
  bool crashes = false;
  double kernel_seconds = 1e-3;  ///< what times() says; 0 = sleep for the axis "milliseconds" and say that
  bool batches = false;
  double each_seconds = 0;    ///< what times() says more for each of the size
  double square_seconds = 0;  ///< and for its square
};

class FakeRun : public Run {
 public:
  FakeRun(Behaviour behaviour, std::int64_t size, std::int64_t milliseconds)
      : behaviour_(behaviour), size_(size), milliseconds_(milliseconds) {}

  void reset(const Start& start) override {
    seed_ = start.seed;
    ++resets;
  }
  bool execute(const Budget&) override {
    ++executions;
    if (behaviour_.crashes) std::raise(SIGKILL);
    if (behaviour_.kernel_seconds == 0 && size_ >= gate_size) wait_at_gate();
    if (behaviour_.kernel_seconds == 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    return false;
  }
  [[nodiscard]] Times times() const override {
    const auto size = static_cast<double>(size_);
    const double base = behaviour_.kernel_seconds == 0 ? static_cast<double>(milliseconds_) * 1e-3 : behaviour_.kernel_seconds;
    const double kernel = base + behaviour_.each_seconds * size + behaviour_.square_seconds * size * size;
    return {{Part::kernel, {kernel, TimeSource::device}}, {Part::clone, {kernel / 2, TimeSource::device}}};
  }
  [[nodiscard]] Outcome outcome() override {
    Digest digest;
    digest.add(seed_);
    digest.add(static_cast<std::uint64_t>(size_));
    const bool wrong = (behaviour_.wrong_at_13 && size_ == 13) || (behaviour_.wrong_after > 0 && executions >= behaviour_.wrong_after);
    Outcome outcome;
    outcome.digest = digest.value() + (wrong ? 1 : 0);
    outcome.objective = size_ * 10 + (wrong ? 1 : 0);
    outcome.feasible = !behaviour_.infeasible;
    outcome.complaint = behaviour_.infeasible ? "one number too many" : "";
    outcome.iterations = size_;
    outcome.evaluations = size_ * 100;
    outcome.counters = {{"launches", 1}};
    return outcome;
  }
  [[nodiscard]] bool set_batch(int wanted) override {
    if (behaviour_.batches) batch = wanted;
    return behaviour_.batches || wanted == 1;
  }
  [[nodiscard]] Policy policy() const override { return {{"block", 256}}; }
  [[nodiscard]] Work work() const override { return {{Ceiling::integer, static_cast<double>(size_)}}; }

  int resets = 0, executions = 0, batch = 1;

 private:
  Behaviour behaviour_;
  std::int64_t size_, milliseconds_;
  std::uint64_t seed_ = 0;
};

inline Implementation implementation(const std::string& name, Behaviour behaviour, Backend backend = Backend::cpu) {
  return {name, backend, "a fake", "nothing", [behaviour](const Case& c, const Instance& instance) -> std::unique_ptr<Run> {
            const auto& numbers = dynamic_cast<const Numbers&>(instance);
            return std::make_unique<FakeRun>(behaviour, numbers.size, c.integer_or("milliseconds", 1, 0, 10'000));
          }};
}

inline System system() {
  System system;
  system.name = "fake";
  system.title = "a fake system";
  system.problems = {{"count", "numbers", {{"size", "how many: 1 to 1000000"}, {"milliseconds", "how long"}, {"mode", "a name"}}}};
  system.reference = "cpu-serial";
  system.instance = [](const Case& c) {
    auto numbers = std::make_shared<Numbers>();
    numbers->size = c.integer("size", 1, 1'000'000);
    if (numbers->size == missing_size && std::getenv("FAKE_HAS_FILE") == nullptr) throw MissingInput("file of size 404 not found; make it");
    return std::shared_ptr<const Instance>(numbers);
  };
  system.random_case = [](std::uint64_t seed) { return Case{"count", "", {{"size", static_cast<std::int64_t>(1 + seed % 20)}}}; };
  system.implementations = {implementation("cpu-serial", {}),
                            implementation("cpu-openmp", {}),
                            implementation("cpu-wrong", {.wrong_at_13 = true}),
                            implementation("cpu-late", {.wrong_after = 5}),
                            implementation("cpu-infeasible", {.infeasible = true}),
                            implementation("cpu-slow", {.kernel_seconds = 0}),
                            implementation("cpu-straight", {.kernel_seconds = 2, .each_seconds = 0.5}),
                            implementation("cpu-bent", {.kernel_seconds = 2, .square_seconds = 0.01}),
                            implementation("cpu-crash", {.crashes = true}),
                            implementation("cpu-big", {}),
                            implementation("cpu-picky", {}),
                            implementation("gpu", {.kernel_seconds = 5e-6, .batches = true}, Backend::gpu)};
  for (Implementation& i : system.implementations) {
    if (i.name == "cpu-big") i.prepare = [](const Case&, const Instance&) -> std::unique_ptr<Run> { throw DoesNotFit("needs 1 TB"); };
    if (i.name == "cpu-picky")
      i.prepare = [](const Case&, const Instance&) -> std::unique_ptr<Run> { throw InputError("even sizes only"); };
  }
  return system;
}

inline const std::vector<System>& systems() {
  static const std::vector<System> all{system(), hunt()};
  return all;
}

inline const Implementation& find(const std::string& name) {
  const auto& all = systems().front().implementations;
  return *std::find_if(all.begin(), all.end(), [&](const Implementation& i) { return i.name == name; });
}

}  // namespace vicinity::fake
