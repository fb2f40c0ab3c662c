// Implementation `gpu-tuned`: the walkers of `gpu`, evaluated from what has changed, and as many of them at a time as fit.
//
// Problem: as published.cu has it; the same draws, the same results. What differs is how an assignment is evaluated (incremental.hpp): by
// the instructions that depend on the released variables, and where one variable changes, as in GS and ICM, by those that depend on it.
// Where assignments do not depend on each other and the model allows it (lanes.hpp), 32 of them are side by side in a warp: those of all
// walkers of a subset in RL and CE, all values of a variable in ICM.
// Data layout: instructions of 16 bytes and the programs of the free variables in device memory (core/methods/lns/instructions.hpp); beside
// them the program of each subset, of which a warp reads 512 consecutive bytes at a time. A block has the state of one assignment in its
// shared memory: 4 bytes a slot that an instruction reads or writes, 8 a kept sum, a byte an instruction that can fail. Where that does not
// fit, it is in device memory, one a block that runs at a time. The state of the incumbent is in device memory. Side by side: a program of
// 16 bytes an instruction, in device memory for RL and CE, in shared memory for ICM, and in shared memory the slots of each lane.
// Phases of a step (search.cuh): subsets are copied. K0, a block of 256 threads a subset: its program, and with CP starting points the
// domains with which all its walkers begin; one more block brings the incumbent's state up to date. K1, blocks of 32 to 512 threads: each
// takes a stretch of walkers, and loads the incumbent's state where the subset changes. K2 as published. Subsets go through K0 and K1 in
// groups whose programs and domains fit 256 MiB. RL and CE side by side: one block brings the incumbent's state up to date, then K0 and K1,
// blocks of up to 256 threads, a part of a subset's walkers each; a walker has a thread for each of its assignments, or a few. ICM side by
// side: K0 as above, K1 in blocks of a warp.
// Synchronisation: K0, K1 and K2 follow each other on one stream; within a block there are the barriers that incremental.hpp and walker.hpp
// name.
// Limit: an assignment with e instructions in its program takes 16 e bytes of instructions from the caches, 12 e bytes of shared memory and
// 4 e operations at least; and for each level a chain: load of an instruction, of its operands, a store, a barrier. MKCP of Table 2: of
// 9145 operations 2444 instructions are left, in three levels (distances, their sum, disequalities). On one variable depend 66 distances, 7
// disequalities on average and the sum: GS is bound by the chain. With 20 variables RL runs about 1250 instructions, 20 KB. Side by side
// each of them takes 19 machine instructions of a warp for 32 assignments (sm_90, a distance whose result is only added), which is the
// limit of RL and CE by issue slots; ICM shares its time between these and the chain of one evaluation that makes a walker's state that of
// the best value. CP starting points are propagated by one thread, and bound by its chain.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/methods/lns/instructions.hpp"
#include "kernels/lns/implementations.hpp"
#include "kernels/lns/incremental.hpp"
#include "kernels/lns/lanes.hpp"
#include "kernels/lns/search.cuh"

namespace vicinity::lns {
namespace {

/// Launch policy.
struct TunedPolicy {
  static constexpr std::int32_t most_threads = 512, prepare_threads = 256;
  static constexpr std::size_t most_prepared = std::size_t{1} << 28;  ///< bytes of what K0 makes
  static constexpr std::int32_t lane_threads = 256;                   ///< of a block of assignments side by side, at most
  static constexpr std::int64_t least_values = 8;                     ///< of a free variable whose values ICM tries side by side
  static constexpr std::int64_t short_program = 2048;                 ///< a few walkers side by side are as fast as a block each

  std::int32_t threads;      ///< of a block of K1
  std::int64_t blocks;       ///< of K1, at most
  std::size_t shared_bytes;  ///< of a block of K1; 0: its memory is in device memory
  std::int64_t group;        ///< subsets that K0 and K1 take at a time
  bool lanes;                ///< assignments side by side
  std::int32_t count;        ///< walkers of a block of theirs
  std::int64_t parts;        ///< blocks of a subset of theirs

  [[nodiscard]] Policy record() const {
    return {{"block", threads},
            {"blocks", blocks},
            {"shared_bytes", static_cast<std::int64_t>(shared_bytes)},
            {"group", group},
            {"lanes", lanes ? 1 : 0}};
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

/// The same where assignments are side by side.
struct PreparedLanes {
  LaneInstruction* instructions;  ///< [subset of the group][longest]
  std::uint32_t* ends;            ///< [subset of the group][segment]
  LaneProgram* programs;          ///< [subset of the group]
  std::size_t longest;
};

/// Beside what all kernels work on.
struct TunedView {
  InstructionsView instructions;
  LaneSlotsView lanes;
  Prepared prepared;
  PreparedLanes prepared_lanes;
  WalkerMemory::Sizes sizes;
  std::size_t longest_own;  ///< program of a free variable
  std::uint64_t* base;      ///< the state of the incumbent
  unsigned char* scratch;   ///< [block of K1][bytes]; null: in shared memory

  [[nodiscard]] __device__ ProgramView program_of(std::int64_t subset) const {
    if (instructions.own == nullptr) return instructions.all;
    return {prepared.programs + static_cast<std::size_t>(subset) * prepared.longest, prepared.level_ends + subset * instructions.levels};
  }
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

/// The walkers of a block: a stretch of `first` .. `first + count - 1`. walk(w, i): walker w, of subset i.
template <class E, class Walk>
__device__ __forceinline__ void walk_stretch(const SearchView& search, const TunedView& view, const WalkerMemory& mine, E& engine,
                                             std::int64_t first, std::int64_t count, const Walk& walk) {
  const std::int64_t end = (blockIdx.x + std::int64_t{1}) * count / gridDim.x;
  std::int64_t loaded = -1;
  for (std::int64_t at = blockIdx.x * count / gridDim.x; at < end; ++at) {
    const std::int64_t w = first + at, i = at / search.task.starts;
    if (i != loaded) {
      loaded = i;
      engine.load(view.base, view.sizes.state / 8);
      engine.use(view.program_of(i));
    }
    const WalkerResult result = walk(w, i);
    __syncthreads();
    search.keep(w, result, mine.best);
    __syncthreads();  // before the next walker writes `best`
  }
}

/// K1. Mapping: a block a stretch of walkers. What all threads read of K0 and of the incumbent was written by kernels before.
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
  StopWord stop(search.stop, team.rank() == 0);
  walk_stretch(search, view, mine, engine, first, count, [&](std::int64_t w, std::int64_t i) {
    Beginning beginning{};
    if (search.task.start == StartingPoint::cp) {
      const DomainMemory domains = view.prepared.domains_of(i);
      beginning = {domains.lower, domains.upper, domains.mask, true, view.prepared.failed[i] != 0};
    }
    DeviceWalker<BlockTeam, ProgramEngine<BlockTeam>> walker(team, search.problem, search.task, mine, engine, stop);
    return walker.walk({search.seed, step, w}, search.incumbent, subsets + i * search.task.released, beginning);
  });
}

/// The threads of a block that is a warp.
class WarpTeam : public BlockTeam {
 public:
  __device__ WarpTeam() : BlockTeam(nullptr) {}

  [[nodiscard]] __device__ std::int64_t least(std::int64_t number) const {
    for (int offset = 16; offset > 0; offset /= 2) number = min(number, __shfl_xor_sync(~0u, number, offset));
    return number;
  }
};
static_assert(LaneTeam<WarpTeam>);

/// K1 of ICM, values of a variable side by side. Mapping: a warp a block, which has a stretch of walkers as above.
__global__ void __launch_bounds__(32, 16)
    improve_kernel(const __grid_constant__ SearchView search, const __grid_constant__ TunedView view, const std::int32_t* subsets,
                   std::int64_t step, std::int64_t first, std::int64_t count) {
  extern __shared__ uint4 lane_memory[];
  const WarpTeam team;
  auto* const lanes = reinterpret_cast<unsigned char*>(lane_memory);
  const WalkerMemory mine(lanes + LaneValues<WarpTeam>::bytes(view.longest_own, view.lanes, team.size()), view.sizes);
  ProgramEngine<WarpTeam> engine(team, view.instructions, mine.state);
  LaneValues<WarpTeam> values(team, view.instructions, view.lanes, lanes, view.longest_own);
  StopWord stop(search.stop, team.rank() == 0);
  walk_stretch(search, view, mine, engine, first, count, [&](std::int64_t w, std::int64_t i) {
    LaneImprover<WarpTeam> walker(team, search.problem, search.task, mine, engine, values, stop);
    return walker.walk({search.seed, step, w}, search.incumbent, subsets + i * search.task.released);
  });
}

/// Brings the incumbent's state up to date. Mapping: one block.
__global__ void __launch_bounds__(TunedPolicy::prepare_threads)
    follow_kernel(const __grid_constant__ SearchView search, const __grid_constant__ TunedView view) {
  __shared__ unsigned long long sums[TunedPolicy::prepare_threads / 32];
  const BlockTeam team(sums);
  ProgramEngine<BlockTeam>(team, view.instructions, reinterpret_cast<unsigned char*>(view.base)).follow(search.incumbent);
}

/// K0 of assignments side by side. Mapping: a block a subset of the group. Shared memory: as LaneProgramMaker says.
__global__ void __launch_bounds__(TunedPolicy::prepare_threads)
    prepare_lanes_kernel(const __grid_constant__ SearchView search, const __grid_constant__ TunedView view, const std::int32_t* subsets) {
  extern __shared__ std::uint32_t memory[];
  __shared__ std::uint32_t counts[TunedPolicy::prepare_threads];
  __shared__ unsigned long long sums[TunedPolicy::prepare_threads / 32];
  const BlockTeam team(sums);
  const std::int64_t i = blockIdx.x;
  const PreparedLanes& to = view.prepared_lanes;
  const LaneProgram made = LaneProgramMaker<BlockTeam>(team, view.instructions, view.lanes, memory, counts)
                               .make(subsets + i * search.task.released, search.task.released, view.base,
                                     to.instructions + static_cast<std::size_t>(i) * to.longest, to.ends + i * view.lanes.segment_count);
  if (team.rank() == 0) to.programs[i] = made;
}

/// At once: kernels before this one wrote it.
struct FetchLane {
  [[nodiscard]] __device__ LaneInstruction operator()(const LaneInstruction* from) const {
    const int4 words = __ldg(reinterpret_cast<const int4*>(from));
    LaneInstruction one;
    memcpy(&one, &words, sizeof one);
    return one;
  }
};

/// K1 of assignments side by side. Mapping: blocks number parts i .. parts (i + 1) - 1 have subset i of the group, `count` walkers each.
__global__ void __launch_bounds__(TunedPolicy::lane_threads)
    walk_lanes_kernel(const __grid_constant__ SearchView search, const __grid_constant__ TunedView view, const std::int32_t* subsets,
                      std::int64_t step, std::int64_t first, std::int64_t parts, std::int32_t count) {
  extern __shared__ uint4 lane_memory[];
  const BlockTeam team(nullptr);  // which has no sums
  const std::int64_t i = blockIdx.x / parts, begin = blockIdx.x % parts * count, left = search.task.starts - begin;
  if (left <= 0) return;
  StopWord stop(search.stop, true);
  LaneWalkers<BlockTeam>(team, search.problem, search.task, view.instructions, view.lanes, reinterpret_cast<std::uint64_t*>(lane_memory))
      .walk({search.seed, step, first + i * search.task.starts + begin}, static_cast<std::int32_t>(min(left, std::int64_t{count})),
            search.incumbent, subsets + i * search.task.released, view.prepared_lanes.programs[i], stop,
            {search.costs, search.evaluations, search.assignments}, FetchLane());
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

/// LaneSlots in device memory.
class DeviceLaneSlots {
 public:
  DeviceLaneSlots(const LaneSlots& host, const InstructionsView& instructions) : view_(host.view()) {
    const auto slots = static_cast<std::size_t>(instructions.slots);
    definer_ = on_device(view_.definer, slots);
    stored_ = on_device(view_.stored, slots);
    coefficients_ = on_device(view_.coefficients, static_cast<std::size_t>(instructions.free));
    segments_ = on_device(view_.segments, static_cast<std::size_t>(view_.segment_count));
    view_ = {definer_.data(), stored_.data(), coefficients_.data(), segments_.data(), view_.count, view_.segment_count};
  }
  [[nodiscard]] const LaneSlotsView& view() const { return view_; }

 private:
  LaneSlotsView view_;
  cuda::DeviceBuffer<std::int32_t> definer_, stored_;
  cuda::DeviceBuffer<std::int64_t> coefficients_;
  cuda::DeviceBuffer<Segment> segments_;
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
        host_lanes_(host_.view()),
        device_lanes_(host_lanes_, host_.view()),
        sizes_{host_.sizes().total(), static_cast<std::size_t>(released), domains_of(view, task)},
        longest_(host_.longest(released)),
        base_(host_.sizes().total() / 8) {
    choose_launch();
    const auto group = static_cast<std::size_t>(policy_.group);
    if (side_by_side()) {
      lane_instructions_ = cuda::DeviceBuffer<LaneInstruction>(group * longest_);
      lane_ends_ = cuda::DeviceBuffer<std::uint32_t>(group * static_cast<std::size_t>(host_lanes_.view().segment_count));
      lane_programs_ = cuda::DeviceBuffer<LaneProgram>(group);
      return;
    }
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
                         device_lanes_.view(),
                         {programs_.data(), level_ends_.data(), domains_.data(), sorted_.data(), failed_.data(), longest_, sizes_.domains},
                         {lane_instructions_.data(), lane_ends_.data(), lane_programs_.data(), longest_},
                         sizes_,
                         host_.longest(1),
                         base_.data(),
                         scratch_.data()};
    if (side_by_side()) follow_kernel<<<1, TunedPolicy::prepare_threads, 0, stream.get()>>>(search, view);
    for (std::int64_t i = 0; i < task_.subsets; i += policy_.group) {
      const std::int64_t group = std::min(policy_.group, task_.subsets - i);
      if (side_by_side())
        walk_lanes(search, view, subsets + i * released_, step, i * task_.starts, group, stream);
      else
        walk_blocks(search, view, subsets + i * released_, step, i * task_.starts, group, stream);
    }
  }
  [[nodiscard]] Policy policy() const { return policy_.record(); }

 private:
  /// Do lanes have walkers, not values of one?
  [[nodiscard]] bool side_by_side() const { return policy_.lanes && task_.search != LocalSearch::conditional_mode; }
  void walk_lanes(const SearchView& search, const TunedView& view, const std::int32_t* subsets, std::int64_t step, std::int64_t first,
                  std::int64_t group, const cuda::Stream& stream) const {
    prepare_lanes_kernel<<<static_cast<unsigned>(group), TunedPolicy::prepare_threads, maker_bytes(), stream.get()>>>(search, view,
                                                                                                                      subsets);
    walk_lanes_kernel<<<static_cast<unsigned>(group * policy_.parts), static_cast<unsigned>(policy_.threads), policy_.shared_bytes,
                        stream.get()>>>(search, view, subsets, step, first, policy_.parts, policy_.count);
  }
  void walk_blocks(const SearchView& search, const TunedView& view, const std::int32_t* subsets, std::int64_t step, std::int64_t first,
                   std::int64_t group, const cuda::Stream& stream) const {
    const std::int64_t walkers = group * task_.starts;
    prepare_kernel<<<static_cast<unsigned>(group + 1), TunedPolicy::prepare_threads, mark_bytes(), stream.get()>>>(search, view, subsets,
                                                                                                                   group);
    const auto blocks = static_cast<unsigned>(std::min(policy_.blocks, walkers)), threads = static_cast<unsigned>(policy_.threads);
    const auto walk = policy_.lanes ? improve_kernel : walk_kernel;
    walk<<<blocks, threads, policy_.shared_bytes, stream.get()>>>(search, view, subsets, step, first, walkers);
  }

  void choose_launch() {
    const std::size_t each = longest_ * sizeof(Instruction) + sizes_.domains.bytes() + 8 * static_cast<std::size_t>(released_) +
                             4 * static_cast<std::size_t>(device_.view().levels + host_lanes_.view().segment_count);
    policy_.group = std::clamp<std::int64_t>(static_cast<std::int64_t>(TunedPolicy::most_prepared / std::max<std::size_t>(each, 1)), 1,
                                             std::min<std::int64_t>(task_.subsets, 1 << 20));
    if (choose_lanes()) return;
    if (const std::size_t bits = mark_bytes(), most = allow_most(prepare_kernel); bits > most)
      throw DoesNotFit("needs " + std::to_string(bits) + " bytes of shared memory for a bit an instruction, a block has " +
                       std::to_string(most));
    if (choose_values()) return;
    const std::size_t most = allow_most(walk_kernel), bytes = sizes_.bytes();
    policy_.shared_bytes = bytes <= most ? bytes : 0;
    choose_blocks();
  }
  /// Most threads at a time, of as many blocks as there are walkers for; of equal ones the smallest blocks, whose barriers cost least.
  void choose_blocks() {
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
  /// Shared memory of a block of K0.
  [[nodiscard]] std::size_t mark_bytes() const {
    const InstructionsView view = device_.view();
    return view.own == nullptr ? 0 : std::size_t{4} * ProgramMaker<BlockTeam>::words_of(view);
  }
  /// The same of assignments side by side.
  [[nodiscard]] std::size_t maker_bytes() const { return 4 * LaneProgramMaker<BlockTeam>::words_of(host_.view()); }
  /// Assignments of a walker, at most.
  [[nodiscard]] std::int64_t assignments() const {
    if (task_.search != LocalSearch::complete) return task_.repetitions + 1;
    std::int64_t widest = 1, all = 1;
    const cp::FreeVariablesView free = problem_.free_variables();
    for (std::int32_t k = 0; k < free.count; ++k) widest = std::max(widest, free.variables[k].size);
    for (std::int32_t k = 0; k < released_ && all < most_combinations; ++k) all *= widest;
    return (all + task_.starts - 1) / task_.starts;
  }
  /// Do assignments that are side by side fill a warp, and pay? A thread a walker, and where there are few, several.
  [[nodiscard]] bool choose_lanes() {
    if (!LaneWalkers<BlockTeam>::walks(task_.search, task_.start) || !host_lanes_.fits(released_)) return false;
    const std::int64_t each = assignments(), walkers = policy_.group * task_.starts;
    if (each * task_.starts < 32) return false;
    if (walkers < 4 * cuda::multiprocessors() && static_cast<std::int64_t>(longest_) > TunedPolicy::short_program) return false;
    const std::size_t most = allow_most(walk_lanes_kernel), bytes = LaneWalkers<BlockTeam>::bytes(host_lanes_.slots(released_));
    if (4 * 32 * bytes > most || maker_bytes() > allow_most(prepare_lanes_kernel)) return false;
    auto threads = std::min<std::int64_t>(TunedPolicy::lane_threads, static_cast<std::int64_t>(most / bytes) / 32 * 32);
    const std::int64_t rows = std::min({each, threads / 2, std::max<std::int64_t>(8, threads / task_.starts)});
    if (walkers * rows < 2 * cuda::multiprocessors() * threads) threads /= 2;
    policy_.parts = (task_.starts + threads / rows - 1) / (threads / rows);
    policy_.count = static_cast<std::int32_t>((task_.starts + policy_.parts - 1) / policy_.parts);
    policy_.threads = static_cast<std::int32_t>((policy_.count * rows + 31) / 32 * 32);
    policy_.blocks = policy_.group * policy_.parts;
    policy_.shared_bytes = bytes * static_cast<std::size_t>(policy_.threads);
    policy_.lanes = true;
    return true;
  }
  /// Are there values to fill a warp with?
  [[nodiscard]] bool choose_values() {
    std::int64_t widest = 0;
    const cp::FreeVariablesView free = problem_.free_variables();
    for (std::int32_t k = 0; k < free.count; ++k) widest = std::max(widest, free.variables[k].size);
    if (!LaneImprover<WarpTeam>::walks(task_.search, task_.start) || !host_lanes_.fits(1) || widest < TunedPolicy::least_values)
      return false;
    const std::size_t bytes = LaneValues<WarpTeam>::bytes(host_.longest(1), host_lanes_.view(), 32) + sizes_.bytes();
    if (4 * bytes > allow_most(improve_kernel)) return false;
    policy_.shared_bytes = bytes;
    int resident = 0;
    VICINITY_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, improve_kernel, 32, policy_.shared_bytes));
    policy_.threads = 32;
    policy_.blocks = std::min<std::int64_t>(policy_.group * task_.starts, resident * cuda::multiprocessors());
    policy_.lanes = true;
    return true;
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
  LaneSlots host_lanes_;
  DeviceLaneSlots device_lanes_;
  WalkerMemory::Sizes sizes_;
  std::size_t longest_;
  TunedPolicy policy_{};
  std::vector<std::uint64_t> first_state_;
  cuda::DeviceBuffer<std::uint64_t> base_;
  cuda::DeviceBuffer<Instruction> programs_;
  cuda::DeviceBuffer<LaneInstruction> lane_instructions_;
  cuda::DeviceBuffer<std::uint32_t> lane_ends_;
  cuda::DeviceBuffer<LaneProgram> lane_programs_;
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
