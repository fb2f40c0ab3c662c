// The tuned annealing for instances of 32-bit entries whose deltas fit 32 bits.
#include "kernels/sa/tuned/tuned.cuh"

namespace vicinity::sa {

template std::unique_ptr<Run> tuned_run<Types<std::int32_t, std::int32_t, 2>>(const qap::Qap&, const annealing::Task&, bool);

}  // namespace vicinity::sa
