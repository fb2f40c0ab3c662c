#pragma once
// The engine of cpu-serial, cpu-delta and cpu-openmp, which differ in its policy alone.
#include <cstdint>
#include <memory>

#include "core/methods/sa/annealing.hpp"
#include "cpu_ref/sa/run.hpp"
#include "cpu_ref/sa/thread_team.hpp"

namespace vicinity::sa {

/// How an engine works; what is accepted does not depend on it.
struct EnginePolicy {
  int threads;                      ///< that share work where that is faster
  std::int64_t element_bits;        ///< 16: pairs of 16-bit factors in 32-bit lanes; 32, 64: factors and sums of that width
  std::int64_t from_scratch_above;  ///< accepted swaps since a row's last visit, above which it is made from scratch

  [[nodiscard]] Policy record() const { return {{"threads", threads}, {"element_bits", element_bits}}; }
};

/// Kept inner products throughout.
[[nodiscard]] EnginePolicy delta_policy(const qap::Qap& qap, const annealing::Task& task);
/// From scratch where that is less work: from about n accepted swaps a sweep on (README.md).
[[nodiscard]] EnginePolicy serial_policy(const qap::Qap& qap, const annealing::Task& task);
/// As cpu-serial, on as many threads as find work worth waking them for.
[[nodiscard]] EnginePolicy openmp_policy(const qap::Qap& qap, const annealing::Task& task);

/// That a case may use.
[[nodiscard]] int threads_of(const annealing::Task& task);

/// One chain's search. Its functions are called from ThreadTeam::run() of the team.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void begin(const ChainState& state) = 0;
  /// Goes on until state.next() == limit.
  virtual void advance(ChainState& state, std::int64_t limit, const Interruption& interruption) = 0;
};

[[nodiscard]] std::unique_ptr<Engine> make_engine(const qap::Qap& qap, const EnginePolicy& policy, ThreadTeam& team);

}  // namespace vicinity::sa
