// The table of the local searches' CPU implementations.
#include "core/systems.hpp"
#include "cpu_ref/lsm/methods.hpp"

namespace vicinity::lsm {

std::vector<Implementation> cpu_implementations() {
  return {
      {"cpu-serial", Backend::cpu, "one core, every neighbour evaluated by itself: the paper's baseline", "integer throughput of one core",
       prepare_serial},
  };
}

}  // namespace vicinity::lsm
