// Implementation `gpu-tuned` of the exchange of three: one search on the whole grid.
#include "kernels/lsm/tuned/qap/evaluator.cuh"
#include "kernels/lsm/tuned/tuned.hpp"

namespace vicinity::lsm {

std::unique_ptr<Run> tuned_run(const local_search::QapExchange<3>& neighborhood, const local_search::Task& task) {
  return generic_run<Group::grid>(neighborhood, task);
}

}  // namespace vicinity::lsm
