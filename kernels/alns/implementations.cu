// The table of the adaptive large neighbourhood search's CUDA implementations.
#include "kernels/alns/implementations.hpp"

namespace vicinity::alns {

std::vector<Implementation> gpu_implementations() {
  return {
      {"gpu", Backend::gpu,
       "the paper's section 3: a process a block of 512 threads, 100 iterations a launch, all insertions again each step",
       "gathers of distances; with few requests, the latency of one repair step", prepare_published},
      {"gpu-array", Backend::gpu, "the same with tours in an array instead of the doubly linked list (section 3.2)",
       "as gpu; and moving what stands behind a request that is inserted", prepare_array},
      {"gpu-tuned", Backend::gpu,
       "the same path; a step compares only what the last insertion changed, by a table of each request's best place in each tour",
       "with many requests, the sweep that fills the table; else the latency of one repair step", prepare_tuned},
  };
}

std::vector<Implementation> gpu_variants() {
  constexpr char limit[] = "as gpu";
  return {
      {.name = "gpu-genetic",
       .backend = Backend::gpu,
       .summary = "gpu with the paper's genetic algorithm: the host makes children of local incumbents between calls",
       .limit = limit,
       .prepare = prepare_genetic,
       .reference = "cpu-genetic"},
      {.name = "gpu-local-search",
       .backend = Backend::gpu,
       .summary = "gpu with local search in the kernel: each call ends with 2-opt, a warp a tour",
       .limit = limit,
       .prepare = prepare_local_search,
       .reference = "cpu-local-search"},
  };
}

std::vector<Implementation> gpu_hybrid_implementations() {
  return {
      {.name = "gpu-hybrid",
       .backend = Backend::gpu,
       .summary = "ours, the generations of cpu-hybrid: a line a block of 768 threads, or, with many lines, 384",
       .limit = "latency of shared memory and of distances in L2; of annealing lines, that of one warp",
       .prepare = prepare_hybrid,
       .reference = "cpu-hybrid"},
  };
}

}  // namespace vicinity::alns
