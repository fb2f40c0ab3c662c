// Implementation `gpu-hybrid`: the generations of cpu-hybrid, a line a block, of 768 threads or, with many lines, 384. `mpi-gpu-islands`:
// the lines shared among the GPUs of several processes.
//
// Problem: lines make children and improve them, or anneal; between generations the host takes in what they hand back, and draws what they
// do next (core/methods/alns/hybrid/island.hpp, islands.hpp).
// Data layout: the instance, neighbours and ranks in device memory, read through the caches; what a line keeps from one generation to the
// next (two solutions at rest, sums, penalties) in device memory; what it works on in the shared memory of its block (memory.hpp), or,
// where that is too small, in device memory. Phases of an island's generation: jobs and inputs are copied to the device; one launch does
// all its lines; states and what lines hand back are copied to the host; threads of the host merge it and ask it again. Synchronisation:
// blocks share nothing; islands have a stream each, and wait for each other only where they tell each other something. Cost: that of all
// lines, or, with few islands, of the slowest child of each (local_search.hpp), beside which one warp of every fourth block makes n / 5
// steps of string removal (axis removals); copies of 2 (n + m) bytes a line, each way.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/api/team.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/error.hpp"
#include "kernels/alns/hybrid/generations.hpp"
#include "kernels/alns/hybrid/line.hpp"
#include "kernels/alns/implementations.hpp"
#include "kernels/alns/ranks.hpp"
#include "kernels/alns/run.cuh"
#include "kernels/cuda/collective/argmin.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/stop.cuh"

namespace vicinity::alns {
namespace hybrid::block {
namespace {

// --- the threads of a block as a team (memory.hpp says what it does) ---------------------------------------------------------------------
// Host and device: so that what is written for any team compiles for this one; on the host nothing calls it.

/// The lanes of a warp.
struct Lanes {
  std::int32_t index;  ///< of the warp

  [[nodiscard]] static VICINITY_HD std::int32_t lane() {
#if defined(__CUDA_ARCH__)
    return static_cast<std::int32_t>(threadIdx.x % 32);
#else
    return 0;
#endif
  }
  static VICINITY_HD void sync() {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
  }

  template <class F>
  VICINITY_HD void each(std::int32_t count, const F& f) const {
    sync();
    for (std::int32_t i = lane(); i < count; i += 32) f(i);
    sync();
  }
  template <class F>
  VICINITY_HD void once(const F& f) const {
    sync();
    if (lane() == 0) f();
    sync();
  }
  /// Cost: count / 32 evaluations and one reduction.
  template <class F>
  [[nodiscard]] VICINITY_HD auto least(std::int32_t count, const F& f) const {
    using Key = decltype(f(0));
    Key best = cuda::no_key<Key>();
    for (std::int32_t i = lane(); i < count; i += 32) cuda::lower(best, f(i));
    sync();
#if defined(__CUDA_ARCH__)
    return cuda::warp_argmin(best);
#else
    return best;
#endif
  }
  template <class F>
  [[nodiscard]] VICINITY_HD auto least_of_few(std::int32_t count, const F& f) const {
    using Key = decltype(f(0));
    Key keys[3];
    for (std::int32_t part = 0; part < 3; ++part) {
      const std::int32_t i = lane() + 32 * part;
      keys[part] = f(i < count ? i : count - 1);
    }
    cuda::lower(keys[0], keys[1]);
    cuda::lower(keys[0], keys[2]);
    sync();
#if defined(__CUDA_ARCH__)
    return cuda::warp_argmin(keys[0]);
#else
    return keys[0];
#endif
  }
  template <class Load, class Put>
  VICINITY_HD void fetch(std::int32_t count, const Load& load, const Put& put) const {
    constexpr std::int32_t at_once = 4;
    sync();
    for (std::int32_t from = lane(); from < count; from += 32 * at_once) {
      decltype(load(0)) values[at_once];
      for (std::int32_t part = 0; part < at_once; ++part) {
        const std::int32_t i = from + 32 * part;
        values[part] = load(i < count ? i : count - 1);
      }
      for (std::int32_t part = 0; part < at_once; ++part)
        if (from + 32 * part < count) put(from + 32 * part, values[part]);
    }
    sync();
  }
  template <class Value, class Put>
  VICINITY_HD auto scan(std::int32_t count, const Value& value, const Put& put) const {
    using Sum = decltype(value(0));
    Sum before = 0;
    for (std::int32_t from = 0; from < count; from += 32) {
      const std::int32_t i = from + lane();
      Sum sum = i < count ? value(i) : 0;
#if defined(__CUDA_ARCH__)
      for (int offset = 1; offset < 32; offset *= 2) {
        const Sum other = __shfl_up_sync(~0u, sum, offset);
        if (lane() >= offset) sum += other;
      }
#endif
      if (i < count) put(i, before + sum);
#if defined(__CUDA_ARCH__)
      before += __shfl_sync(~0u, sum, 31);
#else
      before += sum;
#endif
    }
    sync();
    return before;
  }
  template <class Stop, class F>
  VICINITY_HD void until(std::int32_t count, const Stop& stop, const F& f) const {
    for (std::int32_t from = 0; from < count; from += 32) {
      const std::int32_t i = from + lane();
      const unsigned stops = ballot(i < count && stop(i));
      if (i < count && (stops & (2u << lane()) - 1u) == 0) f(i);
      if (stops != 0) break;
    }
    sync();
  }
  [[nodiscard]] static VICINITY_HD unsigned ballot(bool holds) {
#if defined(__CUDA_ARCH__)
    return __ballot_sync(~0u, holds);
#else
    return holds ? 1u : 0u;
#endif
  }
  [[nodiscard]] static VICINITY_HD std::int32_t ones(unsigned bits) {
#if defined(__CUDA_ARCH__)
    return __popc(bits);
#else
    return bits == 0 ? 0 : 1;
#endif
  }
  [[nodiscard]] static VICINITY_HD std::int32_t lowest(unsigned bits) {
#if defined(__CUDA_ARCH__)
    return __ffs(static_cast<int>(bits)) - 1;
#else
    return bits == 0 ? -1 : 0;
#endif
  }
};

template <std::int32_t Warps>
struct Threads {
  static constexpr std::int32_t warps = Warps, count = 32 * warps, gathered = 64;

  [[nodiscard]] static VICINITY_HD std::int32_t index() {
#if defined(__CUDA_ARCH__)
    return static_cast<std::int32_t>(threadIdx.x);
#else
    return 0;
#endif
  }
  static VICINITY_HD void sync() {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }

  template <class F>
  VICINITY_HD void each(std::int32_t number, const F& f) {
    for (std::int32_t i = index(); i < number; i += count) f(i);
    sync();
  }
  template <class F>
  VICINITY_HD void each_warp(std::int32_t number, const F& f) {
    for (std::int32_t i = index() / 32; i < number; i += warps) f(Lanes{index() / 32}, i);
    sync();
  }
  /// A warp tests 128 numbers at a time, which keeps as many reads in flight, and has a ring of those that hold.
  template <class Holds, class F>
  VICINITY_HD void each_where(std::int32_t* memory, std::int32_t number, const Holds& holds, const F& f) {
    constexpr std::int32_t tests = 4;
    static_assert(gathered == 64);
    const std::int32_t warp = index() / 32, lane = Lanes::lane();
    std::int32_t* const ring = memory + warp * gathered;
    std::int32_t head = 0, tail = 0;
    for (std::int32_t from = warp * 32 * tests, left = 1; left != 0; from += 32 * tests * warps) {
      left = from < number ? 1 : 0;
      unsigned bits = 0;
      for (std::int32_t test = 0; test < tests; ++test) {
        const std::int32_t i = from + 32 * test + lane;
        if (i < number && holds(i)) bits |= 1u << test;
      }
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
      for (std::int32_t test = 0; test < tests; ++test) {
        const unsigned held = Lanes::ballot((bits >> test & 1u) != 0);
        if ((bits >> test & 1u) != 0) ring[(tail + Lanes::ones(held & ((1u << lane) - 1u))) % gathered] = from + 32 * test + lane;
        tail += Lanes::ones(held);
        const std::int32_t ready = tail - head < 32 ? left == 0 ? tail - head : 0 : 32;
        if (ready == 0) continue;
        Lanes::sync();
        if (lane < ready) f(ring[(head + lane) % gathered]);
        Lanes::sync();
        head += ready;
      }
    }
    sync();
  }
  /// Numbers side by side are dealt to different warps.
  template <class Holds, class F>
  VICINITY_HD void each_warp_where(std::int32_t number, const Holds& holds, const F& f) {
    const std::int32_t warp = index() / 32;
    for (std::int32_t from = warp; from < number; from += 32 * warps) {
      const std::int32_t i = from + Lanes::lane() * warps;
      for (unsigned left = Lanes::ballot(i < number && holds(i)); left != 0; left &= left - 1)
        f(Lanes{warp}, from + Lanes::lowest(left) * warps);
    }
    sync();
  }
  template <class F>
  VICINITY_HD void first_warp(const F& f) {
    if (index() < 32) f(Lanes{0});
    sync();
  }
  template <class F>
  VICINITY_HD void once(const F& f) {
    if (index() == 0) f();
    sync();
  }
  static VICINITY_HD void lower([[maybe_unused]] std::uint64_t* place, [[maybe_unused]] std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    atomicMin(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
#endif
  }
  static VICINITY_HD void raise([[maybe_unused]] std::uint64_t* place, [[maybe_unused]] std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
    atomicOr(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(bits));
#endif
  }
  static VICINITY_HD void add([[maybe_unused]] std::int64_t* place, [[maybe_unused]] std::int64_t value) {
#if defined(__CUDA_ARCH__)
    if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
#endif
  }
};

// --- the search ------------------------------------------------------------------------------------------------------------------------

/// Lines of a search that names no number: two a multiprocessor of an H100. With more a generation takes longer, and ten seconds end
/// farther from the best known.
constexpr std::int32_t default_blocks = 256;

/// With few lines an island's slowest child decides, which a block of a whole multiprocessor makes sooner. With many it is how many
/// children a multiprocessor makes: more by two blocks. Either way threads have 80 registers.
using Wide = Threads<24>;
using Narrow = Threads<12>;
/// Blocks of a multiprocessor.
template <class Team>
constexpr int blocks_at_a_time = Team::warps > 12 ? 1 : 2;
/// Most lines a multiprocessor that are few.
constexpr std::size_t few_lines = 4;

/// What a launch works on: some lines; [line of this rank].
struct Lines {
  Problem problem;
  std::size_t first;
  const LineJob* jobs;
  Node *inputs, *current, *best, *handed;  ///< [line][nodes]
  std::size_t nodes;
  LineState* states;
  unsigned char* memory;  ///< [line][bytes], where shared memory is too small
  std::size_t bytes;
  std::int32_t* done;                 ///< [line] 1: it has made this generation
  const volatile std::int32_t* stop;  ///< 1: lines that have not begun are left for the next launch
};

/// Mapping: a line a block; those that are done are left out.
template <class Team, bool Shared>
__global__ void __launch_bounds__(Team::count, blocks_at_a_time<Team>) generation_kernel(const __grid_constant__ Lines lines) {
  extern __shared__ __align__(16) unsigned char shared[];
  const std::size_t b = lines.first + blockIdx.x, at = b * lines.nodes;
  const std::int32_t n = lines.problem.vrp.n;
  const LineMemory line{Packed::at(lines.inputs + at, n), Packed::at(lines.current + at, n), Packed::at(lines.best + at, n),
                        Packed::at(lines.handed + at, n), lines.states + b};
  if (__syncthreads_or(threadIdx.x == 0 && (lines.done[b] != 0 || *lines.stop != 0) ? 1 : 0) != 0) return;
  Team team;
  Line<Team>(lines.problem, Shared ? shared : lines.memory + b * lines.bytes).run(team, lines.jobs[b], line);
  if (threadIdx.x == 0) lines.done[b] = 1;
}

/// How lines are launched.
struct Blocks {
  std::int32_t threads;
  std::size_t bytes;  ///< of memory, each
  void (*kernel)(Lines);

  template <class Team>
  [[nodiscard]] static Blocks of(const Problem& problem, bool shared) {
    return {Team::count, Line<Team>::bytes(problem), shared ? generation_kernel<Team, true> : generation_kernel<Team, false>};
  }
};

/// The one search of a case, for the driver (kernels/run/search_run.cuh). Its iterations are generations.
class Generating {
 public:
  static constexpr std::int64_t first_slice = 1;
  static constexpr double longest_slice = 0.5;      ///< seconds
  static constexpr std::int64_t least_slices = 10;  ///< before slices are that long

  /// `team`: of Generations; ranks are in step.
  Generating(const vrp::Vrp& vrp, const Task& task, Team* team) : vrp_(vrp), task_(task), team_(team), instance_(vrp.view()) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.calls > 0 ? task_.calls : most_calls; }

  void reset(const Start& start) {
    check_start(vrp_, start);
    generations_.emplace(vrp_, task_, start.seed, start.solution ? std::optional(vrp::routes_of(*start.solution)) : std::nullopt, team_);
    begun_ = stopped_ = false;
    limit_ = 0;
    seconds_ = all_seconds_ = 0;
    shares_.clear();
    for (std::size_t i = 0; i < generations_->islands(); ++i) shares_.push_back(std::make_unique<Share>(i));
    place();
    states_.fill(0xA5, stream_);
    for (auto* buffer : {&inputs_, &current_, &best_, &handed_}) buffer->fill(0xA5, stream_);
    stream_.synchronize();
  }
  void begin(std::int64_t, std::int64_t) {
    begun_ = true;
    states_.fill(0, stream_);
    stream_.synchronize();  // islands have streams of their own
  }
  std::int64_t launch(std::int64_t limit) {
    stopped_ = false;
    if (team_ != nullptr) {
      const auto agreed = team_->least(*team_->stop() ? std::nullopt : std::optional(Team::Offer{limit, 0, 0}));
      stopped_ = !agreed;
      limit = agreed ? agreed->front() : generations_->count();
    }
    return limit_ = limit;
  }
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// Up to where islands tell each other something, which all wait for anyway, unless that is far away, or long beside what was.
  [[nodiscard]] std::int64_t slice(std::int64_t wanted) const {
    const std::int64_t until = generations_->until_end();
    return least_slices * until <= generations_->count() &&
                   static_cast<double>(until) * all_seconds_ < longest_slice * static_cast<double>(generations_->count())
               ? until
               : wanted;
  }
  [[nodiscard]] bool wait() { return generate(Interruption()); }
  /// Of generations under way when the flag rises, lines that have begun end; the others follow when the run goes on.
  [[nodiscard]] bool wait(const std::atomic<bool>& stop) { return generate(Interruption(&stop)); }
  [[nodiscard]] TracePoint progress() const {
    return {.iterations = generations_->count(), .objective = best(), .digest = generations_->digest()};
  }
  [[nodiscard]] Objective best() const { return generations_->objective(); }
  [[nodiscard]] Outcome judge(bool) const {
    return alns::judge(vrp_, begun_ ? std::vector{generations_->result()} : std::vector<Search>{});
  }
  /// While lines of any island are on the device, and while none are.
  [[nodiscard]] Times times(double seconds) const {
    return {{Part::kernel, {seconds_, TimeSource::host}}, {Part::host, {seconds - seconds_, TimeSource::host}}};
  }
  [[nodiscard]] Policy policy() const {
    return {
        {"blocks", task_.processes}, {"threads", blocks_.threads}, {"shared_bytes", static_cast<std::int64_t>(shared_ ? lines_.bytes : 0)}};
  }
  /// No honest limit of the work is known: how many moves must be evaluated, depends on what is kept of earlier ones.
  [[nodiscard]] static Work work() { return {}; }

 private:
  /// Memory for the lines of this run; a given solution may have more routes than others.
  void place() {
    const Granular& granular = generations_->granular();
    const std::size_t count = generations_->own_lines().count;
    if (!placed_ || lines_.nodes != generations_->nodes() || lines_.problem.routes != granular.routes) {
      placed_ = false;  // until all of it is there
      nearest_ = cuda::DeviceBuffer<Node>(std::span<const Node>(std::vector<Node>(granular.nearest.begin(), granular.nearest.end())));
      rank_ = cuda::DeviceBuffer<std::int32_t>(std::span<const std::int32_t>(granular.rank));
      lines_.problem = {instance_.view(), nearest_.data(), rank_.data(), granular.k, granular.moves(), granular.routes, 0};
      for (std::int32_t c = 1; c <= vrp_.size(); ++c) lines_.problem.served += vrp_.view().service[c];
      lines_.nodes = generations_->nodes();
      const bool few = count <= few_lines * static_cast<std::size_t>(cuda::multiprocessors());
      const bool wide = few && Line<Wide>::bytes(lines_.problem) <= cuda::most_shared();
      const auto blocks = [&](bool shared) {
        return wide ? Blocks::of<Wide>(lines_.problem, shared) : Blocks::of<Narrow>(lines_.problem, shared);
      };
      lines_.bytes = blocks(true).bytes;
      shared_ = task_.memory != "global" && lines_.bytes <= cuda::most_shared();
      blocks_ = blocks(shared_);
      if (task_.memory == "shared" && !shared_)
        throw DoesNotFit("needs " + std::to_string(lines_.bytes) + " bytes of shared memory, a block has " +
                         std::to_string(cuda::most_shared()));
      jobs_ = cuda::DeviceBuffer<LineJob>(count);
      states_ = cuda::DeviceBuffer<LineState>(count);
      done_ = cuda::DeviceBuffer<std::int32_t>(count);
      for (auto* buffer : {&inputs_, &current_, &best_, &handed_}) *buffer = cuda::DeviceBuffer<Node>(count * lines_.nodes);
      memory_ = cuda::DeviceBuffer<unsigned char>(shared_ ? 0 : count * lines_.bytes);
      if (shared_) cuda::allow_shared(blocks_.kernel, lines_.bytes);
      placed_ = true;
    }
    lines_.jobs = jobs_.data();
    lines_.states = states_.data();
    lines_.inputs = inputs_.data();
    lines_.current = current_.data();
    lines_.best = best_.data();
    lines_.handed = handed_.data();
    lines_.memory = memory_.data();
    lines_.done = done_.data();
    lines_.stop = stop_.word();
  }

  /// Who is at work for an island; ready: its lines may be launched, if a generation is prepared.
  enum class Stage { host, ready, device };
  /// What this rank has of an island.
  struct Share {
    explicit Share(std::size_t i) : island(i) {}

    std::size_t island;  ///< of Generations
    cuda::Stream stream;
    std::int64_t made = 0;  ///< generations
    std::atomic<Stage> stage = Stage::ready;
    bool prepared = false;   ///< the next one is, or is under way
    bool on_device = false;  ///< its jobs are
  };

  template <class T>
  static void copy(T* to, const T* from, std::size_t count, const cuda::Stream& stream) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream.get()));
  }

  bool generate(const Interruption& interruption) {
    const Interruption mine = team_ == nullptr ? interruption : Interruption(team_->stop());
    while (!generations_->done() && generations_->count() < limit_ && !stopped_) {
      const std::int64_t until = std::min(limit_, generations_->count() + generations_->until_end());
      const bool risen = !made(until, mine);
      stopped_ = team_ == nullptr ? risen : !team_->least(risen ? std::nullopt : std::optional(Team::Offer{}));
      if (stopped_)
        generations_->agree_on_best();
      else
        generations_->end(until - generations_->count());
    }
    return generations_->done();
  }
  /// Islands make generations up to that one, each by itself. False: interrupted.
  [[nodiscard]] bool made(std::int64_t until, const Interruption& interruption) {
    bool risen = false, on_device = false;
    for (const auto& share : shares_)
      if (!share->prepared && share->made < until) turn(*share, until, false);
    Stopwatch watch;
    for (bool busy = true; busy;) {
      busy = false;
      const bool was_on_device = std::exchange(on_device, false);
      if (was_on_device && !risen && interruption.wanted()) stop_.set(1), risen = true;  // so each call launches something
      for (const auto& share : shares_) {
        const Stage stage = share->stage;  // what a thread of the host does now and ends soon is seen in the next round
        const bool idle = stage == Stage::ready && (!share->prepared || risen);
        if (stage == Stage::device && !under_way(*share)) end_launch(*share, until, risen);
        if (stage == Stage::ready && !idle) launch(*share);
        busy = busy || !idle;
        on_device = on_device || share->stage == Stage::device;
      }
      if (busy) std::this_thread::sleep_for(std::chrono::microseconds(10));
      if (was_on_device) seconds_ += watch.seconds();
      all_seconds_ += watch.seconds();
      watch = Stopwatch();
    }
    if (risen) stop_.set(0);
    return !risen;
  }
  /// The host's part of an island, by a thread of its own: what became of a generation, and the next one, if there is one.
  void turn(Share& share, std::int64_t until, bool finish) {
    share.stage = Stage::host;
    generations_->workers().post([this, &share, until, finish] {
      if (finish) generations_->finish(share.island), ++share.made;
      share.prepared = share.made < until;
      if (share.prepared) generations_->prepare(share.island);
      share.on_device = false;
      share.stage = Stage::ready;
    });
  }
  void launch(Share& share) {
    Generations& generations = *generations_;
    const auto [first, count] = generations.lines(share.island);
    lines_.first = first - generations.own_lines().first;
    if (!share.on_device) {
      copy(jobs_.data() + lines_.first, &generations.jobs[first], count, share.stream);
      copy(inputs_.data() + lines_.first * lines_.nodes, &generations.inputs[first * lines_.nodes], count * lines_.nodes, share.stream);
      VICINITY_CUDA_CHECK(cudaMemsetAsync(done_.data() + lines_.first, 0, count * sizeof(std::int32_t), share.stream.get()));
      share.on_device = true;
    }
    const cuda::Shape shape{
        .blocks = static_cast<std::int64_t>(count), .threads = blocks_.threads, .shared_bytes = shared_ ? lines_.bytes : 0};
    VICINITY_CUDA_CHECK(cuda::launch(shape, share.stream, blocks_.kernel, lines_));
    share.stage = Stage::device;
  }
  /// Lines that had not begun when the flag rose follow in another launch.
  void end_launch(Share& share, std::int64_t until, bool risen) {
    share.stage = Stage::ready;
    if (risen) return;
    Generations& generations = *generations_;
    const auto [first, count] = generations.lines(share.island);
    const std::size_t own = first - generations.own_lines().first;
    copy(&generations.states[first], states_.data() + own, count, share.stream);
    copy(&generations.handed[first * lines_.nodes], handed_.data() + own * lines_.nodes, count * lines_.nodes, share.stream);
    share.stream.synchronize();
    for (std::size_t b = first; b < first + count; ++b)
      if (generations.improves(b))
        copy(&generations.best[b * lines_.nodes], best_.data() + (own + b - first) * lines_.nodes, lines_.nodes, share.stream);
    share.stream.synchronize();
    turn(share, until, true);
  }
  [[nodiscard]] static bool under_way(const Share& share) {
    const cudaError_t state = cudaStreamQuery(share.stream.get());
    if (state == cudaErrorNotReady) return true;
    VICINITY_CUDA_CHECK(state);
    return false;
  }

  const vrp::Vrp& vrp_;
  Task task_;
  Team* team_;
  cuda::Stream stream_;
  DeviceVrp instance_;
  std::vector<std::unique_ptr<Share>> shares_;
  std::optional<Generations> generations_;  // after shares_: it ends first, with what its threads do for them
  Lines lines_{};
  Blocks blocks_{};
  bool placed_ = false, shared_ = false, begun_ = false;
  bool stopped_ = false;  ///< a rank was interrupted
  std::int64_t limit_ = 0;
  cuda::DeviceBuffer<Node> nearest_;
  cuda::DeviceBuffer<std::int32_t> rank_;
  cuda::DeviceBuffer<LineJob> jobs_;
  cuda::DeviceBuffer<LineState> states_;
  cuda::DeviceBuffer<Node> inputs_, current_, best_, handed_;
  cuda::DeviceBuffer<unsigned char> memory_;
  cuda::DeviceBuffer<std::int32_t> done_;
  cuda::StopSignal stop_;
  double seconds_ = 0, all_seconds_ = 0;  ///< in which lines were on the device; of all generations
};

}  // namespace
}  // namespace hybrid::block

namespace {

std::unique_ptr<Run> prepare(const Case& c, const Instance& instance, Team* team) {
  Task task = task_of(c);
  if (!c.values.contains("processes")) task.processes = hybrid::block::default_blocks;
  return std::make_unique<DeviceSearchRun<hybrid::block::Generating>>(dynamic_cast<const vrp::Vrp&>(instance), task, team);
}

}  // namespace

std::unique_ptr<Run> prepare_hybrid(const Case& c, const Instance& instance) { return prepare(c, instance, nullptr); }
std::unique_ptr<Run> prepare_gpu_islands_of_rank(const Case& c, const Instance& instance, Team& team) {
  return prepare(c, instance, &team);
}

}  // namespace vicinity::alns
