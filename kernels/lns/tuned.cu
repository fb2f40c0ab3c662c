// Implementation `gpu-tuned`: the walkers of `gpu`, evaluated from what has changed, and as many of them at a time as fit.
//
// Problem: as published.cu has it; the same draws, the same results. What differs is how an assignment is evaluated (incremental.hpp): by
// the instructions that depend on the released variables, and where one variable changes, as in GS and ICM, by those that depend on it.
// Data layout: instructions of 16 bytes and the programs of the free variables in device memory (core/methods/lns/instructions.hpp); beside
// them the program of each subset, of which a warp reads 512 consecutive bytes at a time. A block has the state of one assignment in its
// shared memory: 4 bytes a slot that an instruction reads or writes, 8 a kept sum, a byte an instruction that can fail. Where that does not
// fit, it is in device memory, one a block that runs at a time. The state of the incumbent is in device memory.
// Phases of a step (search.cuh): subsets are copied. K0, a block of 256 threads a subset: its program, and with CP starting points the
// domains with which all its walkers begin; one more block brings the incumbent's state up to date. K1, blocks of 32 to 512 threads: each
// takes a stretch of walkers, and loads the incumbent's state where the subset changes. K2 as published. Subsets go through K0 and K1 in
// groups whose programs and domains fit 256 MiB.
// Synchronisation: K0, K1 and K2 follow each other on one stream; within a block there are the barriers that incremental.hpp and walker.hpp
// name.
// Limit: an assignment with e instructions in its program takes 16 e bytes of instructions from the caches, 12 e bytes of shared memory and
// 4 e operations at least; and for each level a chain: load of an instruction, of its operands, a store, a barrier. MKCP of Table 2: of
// 9145 operations 2444 instructions are left, in three levels (distances, their sum, disequalities). On one variable depend 66 distances, 7
// disequalities on average and the sum: GS and ICM are bound by the chain. With 20 variables RL runs about 1250 instructions, 20 KB, and is
// bound by issue slots. CP starting points are propagated by one thread, and bound by its chain.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/methods/lns/instructions.hpp"
#include "kernels/lns/implementations.hpp"
#include "kernels/lns/incremental.hpp"
#include "kernels/lns/search.cuh"

namespace vicinity::lns {
namespace {

/// Launch policy.
struct TunedPolicy {
  static constexpr std::int32_t most_threads = 512, prepare_threads = 256;
  static constexpr std::size_t most_prepared = std::size_t{1} << 28;  ///< bytes of what K0 makes

  std::int32_t threads;      ///< of a block of K1
  std::int64_t blocks;       ///< of K1, at most
  std::size_t shared_bytes;  ///< of a block of K1; 0: its memory is in device memory
  std::int64_t group;        ///< subsets that K0 and K1 take at a time

  [[nodiscard]] Policy record() const {
    return {{"block", threads}, {"blocks", blocks}, {"shared_bytes", static_cast<std::int64_t>(shared_bytes)}, {"group", group}};
  }
};
static_assert(TuningPolicy<TunedPolicy>);

/// What K0 makes for each subset of a group.
struct Prepared {
  Instruction* programs;      ///< [subset of the group][longest]
  std::uint32_t* level_ends;  ///< [subset of the group][level]
  unsigned char* domains;     ///< [subset of the group][bytes]
  std::int32_t* sorted;       ///< [subset of the group][released] for one thread
  std::int32_t* failed;       ///< [subset of the group] 1: it has no domains
  std::size_t longest;
  DomainMemory::Sizes sizes;

  [[nodiscard]] __device__ DomainMemory domains_of(std::int64_t subset) const {
    Parts parts(domains + static_cast<std::size_t>(subset) * sizes.bytes());
    return DomainMemory(parts, sizes);
  }
};

/// Beside what all kernels work on.
struct TunedView {
  InstructionsView instructions;
  Prepared prepared;
  WalkerMemory::Sizes sizes;
  std::uint64_t* base;     ///< the state of the incumbent
  unsigned char* scratch;  ///< [block of K1][bytes]; null: in shared memory
};

/// K0. Mapping: a block a subset of the group; one more follows the incumbent. Shared memory: a bit an instruction.
__global__ void __launch_bounds__(TunedPolicy::prepare_threads)
    prepare_kernel(const __grid_constant__ SearchView search, const __grid_constant__ TunedView view, const std::int32_t* subsets,
                   std::int64_t count) {
  extern __shared__ std::uint32_t bits[];
  __shared__ std::uint32_t counts[TunedPolicy::prepare_threads];
  __shared__ unsigned long long sums[TunedPolicy::prepare_threads / 32];
  const BlockTeam team(sums);
  const std::int64_t i = blockIdx.x;
  if (i == count) {
    ProgramEngine<BlockTeam>(team, view.instructions, reinterpret_cast<unsigned char*>(view.base)).follow(search.incumbent);
    return;
  }
  const Prepared& to = view.prepared;
  const std::int32_t released = search.task.released;
  const std::int32_t* const subset = subsets + i * released;
  if (view.instructions.own != nullptr)
    ProgramMaker<BlockTeam>(team, view.instructions, bits, counts)
        .make(subset, released, to.programs + static_cast<std::size_t>(i) * to.longest, to.level_ends + i * view.instructions.levels);
  if (search.task.start != StartingPoint::cp) return;
  const DomainMemory domains = to.domains_of(i);
  load_domains(team, search.problem.network, root_of(search.problem), domains);
  if (team.rank() != 0) return;
  StopWord stop(search.stop, team.rank() == 0);
  to.failed[i] = fix_others(search.problem, search.incumbent, subset, released, to.sorted + i * released, domains, stop) ? 0 : 1;
}

/// K1. Mapping: a block a stretch of walkers, `first` .. `first + count - 1` those of the group. What all threads read of K0 and of the
/// incumbent was written by kernels before.
__global__ void __launch_bounds__(TunedPolicy::most_threads, 2)
    walk_kernel(const __grid_constant__ SearchView search, const __grid_constant__ TunedView view, const std::int32_t* subsets,
                std::int64_t step, std::int64_t first, std::int64_t count) {
  extern __shared__ std::uint64_t shared[];
  __shared__ unsigned long long sums[TunedPolicy::most_threads / 32];
  const BlockTeam team(sums);
  unsigned char* const memory =
      view.scratch != nullptr ? view.scratch + blockIdx.x * view.sizes.bytes() : reinterpret_cast<unsigned char*>(shared);
  const WalkerMemory mine(memory, view.sizes);
  ProgramEngine<BlockTeam> engine(team, view.instructions, mine.state);
  const std::int64_t end = (blockIdx.x + std::int64_t{1}) * count / gridDim.x;
  std::int64_t loaded = -1;
  StopWord stop(search.stop, team.rank() == 0);
  for (std::int64_t at = blockIdx.x * count / gridDim.x; at < end; ++at) {
    const std::int64_t w = first + at, i = at / search.task.starts;
    const Prepared& from = view.prepared;
    if (i != loaded) {
      loaded = i;
      engine.load(view.base, view.sizes.state / 8);
      engine.use(view.instructions.own == nullptr ? view.instructions.all
                                                  : ProgramView{from.programs + static_cast<std::size_t>(i) * from.longest,
                                                                from.level_ends + i * view.instructions.levels});
    }
    Beginning beginning{};
    if (search.task.start == StartingPoint::cp) {
      const DomainMemory domains = from.domains_of(i);
      beginning = {domains.lower, domains.upper, domains.mask, true, from.failed[i] != 0};
    }
    DeviceWalker<BlockTeam, ProgramEngine<BlockTeam>> walker(team, search.problem, search.task, mine, engine, stop);
    const WalkerResult result = walker.walk({search.seed, step, w}, search.incumbent, subsets + i * search.task.released, beginning);
    __syncthreads();
    search.keep(w, result, mine.best);
    __syncthreads();  // before the next walker writes `best`
  }
}

/// Instructions in device memory.
class DeviceInstructions {
 public:
  explicit DeviceInstructions(const Instructions& host) : view_(host.view()) {
    const cp::EvaluationView from = view_.evaluation;
    const auto operations = static_cast<std::size_t>(from.operations), levels = static_cast<std::size_t>(view_.levels);
    const auto free = static_cast<std::size_t>(view_.free);
    move(from.operation, operations, view_.evaluation.operation, operation_);
    move(from.use, operations, view_.evaluation.use, use_);
    move(from.result, operations, view_.evaluation.result, result_);
    const std::size_t data = from.data_begin[operations];
    move(from.argument_begin, operations + 1, view_.evaluation.argument_begin, argument_begin_);
    move(from.arguments, host.arguments(), view_.evaluation.arguments, arguments_);
    move(from.data_begin, operations + 1, view_.evaluation.data_begin, data_begin_);
    move(from.data, data, view_.evaluation.data, data_);
    const auto terms = view_.term_begin[view_.slots];
    move(view_.term_begin, static_cast<std::size_t>(view_.slots) + 1, view_.term_begin, term_begin_);
    move(view_.terms, terms, view_.terms, terms_);
    move(view_.all.instructions, static_cast<std::size_t>(view_.count), view_.all.instructions, all_);
    move(view_.all.level_end, levels, view_.all.level_end, level_end_);
    if (view_.own == nullptr) return;
    const std::size_t own = view_.own_begin[free];
    move(view_.own, own, view_.own, own_);
    move(view_.own_numbers, own, view_.own_numbers, own_numbers_);
    move(view_.own_begin, free + 1, view_.own_begin, own_begin_);
    move(view_.own_end, free * levels, view_.own_end, own_end_);
  }
  [[nodiscard]] const InstructionsView& view() const { return view_; }

 private:
  template <class T>
  static void move(const T* from, std::size_t count, const T*& to, cuda::DeviceBuffer<T>& buffer) {
    buffer = on_device(from, count);
    to = buffer.data();
  }

  InstructionsView view_;
  cuda::DeviceBuffer<cp::Operation> operation_;
  cuda::DeviceBuffer<cp::Use> use_;
  cuda::DeviceBuffer<std::int32_t> result_, arguments_, own_numbers_;
  cuda::DeviceBuffer<std::uint32_t> argument_begin_, term_begin_, level_end_, own_begin_, own_end_;
  cuda::DeviceBuffer<std::uint64_t> data_begin_;
  cuda::DeviceBuffer<std::int64_t> data_;
  cuda::DeviceBuffer<Term> terms_;
  cuda::DeviceBuffer<Instruction> all_, own_;
};

/// K0, K1 and their memory.
class TunedMethod {
 public:
  TunedMethod(const cp::Problem& problem, const Task& task, std::int32_t released, const ProblemView& view)
      : problem_(problem),
        task_(task),
        released_(released),
        host_(problem, permutes(task.search)),
        device_(host_),
        sizes_{host_.sizes().total(), static_cast<std::size_t>(released), domains_of(view, task)},
        longest_(host_.longest(released)),
        base_(host_.sizes().total() / 8) {
    choose_launch();
    const auto group = static_cast<std::size_t>(policy_.group);
    programs_ = cuda::DeviceBuffer<Instruction>(group * longest_);
    level_ends_ = cuda::DeviceBuffer<std::uint32_t>(group * static_cast<std::size_t>(device_.view().levels));
    domains_ = cuda::DeviceBuffer<unsigned char>(group * sizes_.domains.bytes());
    sorted_ = cuda::DeviceBuffer<std::int32_t>(group * static_cast<std::size_t>(released));
    failed_ = cuda::DeviceBuffer<std::int32_t>(group);
    if (policy_.shared_bytes == 0) scratch_ = cuda::DeviceBuffer<unsigned char>(sizes_.bytes() * static_cast<std::size_t>(policy_.blocks));
  }

  void begin(std::span<const std::int32_t> slots, const cuda::Stream& stream) {
    std::vector<std::int32_t> values(slots.begin(), slots.end());
    static_cast<void>(problem_.evaluation().evaluate(values));
    first_state_ = host_.state_of(values);
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(base_.data(), first_state_.data(), 8 * first_state_.size(), cudaMemcpyDefault, stream.get()));
  }
  void walk(const SearchView& search, const std::int32_t* subsets, std::int64_t step, const cuda::Stream& stream) const {
    const TunedView view{device_.view(),
                         {programs_.data(), level_ends_.data(), domains_.data(), sorted_.data(), failed_.data(), longest_, sizes_.domains},
                         sizes_,
                         base_.data(),
                         scratch_.data()};
    const std::size_t bits = view.instructions.own == nullptr ? 0 : 4 * ProgramMaker<BlockTeam>::words_of(view.instructions);
    for (std::int64_t i = 0; i < task_.subsets; i += policy_.group) {
      const std::int64_t group = std::min(policy_.group, task_.subsets - i), walkers = group * task_.starts;
      const std::int32_t* const its_subsets = subsets + i * released_;
      prepare_kernel<<<static_cast<unsigned>(group + 1), TunedPolicy::prepare_threads, bits, stream.get()>>>(search, view, its_subsets,
                                                                                                             group);
      walk_kernel<<<static_cast<unsigned>(std::min(policy_.blocks, walkers)), static_cast<unsigned>(policy_.threads), policy_.shared_bytes,
                    stream.get()>>>(search, view, its_subsets, step, i * task_.starts, walkers);
    }
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  /// Most threads at a time, of as many blocks as there are walkers for; of equal ones the smallest blocks, whose barriers cost least.
  void choose_launch() {
    const std::size_t each = longest_ * sizeof(Instruction) + sizes_.domains.bytes() + 8 * static_cast<std::size_t>(released_) +
                             4 * static_cast<std::size_t>(device_.view().levels);
    policy_.group = std::clamp<std::int64_t>(static_cast<std::int64_t>(TunedPolicy::most_prepared / std::max<std::size_t>(each, 1)), 1,
                                             std::min<std::int64_t>(task_.subsets, 1 << 20));
    static_cast<void>(allow_most(prepare_kernel));
    const std::size_t most = allow_most(walk_kernel), bytes = sizes_.bytes();
    policy_.shared_bytes = bytes <= most ? bytes : 0;
    const bool one_changes = task_.search == LocalSearch::gibbs || task_.search == LocalSearch::conditional_mode;
    const std::size_t width = std::bit_ceil(host_.longest(one_changes ? 1 : released_));
    const std::int64_t processors = cuda::multiprocessors(), walkers = policy_.group * task_.starts;
    std::int64_t most_at_a_time = 0;
    for (std::int32_t threads = 32; threads <= TunedPolicy::most_threads; threads *= 2) {
      if (threads > 32 && static_cast<std::size_t>(threads) > width) break;
      int resident = 0;
      VICINITY_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, walk_kernel, threads, policy_.shared_bytes));
      const std::int64_t used = std::min<std::int64_t>(resident, (walkers + processors - 1) / processors);
      if (used * threads <= most_at_a_time) continue;
      most_at_a_time = used * threads;
      policy_.threads = threads;
      policy_.blocks = std::min(walkers, resident * processors);
    }
  }
  /// Dynamic shared memory that a block of the kernel may have.
  template <class... Parameters>
  [[nodiscard]] static std::size_t allow_most(void (*kernel)(Parameters...)) {
    cudaFuncAttributes attributes{};
    VICINITY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    const std::size_t most = cuda::most_shared() - attributes.sharedSizeBytes;
    cuda::allow_shared(kernel, most);  // for all runs, of which several may be prepared
    return most;
  }

  const cp::Problem& problem_;
  Task task_;
  std::int32_t released_;
  Instructions host_;
  DeviceInstructions device_;
  WalkerMemory::Sizes sizes_;
  std::size_t longest_;
  TunedPolicy policy_{};
  std::vector<std::uint64_t> first_state_;
  cuda::DeviceBuffer<std::uint64_t> base_;
  cuda::DeviceBuffer<Instruction> programs_;
  cuda::DeviceBuffer<std::uint32_t> level_ends_;
  cuda::DeviceBuffer<unsigned char> domains_, scratch_;
  cuda::DeviceBuffer<std::int32_t> sorted_, failed_;
};

}  // namespace

std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance) {
  const auto& problem = dynamic_cast<const cp::Problem&>(instance);
  return std::make_unique<DeviceSearchRun<DeviceSearch<TunedMethod>>>(problem, task_of(c, problem));
}

}  // namespace vicinity::lns
