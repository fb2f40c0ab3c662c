#pragma once
// What the annealing's CUDA implementations share around their kernels: chains on the device, start costs and temperatures, slices,
// timing by events, the judgement.
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/methods/sa/task.hpp"
#include "kernels/sa/setup.cuh"

namespace vicinity::sa {

/// A Method is made from (instance, matrices, task); it has launch(chains, first, count, limit, stream), which takes chains first .. first
/// + count - 1 up to proposal `limit`, batch_size() - how many chains one launch takes -, and policy().
template <class Method>
class GpuRun final : public Run {
 public:
  using Entry = typename Method::Types::Entry;
  using Delta = typename Method::Types::Delta;

  GpuRun(const qap::Qap& qap, const annealing::Task& task)
      : qap_(qap),
        task_(task),
        matrices_(qap, Method::Types::sides),
        setup_(matrices_.view(), task),
        states_(chains()),
        start_(chains() * size()),
        current_(chains() * size()),
        best_(chains() * size()),
        method_(qap, matrices_.view(), task) {}

  void reset(std::uint64_t seed) override {
    std::vector<std::int32_t> starts;
    seeds_.clear();
    for (std::int64_t chain = 0; chain < task_.chains; ++chain) {
      seeds_.push_back(task_.seed(seed, chain));
      const qap::Permutation p = annealing::start_of(qap_, seeds_.back());
      starts.insert(starts.end(), p.begin(), p.end());
    }
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(start_.data(), starts.data(), start_.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    states_.fill(0xA5, stream_);
    current_.fill(0xA5, stream_);
    best_.fill(0xA5, stream_);
    stream_.synchronize();
    begun_ = false;
    done_ = 0;
    reached_ = 0;
  }

  void execute() override {
    started_.record(stream_);
    begin();
    for (std::int64_t first = 0; first < task_.chains; first += batch_size()) launch(first, task_.iterations);
    ended_.record(stream_);
    stream_.synchronize();
    done_ = task_.chains;
  }

  [[nodiscard]] bool advance(double seconds) override {
    const auto start = std::chrono::steady_clock::now();
    if (!begun_) begin();
    while (done_ < task_.chains) {
      const std::int64_t limit = std::min(task_.iterations, reached_ + step_);
      const auto before = std::chrono::steady_clock::now();
      launch(done_, limit);
      stream_.synchronize();
      const auto now = std::chrono::steady_clock::now();
      const double slice = std::chrono::duration<double>(now - before).count();
      if (slice < seconds / 4) step_ *= 2;
      if (slice > seconds && step_ > 1024) step_ /= 2;
      reached_ = limit;
      if (limit == task_.iterations) {
        done_ += batch_size();
        reached_ = 0;
      }
      if (std::chrono::duration<double>(now - start).count() > seconds) break;
    }
    return done_ < task_.chains;
  }

  [[nodiscard]] Times times() const override { return {{"kernel", ended_.seconds_since(started_)}}; }

  [[nodiscard]] Outcome outcome() override {
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
    return annealing::judge(qap_, task_, results);
  }

  [[nodiscard]] Policy policy() const override {
    Policy policy = method_.policy();
    policy["entry_bits"] = 8 * sizeof(Entry);
    policy["delta_bits"] = 8 * sizeof(Delta);
    return policy;
  }
  [[nodiscard]] Work work() const override {
    if (!begun_) return {};
    std::int64_t proposals = 0, accepted = 0;
    for (const ChainState& chain : states_.to_host()) {
      proposals += chain.next;
      accepted += chain.accepted;
    }
    return {{"integer", annealing::fewest_operations(qap_, proposals, accepted)}};
  }

 private:
  [[nodiscard]] std::size_t chains() const { return static_cast<std::size_t>(task_.chains); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(qap_.size()); }
  [[nodiscard]] std::int64_t batch_size() const { return std::min(task_.chains, method_.batch_size()); }
  [[nodiscard]] Chains view() { return {states_.data(), current_.data(), best_.data()}; }

  /// Start permutations, their costs, their temperatures.
  void begin() {
    setup_.launch(view(), start_.data(), seeds_, stream_);
    begun_ = true;
  }
  void launch(std::int64_t first, std::int64_t limit) {
    method_.launch(view(), first, std::min(batch_size(), task_.chains - first), limit, stream_);
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }

  const qap::Qap& qap_;
  annealing::Task task_;
  cuda::Stream stream_;
  cuda::Event started_, ended_;
  DeviceMatrices<Entry> matrices_;
  Setup<typename Method::Types> setup_;
  cuda::DeviceBuffer<ChainState> states_;
  cuda::DeviceBuffer<std::int32_t> start_, current_, best_;
  Method method_;
  std::vector<std::uint64_t> seeds_;
  bool begun_ = false;
  std::int64_t done_ = 0, reached_ = 0, step_ = 1 << 14;
};

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
