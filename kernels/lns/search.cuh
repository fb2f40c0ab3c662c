#pragma once
// What searches on the device share: the threads of a block as a team, a problem in device memory, the steps of a search and K2.
//
// Data: what walkers have found is costs and assignments, (2 + |N|) t m words; the incumbent and the best solution are values of the free
// variables. Phases of a step: the host draws the subsets into page-locked memory while the device works, and they are copied; K1, the
// walkers, is the method's; K2, one block: the least (cost, walker) of all becomes the incumbent. Steps follow each other on one stream;
// the host waits for the copy of the subsets before the last alone.
#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/methods/lns/task.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/cuda/runtime/stop.cuh"
#include "kernels/lns/walker.hpp"
#include "kernels/run/search_run.cuh"

namespace vicinity::lns {

/// The threads of a block.
class BlockTeam {
 public:
  static constexpr std::int32_t most_warps = 16;

  /// `slots`: one a warp, in shared memory.
  __device__ explicit BlockTeam(unsigned long long* slots) : slots_(slots) {}

  [[nodiscard]] __device__ std::int32_t rank() const { return static_cast<std::int32_t>(threadIdx.x); }
  [[nodiscard]] __device__ std::int32_t size() const { return static_cast<std::int32_t>(blockDim.x); }
  __device__ void sync() const { __syncthreads(); }
  [[nodiscard]] __device__ bool any(bool flag) const { return __syncthreads_or(flag ? 1 : 0) != 0; }
  [[nodiscard]] __device__ std::int64_t sum(std::int64_t number) const {
    auto total = static_cast<unsigned long long>(number);  // sums wrap around
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(~0u, total, offset);
    if (blockDim.x == 32) return static_cast<std::int64_t>(total);
    if (threadIdx.x % 32 == 0) slots_[threadIdx.x / 32] = total;
    __syncthreads();
    total = 0;
    for (std::uint32_t warp = 0; warp < blockDim.x / 32; ++warp) total += slots_[warp];
    __syncthreads();  // before the next sum writes
    return static_cast<std::int64_t>(total);
  }
  __device__ void add(std::uint64_t* sum, std::uint64_t number) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(number));
  }
  __device__ void set_bits(std::uint32_t* word, std::uint32_t bits) const { atomicOr(word, bits); }

 private:
  unsigned long long* slots_;
};
static_assert(Team<BlockTeam>);

/// What the device keeps of a search.
struct Record {
  std::int64_t cost, best_cost;  ///< of the incumbent, of the best
  std::int64_t steps, evaluations, started;
  Digest digest;
};

/// What all kernels work on.
struct SearchView {
  ProblemView problem;
  WalkView task;
  std::uint64_t seed;
  std::int64_t walkers;
  const std::int32_t* first;       ///< [free variable] in the first solution
  std::int32_t *incumbent, *best;  ///< [free variable]
  std::int64_t* costs;             ///< [walker]
  std::int64_t* evaluations;       ///< [walker] times two, and one more where it has a consistent starting point
  std::int32_t* assignments;       ///< [walker][released]
  Record* record;
  const volatile std::int32_t* stop;  ///< 1: kernels end soon, and the step does not count

  /// By all threads of a block, before and behind which lies a barrier.
  __device__ void keep(std::int64_t w, const WalkerResult& result, const std::int32_t* found) const {
    for (auto k = static_cast<std::int32_t>(threadIdx.x); k < task.released; k += static_cast<std::int32_t>(blockDim.x))
      assignments[w * task.released + k] = result.cost == inconsistent ? 0 : found[k];
    if (threadIdx.x != 0) return;
    costs[w] = result.cost;
    evaluations[w] = 2 * result.evaluations + (result.started ? 1 : 0);
  }
};

inline constexpr std::int32_t reduce_threads = 512;

/// K2. Mapping: one block; threads take walkers in turns, then variables.
static __global__ void __launch_bounds__(reduce_threads)
    reduce_kernel(const __grid_constant__ SearchView search, const std::int32_t* subsets) {
  __shared__ unsigned long long sums[reduce_threads / 32];
  __shared__ std::int64_t costs[reduce_threads], walkers[reduce_threads];
  const BlockTeam team(sums);
  const auto me = static_cast<std::int32_t>(threadIdx.x);
  if (team.any(me == 0 && *search.stop != 0)) return;
  std::int64_t cost = inconsistent, walker = std::numeric_limits<std::int64_t>::max(), evaluations = 0, started = 0;
  std::uint64_t tallies = 0;
  for (std::int64_t w = me; w < search.walkers; w += reduce_threads) {
    const std::int64_t found = search.costs[w];
    tallies += tally(w, found);
    evaluations += search.evaluations[w] / 2;
    started += search.evaluations[w] % 2;
    if (found < cost) {  // ascending: the least walker of equal ones stays
      cost = found;
      walker = w;
    }
  }
  costs[me] = cost;
  walkers[me] = walker;
  __syncthreads();
  for (std::int32_t half = reduce_threads / 2; half > 0; half /= 2) {
    if (me < half && (costs[me + half] < costs[me] || (costs[me + half] == costs[me] && walkers[me + half] < walkers[me]))) {
      costs[me] = costs[me + half];
      walkers[me] = walkers[me + half];
    }
    __syncthreads();
  }
  cost = costs[0];
  walker = walkers[0];
  const auto tally_of_all = static_cast<std::uint64_t>(team.sum(static_cast<std::int64_t>(tallies)));
  evaluations = team.sum(evaluations);
  started = team.sum(started);
  Record& record = *search.record;
  const bool better = cost < record.cost, best = cost < record.best_cost;
  if (better) {
    const std::int32_t released = search.task.released;
    for (std::int32_t k = me; k < released; k += reduce_threads)
      search.incumbent[subsets[walker / search.task.starts * released + k]] = search.assignments[walker * released + k];
  }
  __syncthreads();
  if (best)
    for (std::int32_t k = me; k < search.problem.free.count; k += reduce_threads) search.best[k] = search.incumbent[k];
  __syncthreads();  // all have read the record
  if (me != 0) return;
  for (const std::uint64_t word : {static_cast<std::uint64_t>(cost), static_cast<std::uint64_t>(walker), tally_of_all})
    record.digest.add(word);
  if (better) record.cost = cost;
  if (best) record.best_cost = cost;
  record.evaluations += evaluations;
  record.started += started;
  ++record.steps;
}

/// A pass begins with the first solution. Mapping: threads take variables in turns.
static __global__ void begin_pass_kernel(const __grid_constant__ SearchView search, std::int64_t first_cost) {
  if (__syncthreads_or(threadIdx.x == 0 && *search.stop != 0 ? 1 : 0) != 0) return;
  for (auto k = static_cast<std::int32_t>(threadIdx.x); k < search.problem.free.count; k += static_cast<std::int32_t>(blockDim.x))
    search.incumbent[k] = search.first[k];
  if (threadIdx.x == 0) search.record->cost = first_cost;
}

template <class T>
[[nodiscard]] cuda::DeviceBuffer<T> on_device(const T* from, std::size_t count) {
  return cuda::DeviceBuffer<T>(std::span<const T>(from, count));
}

/// A network in device memory, with its domains at the fixpoint of the root, which has not failed.
class DeviceNetwork {
 public:
  DeviceNetwork() = default;
  DeviceNetwork(const cp::Network& network, const cp::RootDomains& root) {
    const cp::NetworkView host = network.view();
    const auto variables = static_cast<std::size_t>(host.variables), constraints = static_cast<std::size_t>(host.constraints);
    kind_ = on_device(host.kind, constraints);
    constraint_begin_ = on_device(host.argument_begin, constraints + 1);
    constraint_arguments_ = on_device(host.arguments, host.argument_begin[constraints]);
    constraint_data_begin_ = on_device(host.data_begin, constraints + 1);
    constraint_data_ = on_device(host.data, host.data_begin[constraints]);
    watch_begin_ = on_device(host.watch_begin, variables + 1);
    watches_ = on_device(host.watches, host.watch_begin[variables]);
    origin_ = on_device(host.lower, variables);
    upper_ = on_device(root.upper.data(), variables);
    mask_begin_ = on_device(host.mask_begin, variables);
    mask_ = on_device(root.mask.data(), root.mask.size());
    view_ = {kind_.data(),
             constraint_begin_.data(),
             constraint_arguments_.data(),
             constraint_data_begin_.data(),
             constraint_data_.data(),
             watch_begin_.data(),
             watches_.data(),
             origin_.data(),
             upper_.data(),
             mask_begin_.data(),
             mask_.data(),
             host.variables,
             host.constraints,
             host.mask_words};
  }
  /// Upper bounds and masks are those of the fixpoint; bit 0 of a mask is `lower` all the same.
  [[nodiscard]] const cp::NetworkView& view() const { return view_; }

 private:
  cp::NetworkView view_{};
  cuda::DeviceBuffer<cp::Kind> kind_;
  cuda::DeviceBuffer<std::uint32_t> constraint_begin_, watch_begin_, watches_;
  cuda::DeviceBuffer<std::int32_t> constraint_arguments_, origin_, upper_;
  cuda::DeviceBuffer<std::uint64_t> constraint_data_begin_, mask_;
  cuda::DeviceBuffer<std::int64_t> constraint_data_, mask_begin_;
};

/// A problem in device memory.
class DeviceProblem {
 public:
  /// `propagated`: with the network, its domains at the fixpoint.
  DeviceProblem(const cp::Problem& problem, bool propagated) {
    load_free(problem);
    if (propagated) load_network(*problem.compiled().network);
    view_.sense = problem.sense();
  }
  [[nodiscard]] const ProblemView& view() const { return view_; }

 private:
  void load_free(const cp::Problem& problem) {
    const cp::FreeVariablesView host = problem.free_variables();
    const auto count = static_cast<std::size_t>(host.count);
    std::size_t values = 0;
    std::vector<std::int32_t> network;
    for (std::size_t k = 0; k < count; ++k) {
      const cp::FreeVariable& x = host.variables[k];
      if (x.begin >= 0) values = static_cast<std::size_t>(x.begin + x.size);
      network.push_back(problem.compiled().variable_of[static_cast<std::size_t>(x.slot)]);
    }
    free_ = on_device(host.variables, count);
    values_ = on_device(host.values, values);
    network_variable_ = on_device(network.data(), network.size());
    view_.free = {free_.data(), values_.data(), host.count};
    view_.network_variable = network_variable_.data();
  }
  void load_network(const cp::Network& network) {
    const cp::RootDomains root = cp::root_domains(network);
    if (root.failed) return;  // then nothing is searched
    network_ = DeviceNetwork(network, root);
    lower_ = on_device(root.lower.data(), root.lower.size());
    view_.network = network_.view();
    view_.root_lower = lower_.data();
  }

  ProblemView view_{};
  cuda::DeviceBuffer<cp::FreeVariable> free_;
  cuda::DeviceBuffer<std::int32_t> values_, network_variable_, lower_;
  DeviceNetwork network_;
};

/// What the domains of a walker need; nothing without CP starting points.
[[nodiscard]] inline DomainMemory::Sizes domains_of(const ProblemView& problem, const Task& task) {
  if (task.start != StartingPoint::cp) return {0, 0, 0};
  return {static_cast<std::size_t>(problem.network.variables), static_cast<std::size_t>(problem.network.mask_words),
          static_cast<std::size_t>(problem.network.constraints)};
}

/// Throws DoesNotFit where starting points would need a propagator that the device has not.
inline void check(const cp::Problem& problem, const Task& task) {
  if (task.start != StartingPoint::cp) return;
  const cp::NetworkView network = problem.compiled().network->view();
  for (std::int32_t c = 0; c < network.constraints; ++c)
    if (network.kind[c] > cp::Kind::element_var) throw DoesNotFit("start = cp: global constraints are not propagated on the device");
}

/// How the walkers of a step walk.
template <class M>
concept WalkMethod = requires(M& method, const M& constant, std::span<const std::int32_t> slots, const SearchView& search,
                              const std::int32_t* subsets, const cuda::Stream& stream) {
  method.begin(slots, stream);                           // of the first solution, all slots of the evaluation
  method.walk(search, subsets, std::int64_t{}, stream);  // a step; asynchronous
  { constant.policy() } -> std::same_as<Policy>;
};

/// The one search of a case, for the driver (kernels/run/search_run.cuh). Its iterations are steps.
template <WalkMethod Method>
class DeviceSearch {
 public:
  static constexpr std::int64_t first_slice = 1;

  DeviceSearch(const cp::Problem& problem, const Task& task)
      : problem_((check(problem, task), problem)),
        task_(task),
        released_(static_cast<std::int32_t>(released_of(task, problem))),
        device_(problem, task.start == StartingPoint::cp),
        method_(problem, task, released_, device_.view()),
        first_(free()),
        incumbent_(free()),
        best_(free()),
        costs_(static_cast<std::size_t>(task.walkers())),
        evaluations_(costs_.size()),
        assignments_(costs_.size() * static_cast<std::size_t>(released_)),
        subsets_{Subsets(subset_ints()), Subsets(subset_ints())},
        record_(1) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.whole(); }

  void reset(const Start& start) {
    check_start(problem_, start);
    begun_ = false;
    seed_ = start.seed;
    given_ = start.solution;
    begin_at_.clear();
    state_ = {};
    for (auto* buffer : {&incumbent_, &best_, &assignments_}) buffer->fill(0xA5, stream_);
    costs_.fill(0xA5, stream_);
    evaluations_.fill(0xA5, stream_);
    stream_.synchronize();
  }
  void begin(std::int64_t, std::int64_t, const std::atomic<bool>* stop = nullptr) {
    begun_ = true;
    if (!given_ && !found_) {
      std::vector<std::int32_t> found = first_solution(problem_, stop);
      if (stop != nullptr && *stop) return;  // nothing is launched
      found_ = std::move(found);
    }
    begin_at_ = given_ ? *given_ : *found_;
    if (begin_at_.empty()) return;
    std::vector<std::int32_t> slots = problem_.evaluation().slots();
    std::copy(begin_at_.begin(), begin_at_.end(), slots.begin());
    std::vector<std::int32_t> first;
    const cp::FreeVariablesView view = problem_.free_variables();
    for (std::int32_t k = 0; k < view.count; ++k) first.push_back(slots[static_cast<std::size_t>(view.variables[k].slot)]);
    first_cost_ = cost_of(problem_.model(), slots);
    const Record record{first_cost_, first_cost_, 0, 0, 0, {}};
    state_ = record;
    method_.begin(slots, stream_);
    copy(first_.data(), first.data(), first.size());
    copy(best_.data(), first.data(), first.size());
    copy(record_.data(), &record, 1);
    stream_.synchronize();  // what was copied goes away
    queued_ = 0;
  }
  void launch(std::int64_t limit) {
    if (begin_at_.empty()) return;
    for (; queued_ < std::min(limit, task_.whole()); ++queued_) step();
  }
  /// Steps that are under way when the flag rises end soon, and do not count: the next launch makes them again.
  [[nodiscard]] bool wait(const std::atomic<bool>& stop) {
    stop_.wait(stream_, Interruption(&stop));
    const bool done = wait();
    queued_ = state_.steps;
    return done;
  }
  [[nodiscard]] bool wait() {
    if (!begin_at_.empty()) copy(&state_, record_.data(), 1);
    stream_.synchronize();
    return begin_at_.empty() || state_.steps == task_.whole();
  }
  [[nodiscard]] TracePoint progress() const { return {.iterations = state_.steps, .objective = best(), .digest = state_.digest.value()}; }
  [[nodiscard]] Objective best() const {
    const bool most = problem_.sense() == Sense::maximise;
    return begin_at_.empty() ? Objective::infeasible(problem_.sense())
                             : Objective(most ? -state_.best_cost : state_.best_cost, problem_.sense());
  }
  [[nodiscard]] Outcome judge(bool) {
    if (!begun_) return lns::judge(problem_, {});
    Search search;
    search.digest = Digest{}.value();
    if (begin_at_.empty()) return lns::judge(problem_, {search});
    search = {state_.steps, state_.evaluations, state_.started, state_.digest.value(), state_.best_cost, first_cost_, {}};
    const std::vector<std::int32_t> values = best_.to_host();
    std::vector<std::int32_t> slots = problem_.evaluation().slots();
    std::copy(begin_at_.begin(), begin_at_.end(), slots.begin());
    const cp::FreeVariablesView view = problem_.free_variables();
    for (std::int32_t k = 0; k < view.count; ++k)
      slots[static_cast<std::size_t>(view.variables[k].slot)] = values[static_cast<std::size_t>(k)];
    static_cast<void>(problem_.evaluation().evaluate(slots));
    slots.resize(problem_.model().variables.size());
    search.best = std::move(slots);
    return lns::judge(problem_, {search});
  }
  [[nodiscard]] static Times times(double seconds) { return {{Part::kernel, {seconds, TimeSource::host}}}; }
  [[nodiscard]] Policy policy() const { return method_.policy(); }
  [[nodiscard]] static Work work() { return {}; }

 private:
  /// Subsets of a step, on both sides, and when the step has read them.
  struct Subsets {
    explicit Subsets(std::size_t ints) : host(ints), device(ints) {}
    cuda::HostBuffer<std::int32_t> host;
    cuda::DeviceBuffer<std::int32_t> device;
    cuda::Event read;
  };

  [[nodiscard]] std::size_t free() const { return static_cast<std::size_t>(problem_.free_variables().count); }
  [[nodiscard]] std::size_t subset_ints() const { return static_cast<std::size_t>(task_.subsets * released_); }
  template <class T>
  void copy(T* to, const T* from, std::size_t count) {
    if (count > 0) VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream_.get()));
  }

  [[nodiscard]] SearchView view() {
    return {device_.view(),
            {task_.search, task_.start, task_.repetitions, task_.starts, released_},
            seed_,
            task_.walkers(),
            first_.data(),
            incumbent_.data(),
            best_.data(),
            costs_.data(),
            evaluations_.data(),
            assignments_.data(),
            record_.data(),
            stop_.word()};
  }
  /// Asynchronous but for the subsets of the step before the last.
  void step() {
    Subsets& subsets = subsets_[queued_ % 2];
    if (queued_ >= 2) VICINITY_CUDA_CHECK(cudaEventSynchronize(subsets.read.get()));
    draw(subsets.host.data());
    copy(subsets.device.data(), subsets.host.data(), subsets.host.size());
    const SearchView search = view();
    if (queued_ % task_.steps == 0) begin_pass_kernel<<<1, 256, 0, stream_.get()>>>(search, first_cost_);
    method_.walk(search, subsets.device.data(), queued_, stream_);
    reduce_kernel<<<1, reduce_threads, 0, stream_.get()>>>(search, subsets.device.data());
    subsets.read.record(stream_);
  }
  void draw(std::int32_t* to) {
    order_.resize(free());
    for (std::int64_t i = 0; i < task_.subsets; ++i) {
      std::iota(order_.begin(), order_.end(), 0);
      std::int32_t* order = order_.data();
      release({seed_, queued_, task_.walkers() + i}, problem_.free_variables().count, released_, order);
      std::copy_n(order_.begin(), released_, to + i * released_);
    }
  }

  const cp::Problem& problem_;
  Task task_;
  std::int32_t released_;
  std::optional<Solution> given_;
  std::optional<std::vector<std::int32_t>> found_;  ///< by CP search, when a run begins for the first time
  std::vector<std::int32_t> begin_at_;              ///< the first solution of this run; empty: none
  cuda::Stream stream_;
  DeviceProblem device_;
  Method method_;
  cuda::DeviceBuffer<std::int32_t> first_, incumbent_, best_;
  cuda::DeviceBuffer<std::int64_t> costs_, evaluations_;
  cuda::DeviceBuffer<std::int32_t> assignments_;
  Subsets subsets_[2];
  cuda::DeviceBuffer<Record> record_;
  cuda::StopSignal stop_;
  std::vector<std::int32_t> order_;
  std::uint64_t seed_ = 0;
  std::int64_t first_cost_ = inconsistent, queued_ = 0;
  bool begun_ = false;
  Record state_{};
};

}  // namespace vicinity::lns
