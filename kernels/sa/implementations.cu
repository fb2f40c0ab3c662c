// The table of the annealing's CUDA implementations.
#include "kernels/sa/implementations.hpp"

#include <utility>

#include "kernels/sa/portfolio/portfolio.hpp"

namespace vicinity::sa {

std::vector<Implementation> gpu_annealing_implementations() {
  return {
      {"gpu", Backend::gpu, "the paper's section 3: matrix of deltas in device memory, updated and searched by the whole grid",
       "three grid barriers an accepted swap, one a subset searched", prepare_published},
      {"gpu-tuned", Backend::gpu,
       "without the host: inner products in one block up to some hundred facilities, else in those of a cluster or the grid, which "
       "exchange "
       "messages",
       "latency of a barrier or a message a swap, and of the loads of a test", prepare_tuned},
      {"gpu-chains", Backend::gpu, "the same for many independent chains at once: a warp, a block or a cluster each",
       "issue slots of all multiprocessors", prepare_chains},
  };
}

std::vector<Implementation> gpu_portfolio_implementations() {
  return {{.name = "gpu-portfolio",
           .backend = Backend::gpu,
           .summary = "ours, the rounds of cpu-portfolio: a tabu search a block, several blocks a multiprocessor",
           .limit = "issue slots of all multiprocessors",
           .prepare = prepare_portfolio_on_gpu,
           .reference = "cpu-portfolio",
           .pace = portfolio::pace}};
}

std::vector<Implementation> gpu_implementations() {
  std::vector<Implementation> all = gpu_annealing_implementations();
  for (Implementation& one : gpu_portfolio_implementations()) all.push_back(std::move(one));
  return all;
}

}  // namespace vicinity::sa
