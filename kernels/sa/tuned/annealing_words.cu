#include "kernels/sa/tuned/tuned_run.cuh"

template std::unique_ptr<vicinity::Run> vicinity::sa::tuned_run<vicinity::sa::Words>(const qap::Qap&, const annealing::Task&, bool, Team*);
