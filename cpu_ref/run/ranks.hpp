#pragma once
// A run whose work is done by the ranks of another program under MPI (mpi_programs/rank_loop.hpp). This program is no rank: it starts the
// launcher (mpirun), sends requests to rank 0 through the launcher's standard input, a line of JSON each, and reads an answer a line from
// its standard output. So one experiment sweeps over numbers of ranks, a rank that dies ends no process but its own team, and nothing but
// the ranks is linked with MPI.
//
//   {"do": "prepare", "implementation", ...}       the case and its instance (rank_messages.hpp)
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
#include <functional>
#include <memory>
#include <string>

#include "core/api/run.hpp"

namespace vicinity {

/// An implementation whose runs are those of ranks of `program`, which is in the folder of this program. `check` throws InputError for a
/// case that it does not support, before ranks are started.
[[nodiscard]] Implementation over_ranks(const std::string& program, const std::string& name, Backend backend, const std::string& summary,
                                        const std::string& limit, const std::function<void(const Case&)>& check);

/// Why no ranks of `program` can be started here, in one line; empty when they can.
[[nodiscard]] std::string absence_of_ranks(const std::string& program);

/// Starts the ranks of `program` that the case asks for (axis `ranks`, 2 unless it says), or takes those that an earlier run has left, and
/// prepares a run of their `implementation`. Throws what the ranks do (InputError, DoesNotFit), and std::runtime_error in one line when
/// they cannot be started, or one dies.
[[nodiscard]] std::unique_ptr<Run> prepare_on_ranks(const std::string& program, const std::string& implementation, const Case& c,
                                                    const Instance& instance);

}  // namespace vicinity
