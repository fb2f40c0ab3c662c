#pragma once
// The processes of a search on the device, for the driver: first solutions, calls, the host's part between them (sections 3.1 and 3.5),
// 2-opt at the end, the judgement. What happens within a call is the method's.
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/methods/alns/alns.hpp"
#include "core/methods/alns/boundary.hpp"
#include "core/methods/alns/genetic.hpp"
#include "core/methods/alns/task.hpp"
#include "core/util/digest.hpp"
#include "kernels/alns/solution.hpp"
#include "kernels/alns/two_opt.cuh"
#include "kernels/run/search_run.cuh"

namespace vicinity::alns {

/// What a process keeps between calls, beside its solutions.
struct ProcessState {
  std::int64_t cost, incumbent_cost;
  double temperature, first_temperature;
  std::int64_t since_start;  ///< iterations since the last start
  std::int64_t evaluations;
  Digest digest;
  std::int32_t weights[operator_pairs];

  /// Begins at a solution, as at the beginning of a schedule.
  void start(std::int64_t at) {
    cost = incumbent_cost = at;
    temperature = first_temperature = alns::first_temperature(at);
    since_start = 0;
    for (std::int32_t& weight : weights) weight = first_weight;
  }
};

/// What a first solution came to.
struct Made {
  std::int64_t cost;  ///< -1: the fleet cannot serve all requests by this construction
  std::int64_t evaluations;
};

/// Start s of a run, by block s.
struct Constructions {
  vrp::View vrp;
  std::uint64_t seed;
  std::int32_t fewest;      ///< vehicles that the demands need at least
  std::int32_t* solutions;  ///< [start][Solution::ints()], of the method
  Made* made;               ///< [start]
};

/// The processes, a block each.
struct Processes {
  vrp::View vrp;
  std::uint64_t seed;
  ProcessState* states;      ///< [process]
  std::int32_t* current;     ///< [process][Solution::ints()], of the method
  std::int32_t* incumbent;   ///< the same
  const std::int32_t* kept;  ///< [edge_index()] history as of the last boundary
  std::int32_t* next;        ///< the same as of now
};

/// What makes first solutions and calls; made from (instance on the host, task). Both are asynchronous.
template <class M>
concept CallMethod = requires(M& method, const M& fixed, const Constructions& constructions, const Processes& processes, std::int64_t count,
                              const cuda::Stream& stream) {
  method.construct(constructions, count, stream);  // starts 0 .. count - 1
  method.call(processes, count, count, stream);    // so many processes; the call's number from 0
  { fixed.policy() } -> std::same_as<Policy>;
  typename M::Solution;  // what it keeps solutions as (solution.hpp)
};

/// An instance in device memory.
class DeviceVrp {
 public:
  explicit DeviceVrp(const vrp::View& vrp)
      : n_(static_cast<std::size_t>(vrp.n)),
        distance_(std::span(vrp.distance, (n_ + 1) * (n_ + 1))),
        demand_(std::span(vrp.demand, n_ + 1)),
        service_(std::span(vrp.service, n_ + 1)),
        view_(vrp) {
    view_.distance = distance_.data();
    view_.demand = demand_.data();
    view_.service = service_.data();
  }
  [[nodiscard]] const vrp::View& view() const { return view_; }

 private:
  std::size_t n_;
  cuda::DeviceBuffer<std::int32_t> distance_, demand_, service_;
  vrp::View view_;
};

/// Mapping: threads in turns.
template <class T>
__global__ void fill_kernel(T* to, std::size_t count, T value) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = value;
}

/// The one search of a case, for the driver (kernels/run/search_run.cuh). Its iterations are calls, after each of which the host decides.
template <CallMethod Method>
class DeviceProcesses {
 public:
  using Solution = typename Method::Solution;
  static constexpr std::int64_t first_slice = 1;

  DeviceProcesses(const vrp::Vrp& vrp, const Task& task)
      : vrp_(vrp),
        task_(task),
        ints_(Solution::ints(vrp.view().n, vrp.view().vehicles)),
        edges_(static_cast<std::size_t>(vrp.size() + 1) * static_cast<std::size_t>(vrp.size() + 1)),
        instance_(vrp.view()),
        kept_(edges_),
        next_(edges_),
        states_(processes()),
        made_(static_cast<std::size_t>(task.starts())),
        starts_((made_.size() + 1) * ints_),
        current_(processes() * ints_),
        incumbent_(processes() * ints_),
        best_(ints_),
        host_states_(processes()),
        two_opt_(instance_.view()),
        method_(vrp.view(), task) {}

  [[nodiscard]] static std::int64_t count() { return 1; }
  [[nodiscard]] static std::int64_t batch_size() { return 1; }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.calls > 0 ? task_.calls : most_calls; }

  void reset(const Start& start) {
    check_start(vrp_, start);
    start_ = start;
    begun_ = false;
    boundary_.reset();
    polished_.reset();
    seconds_ = 0;
    children_ = 0;
    states_.fill(0xA5, stream_);
    made_.fill(0xA5, stream_);
    for (auto* buffer : {&starts_, &current_, &incumbent_, &best_, &kept_, &next_}) buffer->fill(0xA5, stream_);
    stream_.synchronize();
  }
  void begin(std::int64_t, std::int64_t) {
    begun_ = true;
    started_.record(stream_);
    fill_kernel<<<1024, 256, 0, stream_.get()>>>(kept_.data(), edges_, never_seen);
    fill_kernel<<<1024, 256, 0, stream_.get()>>>(next_.data(), edges_, never_seen);
    method_.construct({instance_.view(), start_.seed, fewest_tours(vrp_.view()), starts_.data(), made_.data()}, task_.starts(), stream_);
    ended_.record(stream_);
    keep_starts();
    seconds_ += ended_.seconds_since(started_);
    if (!start_costs_.empty()) start_processes();
  }
  void launch(std::int64_t limit) {
    while (!done() && boundary_->calls() < limit) call();
  }
  [[nodiscard]] bool wait() const { return done(); }
  [[nodiscard]] TracePoint progress() const { return {.iterations = calls(), .objective = best(), .digest = digest()}; }
  [[nodiscard]] Objective best() const { return boundary_ ? Objective(boundary_->global()) : Objective::infeasible(); }
  [[nodiscard]] Outcome judge(bool) {
    if (!begun_) return alns::judge(vrp_, {});
    if (!boundary_) return alns::judge(vrp_, {Search{}});
    Search search{calls(), boundary_->restarts_made(), evaluations_made_, digest(), boundary_->global(), {}};
    for (const ProcessState& state : host_states_) search.evaluations += state.evaluations;
    const Polished result = polished_ ? *polished_ : polished();
    search.cost += result.change;
    search.children = children_;
    search.best = result.tours;
    return alns::judge(vrp_, {search});
  }
  /// The device's time, and what the host did meanwhile.
  [[nodiscard]] Times times(double seconds) const {
    return {{Part::kernel, {seconds_, TimeSource::device}}, {Part::host, {seconds - seconds_, TimeSource::host}}};
  }
  [[nodiscard]] Policy policy() const { return method_.policy(); }
  /// No honest limit of the work is known: how many insertions must be evaluated, depends on what is kept of earlier ones.
  [[nodiscard]] static Work work() { return {}; }

 private:
  struct Polished {
    std::int64_t change;
    Tours tours;
  };

  [[nodiscard]] std::size_t processes() const { return static_cast<std::size_t>(task_.processes); }
  [[nodiscard]] bool done() const { return !boundary_ || boundary_->stop(); }
  [[nodiscard]] std::int64_t calls() const { return boundary_ ? boundary_->calls() : 0; }

  template <class T>
  void copy(T* to, const T* from, std::size_t count) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream_.get()));
  }

  /// The starts that serve all requests, in order; a given solution comes before them.
  void keep_starts() {
    std::vector<Made> made(made_.size());
    copy(made.data(), made_.data(), made.size());
    stream_.synchronize();
    start_places_.clear();
    start_costs_.clear();
    evaluations_made_ = 0;
    if (start_.solution) {
      std::vector<std::int32_t> words = words_of<Solution>(vrp_.view(), vrp::routes_of(*start_.solution));
      start_costs_.push_back(Solution(words.data(), vrp_.view().n, vrp_.view().vehicles).totals->cost);
      start_places_.push_back(made.size());
      copy(place_of_start(0), words.data(), ints_);
      stream_.synchronize();  // the words are gone then
    }
    for (std::size_t s = 0; s < made.size(); ++s) {
      evaluations_made_ += made[s].evaluations;
      if (made[s].cost < 0) continue;
      start_costs_.push_back(made[s].cost);
      start_places_.push_back(s);
    }
  }
  [[nodiscard]] std::int32_t* place_of_start(std::size_t s) const { return starts_.data() + start_places_[s] * ints_; }

  void start_processes() {
    std::vector<std::int64_t> first;
    for (std::size_t p = 0; p < processes(); ++p) {
      const std::size_t s = p % start_costs_.size();
      host_states_[p] = {};
      start_process(p, start_costs_[s], place_of_start(s));
      first.push_back(start_costs_[s]);
    }
    boundary_.emplace(task_, first);
    take_best();
  }
  /// With the solution of these words. Asynchronous; the host's states stay as they are until the next call has ended.
  void start_process(std::size_t p, std::int64_t cost, const std::int32_t* words) {
    host_states_[p].start(cost);
    copy(states_.data() + p, host_states_.data() + p, 1);
    copy(current_.data() + p * ints_, words, ints_);
    copy(incumbent_.data() + p * ints_, words, ints_);
  }
  /// The process that is to begin again with a child, and the child; its parents are the incumbents as they are now.
  using Child = std::pair<std::int32_t, Tours>;
  [[nodiscard]] std::optional<Child> born(const std::vector<std::int64_t>& incumbents) {
    if (boundary_->stop()) return std::nullopt;
    const std::optional<Birth> birth = birth_at(start_.seed, calls(), incumbents);
    if (!birth) return std::nullopt;
    const auto incumbent = [&](std::int32_t p) { return tours_at(incumbent_.data() + static_cast<std::size_t>(p) * ints_); };
    std::optional<Tours> tours = child_of(vrp_.view(), start_.seed, calls(), incumbent(birth->mother), incumbent(birth->father));
    if (!tours) return std::nullopt;
    return Child{birth->process, std::move(*tours)};
  }
  void raise(const Child& child) {
    const auto& [p, tours] = child;
    std::vector<std::int32_t> words = words_of<Solution>(vrp_.view(), tours);
    const std::int64_t cost = Solution(words.data(), vrp_.view().n, vrp_.view().vehicles).totals->cost;
    start_process(static_cast<std::size_t>(p), cost, words.data());
    stream_.synchronize();  // the words are gone then
    boundary_->began(p, cost);
    ++children_;
  }
  /// The global incumbent, if the last boundary found a better one.
  void take_best() {
    if (const std::int32_t p = boundary_->improved_by(); p >= 0)
      copy(best_.data(), incumbent_.data() + static_cast<std::size_t>(p) * ints_, ints_);
  }

  /// 100 iterations of every process, and the boundary.
  void call() {
    started_.record(stream_);
    method_.call({instance_.view(), start_.seed, states_.data(), current_.data(), incumbent_.data(), kept_.data(), next_.data()},
                 task_.processes, calls(), stream_);
    copy(kept_.data(), next_.data(), edges_);
    ended_.record(stream_);
    copy(host_states_.data(), states_.data(), processes());
    stream_.synchronize();
    seconds_ += ended_.seconds_since(started_);
    std::vector<std::int64_t> incumbents;
    for (const ProcessState& state : host_states_) incumbents.push_back(state.incumbent_cost);
    boundary_->end_call(incumbents, start_costs_);
    take_best();
    const auto child = task_.variant == Variant::genetic ? born(incumbents) : std::nullopt;
    for (std::size_t p = 0; p < processes(); ++p) {
      if (boundary_->restarts()[p] < 0) continue;
      const auto s = static_cast<std::size_t>(boundary_->restarts()[p]);
      start_process(p, start_costs_[s], place_of_start(s));
    }
    if (child) raise(*child);
    if (boundary_->stop()) polished_ = polished();
  }

  /// Of a solution on the device.
  [[nodiscard]] Tours tours_at(const std::int32_t* words_there) {
    std::vector<std::int32_t> words(ints_);
    copy(words.data(), words_there, ints_);
    stream_.synchronize();
    return tours_of(Solution(words.data(), vrp_.view().n, vrp_.view().vehicles));
  }
  /// The global incumbent after 2-opt (section 3.6).
  [[nodiscard]] Polished polished() {
    Polished result{0, tours_at(best_.data())};
    result.change = two_opt_(result.tours, stream_);
    return result;
  }
  [[nodiscard]] std::uint64_t digest() const {
    Digest digest;
    for (const ProcessState& state : host_states_) digest.add(boundary_ ? state.digest.value() : Digest{}.value());
    return digest.value();
  }

  const vrp::Vrp& vrp_;
  Task task_;
  std::size_t ints_;   ///< of a solution
  std::size_t edges_;  ///< of the history
  cuda::Stream stream_;
  cuda::Event started_, ended_;
  DeviceVrp instance_;
  cuda::DeviceBuffer<std::int32_t> kept_, next_;
  cuda::DeviceBuffer<ProcessState> states_;
  cuda::DeviceBuffer<Made> made_;
  cuda::DeviceBuffer<std::int32_t> starts_;  ///< [start], and a given solution
  cuda::DeviceBuffer<std::int32_t> current_, incumbent_, best_;
  std::vector<ProcessState> host_states_;  ///< as of the last boundary
  TwoOpt two_opt_;
  Method method_;
  Start start_ = 0;
  bool begun_ = false;
  std::vector<std::size_t> start_places_;  ///< of the starts that serve all requests
  std::vector<std::int64_t> start_costs_;
  std::int64_t evaluations_made_ = 0;  ///< for first solutions
  std::int64_t children_ = 0;
  std::optional<Boundary> boundary_;
  std::optional<Polished> polished_;  ///< at the end
  double seconds_ = 0;                ///< on the clock of the device
};

/// Prepares `Method`. The caller keeps the instance alive.
template <CallMethod Method>
[[nodiscard]] std::unique_ptr<Run> prepare_gpu(const Case& c, const Instance& instance, Variant variant = Variant::published) {
  return std::make_unique<DeviceSearchRun<DeviceProcesses<Method>>>(dynamic_cast<const vrp::Vrp&>(instance), task_of(c, variant));
}

}  // namespace vicinity::alns
