#pragma once
// The search over InnerProducts: rows one after the other, swap after swap.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/annealing.hpp"
#include "cpu_ref/sa/run.hpp"

namespace vicinity::sa {

/// How an engine works; what is accepted does not depend on it.
struct Tuning {
  std::int64_t pending;  ///< accepted swaps listed before all rows must follow
  /// A row is hot when more than this many swaps were accepted since its last visit; above all: never. Hot rows are made from scratch.
  std::int64_t hot;
  bool scratch;  ///< rows that missed more swaps than a row from scratch costs are made from scratch
};

/// One chain's search. Knows neither threads nor clocks.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void begin(const Walk& walk) = 0;
  /// Goes on until walk.next() == limit.
  virtual void advance(Walk& walk, std::int64_t limit) = 0;
  /// 16: pairs of 16-bit factors in 32-bit lanes; 32, 64: factors and sums of that width.
  [[nodiscard]] virtual std::int64_t bits() const = 0;
};

[[nodiscard]] std::unique_ptr<Engine> make_engine(const qap::Qap& qap, const Tuning& tuning);

}  // namespace vicinity::sa
