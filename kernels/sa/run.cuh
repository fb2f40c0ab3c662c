#pragma once
// The annealing's chains on the device, for the driver: start costs and temperatures, timing by events, the judgement.
#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/methods/sa/calibration.hpp"
#include "core/methods/sa/gathered.hpp"
#include "core/methods/sa/task.hpp"
#include "core/problems/qap/from_scratch.hpp"
#include "kernels/run/search_run.cuh"
#include "kernels/sa/device.cuh"

namespace vicinity::sa {

/// What runs chains on the device; made from (instance, matrices, task).
template <class M>
concept ChainMethod = requires(M& method, const M& fixed, const Chains& chains, const ChainState& state, std::int64_t count,
                               const cuda::Stream& stream) {
  typename M::Types;
  { fixed.batch_size() } -> std::same_as<std::int64_t>;  // how many chains one launch takes
  method.launch(chains, count, count, count, stream);    // chains first .. first + count - 1 up to proposal `limit`; asynchronous
  { fixed.policy() } -> std::same_as<Policy>;
  { fixed.barriers(state) } -> std::same_as<Work>;  // how often those that share a chain met, or did the like of, by the ceiling of that
};

/// The chains of a case, for the driver (kernels/run/search_run.cuh). All of them lie on the device throughout.
template <ChainMethod Method>
class DeviceChains {
 public:
  using Entry = typename Method::Types::Entry;
  using Delta = typename Method::Types::Delta;
  static constexpr std::int64_t first_slice = 1 << 14;

  /// `team`: the ranks that share the chains of a case, of which `task` has this one's; null: none. It outlives the run.
  DeviceChains(const qap::Qap& qap, const annealing::Task& task, Team* team = nullptr)
      : qap_(qap),
        task_(task),
        team_(team),
        matrices_(qap, Method::Types::sides),
        setup_(matrices_.view(), task),
        states_(chains()),
        start_(chains() * size()),
        current_(chains() * size()),
        best_(chains() * size()),
        method_(qap, matrices_.view(), task) {}

  [[nodiscard]] std::int64_t count() const { return task_.chains; }
  [[nodiscard]] std::int64_t batch_size() const { return std::min(task_.chains, method_.batch_size()); }
  [[nodiscard]] std::int64_t most_iterations() const { return task_.iterations; }

  void reset(const Start& start) {
    std::vector<std::int32_t> starts;
    seeds_.clear();
    for (std::int64_t chain = 0; chain < task_.chains; ++chain) {
      seeds_.push_back(task_.seed(start.seed, chain));
      const qap::Permutation p = annealing::start_of(qap_, task_, start, chain);
      starts.insert(starts.end(), p.begin(), p.end());
    }
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(start_.data(), starts.data(), start_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    states_.fill(0xA5, stream_);
    current_.fill(0xA5, stream_);
    best_.fill(0xA5, stream_);
    stream_.synchronize();
    begun_ = false;
    timing_ = false;
    seconds_ = 0;
  }
  /// With the first, all chains: start permutations, their costs, their temperatures.
  void begin(std::int64_t first, std::int64_t count, const std::atomic<bool>* stop = nullptr) {
    first_ = first;
    count_ = count;
    if (first > 0) return;
    const auto cooling = annealing::known_cooling(qap::FromScratch(qap_), qap_.size(), task_, stop);
    open();
    setup_.launch(view(), start_.data(), seeds_, cooling, stop, stream_);
    begun_ = true;
  }
  void launch(std::int64_t limit) {
    open();
    method_.launch(view(), first_, count_, limit, stream_);
    reached_ = limit;
  }
  [[nodiscard]] bool wait() {
    ended_.record(stream_);
    stream_.synchronize();
    seconds_ += ended_.seconds_since(started_);
    timing_ = false;
    return reached_ == task_.iterations;
  }
  [[nodiscard]] TracePoint progress() const {
    ChainState state;
    VICINITY_CUDA_CHECK(cudaMemcpy(&state, states_.data() + first_, sizeof state, cudaMemcpyDeviceToHost));
    return {.iterations = state.next, .objective = state.best_cost, .digest = state.digest.value()};
  }
  [[nodiscard]] Objective best() const {
    const std::vector<ChainState> states = states_.to_host();
    const auto first = states.begin() + first_;
    return std::min_element(first, first + count_, [](const ChainState& x, const ChainState& y) { return x.best_cost < y.best_cost; })
        ->best_cost;
  }
  [[nodiscard]] Outcome judge(bool) const {
    const std::vector<ChainState> states = states_.to_host();
    const std::vector<std::int32_t> current = current_.to_host(), best = best_.to_host();
    std::vector<annealing::Chain> results(chains());
    for (std::size_t c = 0; c < results.size(); ++c) {
      const ChainState& s = states[c];
      const auto permutation = [&](const std::vector<std::int32_t>& all) {
        return qap::Permutation(all.begin() + static_cast<std::ptrdiff_t>(c * size()),
                                all.begin() + static_cast<std::ptrdiff_t>((c + 1) * size()));
      };
      results[c] = {s.next,          s.accepted,  s.digest.value(),     s.cost,           s.best_cost,
                    s.best_proposal, s.frozen_at, permutation(current), permutation(best)};
    }
    return annealing::judge(team_, qap_, task_, results);
  }
  /// On the clock of the device, without what the host does between slices.
  [[nodiscard]] Times times(double) const { return {{Part::kernel, {seconds_, TimeSource::device}}}; }
  [[nodiscard]] Policy policy() const {
    Policy policy = method_.policy();
    policy["entry_bits"] = 8 * sizeof(Entry);
    policy["delta_bits"] = 8 * sizeof(Delta);
    return policy;
  }
  /// The latencies of chains that run one after the other; those of chains side by side hide each other. No operations: fewest that no
  /// design does without are not known. One that keeps all deltas updates n^2/2 of them a swap, which the hot phase does without; and whole
  /// rows can be rejected without looking at their proposals.
  [[nodiscard]] Work work() const {
    Work work;
    if (!begun_ || batch_size() > 1) return work;
    for (const ChainState& chain : states_.to_host())
      for (const auto& [ceiling, count] : method_.barriers(chain)) work[ceiling] += count;
    return work;
  }

 private:
  [[nodiscard]] std::size_t chains() const { return static_cast<std::size_t>(task_.chains); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(qap_.size()); }
  [[nodiscard]] Chains view() { return {states_.data(), current_.data(), best_.data()}; }
  /// The device's clock runs from here to wait().
  void open() {
    if (!std::exchange(timing_, true)) started_.record(stream_);
  }

  const qap::Qap& qap_;
  annealing::Task task_;
  Team* team_;
  cuda::Stream stream_;
  cuda::Event started_, ended_;
  DeviceMatrices<Entry> matrices_;
  Setup<typename Method::Types> setup_;
  cuda::DeviceBuffer<ChainState> states_;
  cuda::DeviceBuffer<std::int32_t> start_, current_, best_;
  Method method_;
  std::vector<std::uint64_t> seeds_;
  std::int64_t first_ = 0, count_ = 0;  ///< the batch
  std::int64_t reached_ = 0;
  bool begun_ = false, timing_ = false;
  double seconds_ = 0;
};

template <class Method>
using GpuRun = DeviceSearchRun<DeviceChains<Method>>;

/// visit(Types{}), with the smallest types that are exact for an instance.
template <class Visit>
[[nodiscard]] auto with_types(const qap::Qap& qap, const Visit& visit) {
  if (!qap.narrow()) return visit(Types<std::int32_t, std::int64_t, 2>{});
  if (!qap.bytes()) return visit(Types<std::int32_t, std::int32_t, 2>{});
  if (!qap.symmetric()) return visit(Types<std::uint8_t, std::int32_t, 2>{});
  return visit(Types<std::uint8_t, std::int32_t, 1>{});
}

/// Prepares `Method`. The caller keeps the instance alive.
template <template <class> class Method>
[[nodiscard]] std::unique_ptr<Run> prepare_gpu(const Case& c, const Instance& instance) {
  const auto& qap = dynamic_cast<const qap::Qap&>(instance);
  return with_types(qap, [&]<class T>(T) -> std::unique_ptr<Run> { return std::make_unique<GpuRun<Method<T>>>(qap, task_of(c)); });
}

}  // namespace vicinity::sa
