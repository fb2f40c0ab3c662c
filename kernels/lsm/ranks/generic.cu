// mpi-gpu where neighbours are evaluated one by one: quadratic assignment, travelling salesman, Weierstrass function.
#include "kernels/lsm/ranks/generic.cuh"

#include "kernels/lsm/tuned/qap/evaluator.cuh"
#include "kernels/lsm/tuned/tsp/evaluator.cuh"
#include "kernels/lsm/tuned/weierstrass/evaluator.cuh"

namespace vicinity::lsm {

std::unique_ptr<Run> slice_run(const local_search::QapExchange<2>& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  return generic_slice_run(neighborhood, task, ranks);
}
std::unique_ptr<Run> slice_run(const local_search::QapExchange<3>& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  return generic_slice_run(neighborhood, task, ranks);
}
std::unique_ptr<Run> slice_run(const local_search::TspSwap& neighborhood, const local_search::Task& task, const Ranks& ranks) {
  return generic_slice_run(neighborhood, task, ranks);
}
std::unique_ptr<Run> slice_run(const local_search::WeierstrassCrowns<float>& neighborhood, const local_search::Task& task,
                               const Ranks& ranks) {
  return generic_slice_run(neighborhood, task, ranks);
}
std::unique_ptr<Run> slice_run(const local_search::WeierstrassCrowns<double>& neighborhood, const local_search::Task& task,
                               const Ranks& ranks) {
  return generic_slice_run(neighborhood, task, ranks);
}

}  // namespace vicinity::lsm
