// The table of the annealing's CPU implementations.
#include "core/systems.hpp"
#include "cpu_ref/sa/methods.hpp"

namespace vicinity::sa {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-traditional", Backend::cpu, "one core: every proposed swap evaluated from scratch in O(n)", "integer throughput of one core",
       prepare_traditional},
  };
}

}  // namespace vicinity::sa
