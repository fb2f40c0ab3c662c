// Implementation `gpu-lns`: the rounds of cpu-lns (core/methods/lns/repair.hpp), whose neighbourhoods are searched on the device, a block
// each.
//
// Problem: a round has some hundreds of neighbourhoods of one incumbent; each is a dive of CP search with some tens of failures.
// Data layout: the network, its domains at the root and the phases of decisions in device memory, read through the caches; the domains of a
// neighbourhood in the shared memory of its block, or, where that is too small, in device memory; queues, trail and decisions in device
// memory (repair.hpp). Phases of a round: the host draws the neighbourhoods, which are copied with the incumbent; one launch searches all;
// meanwhile threads of the host do the proof's share and the exchanges (core/methods/lns/rounds.hpp); results are copied, and solutions of
// those that have one. What ended for want of memory the host searches. Synchronisation: block barriers, two a pass of propagation; blocks
// share nothing. Cost: a chain of some passes a node, each of a constraint a thread: latency of shared memory and of constraints in the
// caches; global constraints take one thread.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/methods/lns/rounds.hpp"
#include "core/util/error.hpp"
#include "core/util/parallel.hpp"
#include "kernels/lns/implementations.hpp"
#include "kernels/lns/repair.hpp"
#include "kernels/lns/search.cuh"

namespace vicinity::lns {
namespace repair {
namespace {

/// Neighbourhoods of a round where the case says nothing.
constexpr std::int64_t default_blocks = 256;

/// Launch policy: threads of a block by the constraints that may wait at a time.
struct RepairPolicy {
  static constexpr std::int32_t most_threads = 128;

  std::int32_t threads;
  std::int64_t blocks;       ///< neighbourhoods that have memory at a time
  std::size_t shared_bytes;  ///< of a block; 0: its domains are in device memory

  [[nodiscard]] static std::int32_t threads_for(const cp::NetworkView& network) {
    return network.constraints < 256 ? 32 : network.constraints < 2048 ? 64 : most_threads;
  }
  [[nodiscard]] Policy record() const {
    return {{"threads", threads}, {"blocks", blocks}, {"shared_bytes", static_cast<std::int64_t>(shared_bytes)}};
  }
};
static_assert(TuningPolicy<RepairPolicy>);

/// What the kernel works on.
struct RoundView {
  ModelView model;
  TeamMemory::Sizes sizes;
  const Job* jobs;
  std::int64_t count;  ///< of jobs
  const std::int32_t* incumbent;
  JobResult* results;                 ///< [job]
  std::int32_t* values;               ///< [job][variable]
  unsigned char *near, *far;          ///< [block][bytes]; near null: in shared memory
  const volatile std::int32_t* stop;  ///< 1: searches end soon, undone
};

/// Mapping: a block a neighbourhood, in turns where not all have memory.
__global__ void __launch_bounds__(RepairPolicy::most_threads) search_kernel(const __grid_constant__ RoundView round) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ unsigned long long sums[RepairPolicy::most_threads / 32];
  const BlockTeam team(sums);
  const std::size_t block = blockIdx.x;
  unsigned char* const near = round.near != nullptr ? round.near + block * round.sizes.near_bytes() : shared;
  const TeamMemory memory(near, round.far + block * round.sizes.far_bytes(), round.sizes);
  StopWord stop(round.stop, team.rank() == 0);
  TeamSearch<BlockTeam> search(team, round.model, memory, round.sizes, stop);
  for (std::int64_t j = blockIdx.x; j < round.count; j += gridDim.x) {
    const JobResult result = search.search(round.jobs[j], round.incumbent);
    if (result.found)
      for (std::int32_t x = team.rank(); x < round.model.network.variables; x += team.size())
        round.values[j * round.model.network.variables + x] = memory.best[x];
    if (team.rank() == 0) round.results[j] = result;
    team.sync();  // before the next one takes the memory
  }
}

/// A model in device memory.
class DeviceModel {
 public:
  DeviceModel() = default;
  explicit DeviceModel(const ModelArrays& host)
      : network_(host.network, host.root),
        bounds_(std::span<const std::uint64_t>(host.bounds)),
        degree_(std::span<const std::int32_t>(host.degree)),
        list_(std::span<const std::int32_t>(host.list)),
        begin_(std::span<const std::int32_t>(host.begin)),
        variables_(std::span<const cp::Var>(host.variables)),
        costly_(std::span<const std::uint32_t>(host.costly)),
        variable_(std::span<const VariableChoice>(host.variable)),
        value_(std::span<const ValueChoice>(host.value)),
        view_(host.view) {
    view_.network = network_.view();
    view_.bounds = bounds_.data();
    view_.degree = degree_.data();
    view_.costly = costly_.data();
    view_.list = list_.data();
    view_.phases = {begin_.data(), variables_.data(), variable_.data(), value_.data(), host.view.phases.count};
  }
  [[nodiscard]] const ModelView& view() const { return view_; }

 private:
  DeviceNetwork network_;
  cuda::DeviceBuffer<std::uint64_t> bounds_;
  cuda::DeviceBuffer<std::int32_t> degree_, list_, begin_, variables_;
  cuda::DeviceBuffer<std::uint32_t> costly_;
  cuda::DeviceBuffer<VariableChoice> variable_;
  cuda::DeviceBuffer<ValueChoice> value_;
  ModelView view_{};
};

/// Blocks, and what only threads of the host can do beside them.
class BlockSearchers final : public Searchers {
 public:
  BlockSearchers(const cp::Problem& problem, std::int64_t neighborhoods) : neighborhoods_(neighborhoods) {
    // The surrogate of the relaxation may add a constraint and some variables; what fits here fits then.
    place(problem.compiled().network->view());
  }

  void set_up(const cp::Problem& problem, const cp::CompiledModel& compiled) override {
    cost_ = cost_of(problem, compiled);
    host_ = searcher(problem, compiled);
    const ModelArrays arrays(problem.model(), compiled);
    if (arrays.root.failed) return;  // then there is no round
    model_ = DeviceModel(arrays);
    place(compiled.network->view());
    incumbent_ = cuda::DeviceBuffer<std::int32_t>(sizes_.variables);
    values_ = cuda::DeviceBuffer<std::int32_t>(sizes_.variables * static_cast<std::size_t>(neighborhoods_));
    jobs_ = cuda::DeviceBuffer<Job>(static_cast<std::size_t>(neighborhoods_));
    results_ = cuda::DeviceBuffer<JobResult>(jobs_.size());
    for (auto* buffer : {&incumbent_, &values_}) buffer->fill(0xA5, stream_);
    results_.fill(0xA5, stream_);
  }

  void search(const Round& round, const Interruption& interruption) override {
    const std::size_t count = round.found.size();
    std::vector<Drawn> drawn(count);
    in_parallel(count, [&](std::size_t k) { drawn[k] = round.draw(static_cast<std::int64_t>(k)); });
    std::atomic<bool> interrupted = false;
    {
      std::vector<std::jthread> others;
      for (std::int64_t k = 0; k < round.others; ++k)
        others.emplace_back([&, k] {
          try {
            round.other(k);
          } catch (const Interrupted&) {
            interrupted = true;
          }
        });
      if (count > 0) launch(round, drawn);
      stop_.wait(stream_, interruption);
    }
    if (interrupted) throw Interrupted();
    interruption.check();
    if (count > 0) collect(round, drawn, interruption);
  }
  [[nodiscard]] Policy policy() const { return policy_->record(); }

 private:
  /// Memory for the neighbourhoods of a network.
  void place(const cp::NetworkView& network) {
    const std::int32_t threads = RepairPolicy::threads_for(network);
    sizes_ = TeamMemory::Sizes(network, static_cast<std::size_t>(threads));
    cudaFuncAttributes attributes{};
    VICINITY_CUDA_CHECK(cudaFuncGetAttributes(&attributes, search_kernel));
    const std::size_t most = cuda::most_shared() - attributes.sharedSizeBytes;
    const bool shared = sizes_.near_bytes() <= most;
    if (shared) cuda::allow_shared(search_kernel, most);  // for all runs, of which several may be prepared
    constexpr std::size_t most_memory = std::size_t{8} << 30;
    const std::size_t each = sizes_.far_bytes() + (shared ? 0 : sizes_.near_bytes());
    const auto blocks = std::min<std::int64_t>(neighborhoods_, static_cast<std::int64_t>(std::max<std::size_t>(1, most_memory / each)));
    for (auto* buffer : {&near_, &far_}) *buffer = cuda::DeviceBuffer<unsigned char>();
    far_ = cuda::DeviceBuffer<unsigned char>(sizes_.far_bytes() * static_cast<std::size_t>(blocks));
    if (!shared) near_ = cuda::DeviceBuffer<unsigned char>(sizes_.near_bytes() * static_cast<std::size_t>(blocks));
    policy_ = RepairPolicy{threads, blocks, shared ? sizes_.near_bytes() : 0};
  }
  template <class P>
  void copy(P* to, const P* from, std::size_t count) {
    if (count > 0) VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(P), cudaMemcpyDefault, stream_.get()));
  }

  void launch(const Round& round, const std::vector<Drawn>& drawn) {
    kept_host_.clear();
    for (const Drawn& one : drawn) kept_host_.insert(kept_host_.end(), one.kept.begin(), one.kept.end());
    if (kept_.size() < kept_host_.size()) kept_ = cuda::DeviceBuffer<cp::Var>(2 * kept_host_.size());
    jobs_host_.clear();
    const cp::Var* kept = kept_.data();
    for (const Drawn& one : drawn) {
      const auto size = static_cast<std::int32_t>(one.kept.size());
      jobs_host_.push_back({kept, size, one.bound, one.seed, one.how.values, one.how.guided, one.one});
      kept += size;
    }
    copy(kept_.data(), kept_host_.data(), kept_host_.size());
    copy(jobs_.data(), jobs_host_.data(), jobs_host_.size());
    copy(incumbent_.data(), round.incumbent.data(), round.incumbent.size());
    const RoundView view{model_.view(),     sizes_,          jobs_.data(),   static_cast<std::int64_t>(drawn.size()),
                         incumbent_.data(), results_.data(), values_.data(), near_.data(),
                         far_.data(),       stop_.word()};
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(policy_->blocks, view.count));
    search_kernel<<<blocks, static_cast<unsigned>(policy_->threads), policy_->shared_bytes, stream_.get()>>>(view);
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }
  void collect(const Round& round, const std::vector<Drawn>& drawn, const Interruption& interruption) {
    std::vector<JobResult> results(drawn.size());
    copy(results.data(), results_.data(), results.size());
    stream_.synchronize();
    for (std::size_t k = 0; k < results.size(); ++k) {
      Found& found = round.found[k];
      const JobResult& result = results[k];
      if (!result.done) {
        found = search_neighborhood(*host_, drawn[k], round.incumbent, cost_, interruption);
        continue;
      }
      found.nodes = result.nodes;
      found.failures = result.failures;
      found.exhausted = result.exhausted;
      if (!result.found) continue;
      found.values.resize(sizes_.variables);
      copy(found.values.data(), values_.data() + k * sizes_.variables, sizes_.variables);
    }
    stream_.synchronize();
    for (Found& found : round.found)
      if (!found.values.empty()) found.cost = cost_(found.values);
  }

  std::int64_t neighborhoods_;
  CostOf cost_{};
  std::unique_ptr<CpSearch> host_;  ///< for what the device has no memory for
  TeamMemory::Sizes sizes_;
  std::optional<RepairPolicy> policy_;
  cuda::Stream stream_;
  DeviceModel model_;
  cuda::DeviceBuffer<unsigned char> near_, far_;
  cuda::DeviceBuffer<std::int32_t> incumbent_, values_;
  cuda::DeviceBuffer<cp::Var> kept_;
  cuda::DeviceBuffer<Job> jobs_;
  cuda::DeviceBuffer<JobResult> results_;
  std::vector<cp::Var> kept_host_;
  std::vector<Job> jobs_host_;
  cuda::StopSignal stop_;
};

/// The one search of a case, for the driver (kernels/run/search_run.cuh). Its iterations are rounds, and slices until there is a solution.
/// Once interrupted within one it goes no further before a reset().
class RepairSearch {
 public:
  static constexpr std::int64_t first_slice = 1;

  RepairSearch(const cp::Problem& problem, const Task& task) : problem_(problem), task_(task), searchers_(problem, task.subsets) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.whole(); }

  void reset(const Start& start) {
    check_start(problem_, start);
    start_ = start;
    rounds_.reset();
    interrupted_ = false;
  }
  void begin(std::int64_t, std::int64_t, const std::atomic<bool>* stop = nullptr) {
    rounds_ = std::make_unique<Rounds>(problem_, task_, start_, searchers_);
    try {
      rounds_->set_up(Interruption(stop));
    } catch (const Interrupted&) {
      interrupted_ = true;
    }
  }
  void launch(std::int64_t limit) { limit_ = limit; }
  [[nodiscard]] bool wait(const std::atomic<bool>& stop) { return go_on(Interruption(&stop)); }
  [[nodiscard]] bool wait() { return go_on(Interruption()); }
  [[nodiscard]] TracePoint progress() const { return rounds_->progress(); }
  [[nodiscard]] Objective best() const { return rounds_->progress().objective; }
  [[nodiscard]] Outcome judge(bool) const {
    return repair::judge(problem_, rounds_ ? std::vector{rounds_->result()} : std::vector<repair::Result>{});
  }
  [[nodiscard]] static Times times(double seconds) { return {{Part::kernel, {seconds, TimeSource::host}}}; }
  [[nodiscard]] Policy policy() const { return searchers_.policy(); }
  [[nodiscard]] static Work work() { return {}; }

 private:
  [[nodiscard]] bool go_on(const Interruption& interruption) {
    if (interrupted_) return !interruption.wanted();  // nothing is left to do
    try {
      while (!rounds_->done() && rounds_->steps() < limit_ && !interruption.wanted()) rounds_->step(interruption);
    } catch (const Interrupted&) {
      interrupted_ = true;
      return false;
    }
    return rounds_->done();
  }

  const cp::Problem& problem_;
  Task task_;
  BlockSearchers searchers_;
  Start start_ = 0;
  std::unique_ptr<Rounds> rounds_;
  std::int64_t limit_ = 0;
  bool interrupted_ = false;
};

}  // namespace
}  // namespace repair

std::unique_ptr<Run> prepare_repair(const Case& c, const Instance& instance) {
  const auto& problem = dynamic_cast<const cp::Problem&>(instance);
  Task task = task_of(c, problem);
  if (!c.values.contains("subsets")) task.subsets = repair::default_blocks;
  return std::make_unique<DeviceSearchRun<repair::RepairSearch>>(problem, task);
}

}  // namespace vicinity::lns
