// Implementation `gpu`: large neighbourhood search as published (Campeotto, Dovier, Fioretto, Pontelli, section 3), errata mended.
// docs/errata.md lists what the paper leaves open, core/methods/lns/lns.hpp what is done there.
//
// Problem: a step has t m walkers, each with an assignment of a subset of the variables; they evaluate all constraints again and again.
// Data layout: the model's operations lie in device memory, in the order of their levels (the paper's queues: what follows from FD
// variables, what from Aux variables, the objective, the checks). A block keeps the values of all slots in shared memory, the paper's
// status, with domains as bit masks where starting points are made by CP; where that does not fit, in device memory, one copy a block that
// runs at a time.
// Phases of a step (search.cuh): subsets are copied; K1, a block of 512 threads a walker: starting point and local search; K2: the least
// (cost, walker) of all becomes the incumbent. Synchronisation: block barriers, one a level of an evaluation. Cost: an evaluation reads
// every operation's arguments and coefficients from the caches. CP starting points are propagated by one thread.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/lns/implementations.hpp"
#include "kernels/lns/rescan.hpp"
#include "kernels/lns/search.cuh"

namespace vicinity::lns {
namespace {

/// Launch policy (section 3: k = 4).
struct PublishedPolicy {
  static constexpr std::int32_t block = 512;

  std::size_t shared_bytes;  ///< of a block; 0: its memory is in device memory
  std::int64_t blocks;       ///< of K1

  [[nodiscard]] Policy record() const {
    return {{"block", block}, {"blocks", blocks}, {"shared_bytes", static_cast<std::int64_t>(shared_bytes)}};
  }
};
static_assert(TuningPolicy<PublishedPolicy>);

/// Beside what all kernels work on.
struct PublishedView {
  RescanView evaluation;
  WalkerMemory::Sizes sizes;
  const std::int32_t* slots;  ///< of the first solution
  unsigned char* scratch;     ///< [block of K1][bytes]; null: in shared memory
};

/// K1. Mapping: a block a walker, or in turns where memory is in device memory.
__global__ void __launch_bounds__(PublishedPolicy::block, 3)
    walk_kernel(const __grid_constant__ SearchView search, const __grid_constant__ PublishedView view, const std::int32_t* subsets,
                std::int64_t step) {
  extern __shared__ unsigned char shared[];
  __shared__ unsigned long long sums[PublishedPolicy::block / 32];
  unsigned char* const memory = view.scratch != nullptr ? view.scratch + blockIdx.x * view.sizes.bytes() : shared;
  const BlockTeam team(sums);
  StopWord stop(search.stop, team.rank() == 0);
  for (std::int64_t w = blockIdx.x; w < search.walkers; w += gridDim.x) {
    const WalkerMemory mine(memory, view.sizes);
    Rescan<BlockTeam> engine(team, view.evaluation, mine.state);
    engine.load(view.slots, search.incumbent);
    DeviceWalker<BlockTeam, Rescan<BlockTeam>> walker(team, search.problem, search.task, mine, engine, stop);
    const std::int32_t* const subset = subsets + w / search.task.starts * search.task.released;
    const WalkerResult result = walker.walk({search.seed, step, w}, search.incumbent, subset, root_of(search.problem));
    __syncthreads();
    search.keep(w, result, mine.best);
    __syncthreads();  // before the next walker takes the memory
  }
}

/// An evaluation in device memory.
class DeviceEvaluation {
 public:
  explicit DeviceEvaluation(const cp::Problem& problem, const cp::FreeVariablesView& free) {
    load_evaluation(problem.evaluation());
    const cp::Model& model = problem.model();
    const bool variable = model.goal != cp::Goal::satisfy && model.objective.is(cp::Expression::Kind::variable);
    view_.objective = variable ? static_cast<std::int32_t>(model.objective.value) : -1;
    view_.constant = model.goal == cp::Goal::satisfy ? 0 : model.objective.value;
    view_.sense = problem.sense();
    view_.slots = static_cast<std::int32_t>(problem.evaluation().slots().size());
    view_.free = free;
  }
  [[nodiscard]] const RescanView& view() const { return view_; }

 private:
  void load_evaluation(const cp::Evaluation& evaluation) {
    const cp::EvaluationView host = evaluation.view();
    const auto count = static_cast<std::size_t>(host.operations);
    operation_ = on_device(host.operation, count);
    use_ = on_device(host.use, count);
    result_ = on_device(host.result, count);
    argument_begin_ = on_device(host.argument_begin, count + 1);
    arguments_ = on_device(host.arguments, host.argument_begin[count]);
    data_begin_ = on_device(host.data_begin, count + 1);
    data_ = on_device(host.data, host.data_begin[count]);
    const WideOperations wide(evaluation, is_wide);
    wide_flags_ = on_device(wide.flags.data(), wide.flags.size());
    wide_begin_ = on_device(wide.begin.data(), wide.begin.size());
    wide_ = on_device(wide.all.data(), wide.all.size());
    const auto levels = evaluation.level_begin();
    level_begin_ = on_device(levels.data(), levels.size());
    view_.levels = static_cast<std::int32_t>(levels.size()) - 1;
    view_.level_begin = level_begin_.data();
    view_.wide_flags = wide_flags_.data();
    view_.wide_begin = wide_begin_.data();
    view_.wide = wide_.data();
    view_.evaluation = {operation_.data(), use_.data(), result_.data(), argument_begin_.data(), arguments_.data(), data_begin_.data(),
                        data_.data(),      nullptr,     nullptr,        host.operations};
  }
  /// Is it worth a block, and do 63 bits hold it?
  [[nodiscard]] static bool is_wide(const cp::EvaluationView& host, std::int32_t k) {
    const std::uint32_t arguments = host.argument_begin[k + 1] - host.argument_begin[k];
    if (host.operation[k] == cp::Operation::different) return arguments >= 16;  // O(arguments^2)
    if (host.operation[k] > cp::Operation::sum_ne || arguments < 64) return false;
    double most = 0;
    for (auto at = host.data_begin[k]; at < host.data_begin[k + 1]; ++at) most += std::abs(static_cast<double>(host.data[at]));
    return most < 0x1p30;
  }

  RescanView view_{};
  cuda::DeviceBuffer<cp::Operation> operation_;
  cuda::DeviceBuffer<cp::Use> use_;
  cuda::DeviceBuffer<std::int32_t> result_, arguments_, wide_flags_, wide_begin_, wide_, level_begin_;
  cuda::DeviceBuffer<std::uint32_t> argument_begin_;
  cuda::DeviceBuffer<std::uint64_t> data_begin_;
  cuda::DeviceBuffer<std::int64_t> data_;
};

/// K1 and its memory.
class PublishedMethod {
 public:
  PublishedMethod(const cp::Problem& problem, const Task& task, std::int32_t released, const ProblemView& view)
      : evaluation_(problem, view.free),
        slots_(static_cast<std::size_t>(evaluation_.view().slots)),
        sizes_{Parts::rounded(4 * slots_.size()), static_cast<std::size_t>(released), domains_of(view, task)} {
    const std::size_t bytes = sizes_.bytes();
    cudaFuncAttributes attributes{};
    VICINITY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, walk_kernel));
    const std::size_t most = cuda::most_shared() - attributes.sharedSizeBytes;
    if (bytes <= most) {
      cuda::allow_shared(walk_kernel, most);  // for all runs, of which several may be prepared
      policy_ = PublishedPolicy{bytes, task.walkers()};
      return;
    }
    int resident = 0;
    VICINITY_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, walk_kernel, PublishedPolicy::block, 0));
    policy_ = PublishedPolicy{0, std::min<std::int64_t>(task.walkers(), std::int64_t{resident} * cuda::multiprocessors())};
    scratch_ = cuda::DeviceBuffer<unsigned char>(bytes * static_cast<std::size_t>(policy_->blocks));
  }

  void begin(std::span<const std::int32_t> slots, const cuda::Stream& stream) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(slots_.data(), slots.data(), slots.size_bytes(), cudaMemcpyDefault, stream.get()));
  }
  void walk(const SearchView& search, const std::int32_t* subsets, std::int64_t step, const cuda::Stream& stream) const {
    const PublishedView view{evaluation_.view(), sizes_, slots_.data(), scratch_.data()};
    walk_kernel<<<static_cast<unsigned>(policy_->blocks), PublishedPolicy::block, policy_->shared_bytes, stream.get()>>>(search, view,
                                                                                                                         subsets, step);
  }
  [[nodiscard]] Policy policy() const { return policy_->record(); }

 private:
  DeviceEvaluation evaluation_;
  cuda::DeviceBuffer<std::int32_t> slots_;
  WalkerMemory::Sizes sizes_;
  std::optional<PublishedPolicy> policy_;
  cuda::DeviceBuffer<unsigned char> scratch_;
};

}  // namespace

std::unique_ptr<Run> prepare_published(const Case& c, const Instance& instance) {
  const auto& problem = dynamic_cast<const cp::Problem&>(instance);
  return std::make_unique<DeviceSearchRun<DeviceSearch<PublishedMethod>>>(problem, task_of(c, problem));
}

}  // namespace vicinity::lns
