#pragma once
// The search over InnerProducts: rows one after the other, swap after swap.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/methods/sa/annealing.hpp"
#include "cpu_ref/sa/run.hpp"
#include "cpu_ref/sa/team.hpp"

namespace vicinity::sa {

/// How an engine works; what is accepted does not depend on it.
struct Tuning {
  /// A row is hot when more than this many swaps were accepted since its last visit. Then all is made from scratch, and as little as is
  /// looked at.
  std::int64_t hot = std::numeric_limits<std::int64_t>::max();
  Team* team = nullptr;  ///< who may help where that is faster; advance() is then called within team->gather_for()
};
/// The switch of the paper's serial code, on one core. Measured (README.md): from scratch is less work from about n accepted swaps a sweep
/// on.
[[nodiscard]] inline Tuning switching(const qap::Qap& qap) { return {qap.size(), nullptr}; }

/// One chain's search.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void begin(const ChainState& state) = 0;
  /// Goes on until state.next() == limit.
  virtual void advance(ChainState& state, std::int64_t limit) = 0;
  /// 16: pairs of 16-bit factors in 32-bit lanes; 32, 64: factors and sums of that width.
  [[nodiscard]] virtual std::int64_t bits() const = 0;
};

/// As many as find work worth waking them for.
[[nodiscard]] int useful_threads(std::int32_t n);

[[nodiscard]] std::unique_ptr<Engine> make_engine(const qap::Qap& qap, const Tuning& tuning);

}  // namespace vicinity::sa
