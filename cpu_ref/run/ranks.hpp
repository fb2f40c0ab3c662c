#pragma once
// A run whose work is done by the ranks of another program under MPI. This program is no rank: it starts the launcher (mpirun), sends
// requests to rank 0 through the launcher's standard input, a line of JSON each, and reads an answer a line from its standard output. So
// one experiment sweeps over numbers of ranks, a rank that dies ends no process but its own team, and nothing but the ranks is linked with
// MPI.
//
//   {"do": "prepare", ...}                         what to run, as the program of the ranks understands it
//   {"do": "reset", "seed", "solution"}            Run::reset()
//   {"do": "execute", "number", "iterations", "target", "improvements", "limited"}
//                                                  Run::execute(); meanwhile "pause NUMBER" (after this step) and "stop NUMBER" (within it)
//   {"do": "outcome"}                              of rank 0
//
// An answer has what was asked for, or "error", and "fits": false where the error is DoesNotFit. The end of the input ends the ranks.
//
// The launcher is VICINITY_MPIEXEC (a command with arguments), or the mpirun that was found when this was built; it gets -n RANKS PROGRAM.
// Within an allocation of Slurm, Open MPI's mpirun starts its ranks on the allocated nodes; VICINITY_MPIEXEC="srun --mpi=pmix" does
// without it. On one host nothing is bound or refused: ranks share its cores, and more ranks than cores take turns.
#include <memory>
#include <string>

#include "core/api/run.hpp"

namespace vicinity {

/// Why no ranks of `program` can be started here, in one line; empty when they can. `program`: its name in the folder of this program.
[[nodiscard]] std::string absence_of_ranks(const std::string& program);

/// Starts `ranks` of `program`, or takes those that an earlier run has left, and prepares a run. `work` is the JSON object of the request
/// "prepare". Throws what the ranks do (InputError, DoesNotFit), and std::runtime_error in one line when they cannot be started, or one
/// dies.
[[nodiscard]] std::unique_ptr<Run> prepare_on_ranks(const std::string& program, int ranks, const std::string& work);

}  // namespace vicinity
