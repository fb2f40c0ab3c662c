// mpi-openmp, the side that asks: the ranks are in mpi_programs/lsm_ranks.cpp, how they are started in cpu_ref/run/ranks.hpp.
#include <cstdint>

#include "cpu_ref/lsm/implementations.hpp"
#include "cpu_ref/lsm/rank_messages.hpp"
#include "cpu_ref/run/ranks.hpp"

namespace vicinity::lsm {

std::unique_ptr<Run> prepare_mpi(const Case& c, const Instance& instance) {
  constexpr std::int64_t most_ranks = 4096;
  static_cast<void>(task_of(c));  // what is wrong with the case is said before ranks are started
  return prepare_on_ranks(rank_program, static_cast<int>(c.integer_or("ranks", 2, 1, most_ranks)), to_json(c, instance).dump());
}

}  // namespace vicinity::lsm
