// The ranks of the hybrid search for vehicle routing.
#include "cpu_ref/alns/hybrid/implementations.hpp"
#include "cpu_ref/run/mpi_programs/rank_loop.hpp"

int main(int argc, char** argv) {
  using namespace vicinity;
  return serve_as_rank(argc, argv, "alns-ranks", {{.implementation = "mpi-islands", .prepare = alns::prepare_islands_of_rank}});
}
