// The tuned annealing for other instances of bytes.
#include "kernels/sa/tuned/tuned.cuh"

namespace vicinity::sa {

template std::unique_ptr<Run> tuned_run<Types<std::uint8_t, std::int32_t, 2>>(const qap::Qap&, const annealing::Task&, bool);

}  // namespace vicinity::sa
