#pragma once
// What FANG's CUDA implementations share around their kernels: the domain's arrays on the device, source and target
// buffers, the clone step, timing by events, and the judgement of the result.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_for.cuh>
#include <memory>
#include <utility>
#include <variant>

#include "core/problems/fang_domains/states.hpp"
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::fang {

/// State buffers in device memory.
class DeviceStates {
 public:
  DeviceStates(std::uint32_t count, std::uint32_t state_words, std::uint32_t active_words)
      : words_(std::size_t{count} * state_words), active_(std::size_t{count} * active_words), successors_(count), view_{words_.data(),
                                                                                                                        active_.data(),
                                                                                                                        successors_.data(),
                                                                                                                        count,
                                                                                                                        state_words,
                                                                                                                        active_words} {}

  [[nodiscard]] const StatesView& view() const noexcept { return view_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return words_.bytes() + active_.bytes() + successors_.bytes(); }
  void poison(const cuda::Stream& stream) {
    words_.fill(0xA5, stream);
    active_.fill(0xA5, stream);
    successors_.fill(0xA5, stream);
  }
  void assign(const States& host, const cuda::Stream& stream) {
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(words_.data(), host.words.data(), words_.bytes(), cudaMemcpyHostToDevice, stream.get()));
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(active_.data(), host.active.data(), active_.bytes(), cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
  }
  [[nodiscard]] States to_host() const {
    States host(view_.count, view_.state_words, view_.active_words);
    host.words = words_.to_host();
    host.active = active_.to_host();
    host.successors = successors_.to_host();
    return host;
  }

 private:
  cuda::DeviceBuffer<std::int32_t> words_;
  cuda::DeviceBuffer<std::uint32_t> active_;
  cuda::DeviceBuffer<std::uint64_t> successors_;
  StatesView view_;
};

/// Step 1 and 2 of section 3.3: clones every source into its successors and gives each its successor value. One thread a
/// word; bytes read and written once.
inline void clone_states(const StatesView& sources, const StatesView& targets, std::uint32_t successors, std::uint64_t seed,
                         const cuda::Stream& stream) {
  const std::uint32_t words = targets.state_words, stride = words + targets.active_words + 1;
  const auto clone_word = [=] __device__(std::uint64_t index) {
    const auto target = static_cast<std::uint32_t>(index / stride), word = static_cast<std::uint32_t>(index % stride),
               source = target / successors;
    if (word < words)
      targets.words[std::size_t{target} * words + word] = sources.words[std::size_t{source} * words + word];
    else if (word + 1 < stride)
      targets.active[std::size_t{target} * targets.active_words + word - words] =
          sources.active[std::size_t{source} * targets.active_words + word - words];
    else
      targets.successors[target] = successor_value(seed, target);
  };
  VICINITY_CUDA_CHECK(cub::DeviceFor::Bulk(std::uint64_t{targets.count} * stride, clone_word, stream.get()));
}

/// One pass over the states of a variable type: everything a launch needs beside the heuristic.
struct Pass {
  StatesView targets;
  std::uint32_t active_offset, variables, possibilities;
  Order order;
};

/// What assigns the variables; constructed from (domain, its heuristics, number of states, bytes of the domain's arrays), allocates its
/// storage, and has launch(heuristic, pass, stream) for the heuristic of each variable type.
template <class M>
concept SuccessorMethod = requires(M& method, const M& fixed, const cuda::Stream& stream) {
  method.poison(stream);
  { fixed.policy() } -> std::same_as<Policy>;
  { fixed.storage_bytes() } -> std::convertible_to<std::size_t>;
  { fixed.rating_bytes() } -> std::convertible_to<double>;  // what a rating must move through device memory
};

template <Domain D, template <class> class Method>
requires SuccessorMethod<Method<D>>
class GpuRun final : public Run {
 public:
  GpuRun(const Successors& instance, const D& domain)
      : instance_(instance),
        domain_(domain),
        offsets_(active_offsets(domain)),
        heuristics_(domain.heuristics([this](auto span) { return place(span); })),
        host_sources_(make_sources(domain, instance, 0)),
        sources_(host_sources_.count, host_sources_.state_words, host_sources_.active_words),
        method_(domain, heuristics_, instance.states, table_bytes_) {
    static_cast<void>(set_batch(1));
  }

  void reset(const Start& start) override {
    seed_ = start.seed;
    host_sources_ = make_sources(domain_, instance_, seed_);
    sources_.assign(host_sources_, stream_);
    for (auto& targets : targets_) targets.poison(stream_);
    method_.poison(stream_);
    stream_.synchronize();
  }

  bool execute(const Budget&) override {
    start_.record(stream_);
    for (auto& targets : targets_) clone_states(sources_.view(), targets.view(), instance_.successors, seed_, stream_);
    cloned_.record(stream_);
    for (auto& targets : targets_)
      std::apply(
          [&](const auto&... heuristic) {
            std::uint32_t type = 0;
            (launch(heuristic, targets.view(), type++), ...);
          },
          heuristics_);
    end_.record(stream_);
    stream_.synchronize();
    return false;
  }

  [[nodiscard]] Times times() const override {
    const auto batch = static_cast<double>(targets_.size());
    return {{Part::clone, {cloned_.seconds_since(start_) / batch, TimeSource::device}},
            {Part::kernel, {end_.seconds_since(cloned_) / batch, TimeSource::device}}};
  }

  [[nodiscard]] Outcome outcome() override {
    Outcome outcome = judge(domain_, instance_, host_sources_, targets_.back().to_host());
    outcome.counters = {{"kernel_launches", static_cast<std::int64_t>(domain_.types().size())},
                        {"device_bytes", static_cast<std::int64_t>(sources_.bytes() + targets_.back().bytes() + method_.storage_bytes())}};
    return outcome;
  }

  [[nodiscard]] bool set_batch(int batch) override {
    while (targets_.size() > static_cast<std::size_t>(batch)) targets_.pop_back();
    while (targets_.size() < static_cast<std::size_t>(batch))
      targets_.emplace_back(instance_.states, host_sources_.state_words, host_sources_.active_words);
    return true;
  }

  [[nodiscard]] Policy policy() const override { return method_.policy(); }
  [[nodiscard]] Work work() const override {
    const auto ratings = static_cast<double>(count_evaluations(domain_, host_sources_, instance_));
    Work work = domain_.rating_work();
    for (auto& [kind, amount] : work) amount *= ratings;
    if (method_.rating_bytes() > 0) work[Ceiling::copy_bandwidth] = method_.rating_bytes() * ratings;
    return work;
  }

 private:
  template <class T>
  const T* place(std::span<const T> host) {
    auto buffer = std::make_shared<cuda::DeviceBuffer<T>>(host);
    placed_.push_back(buffer);
    table_bytes_ += buffer->bytes();
    return buffer->data();
  }
  template <LocalHeuristic H>
  void launch(const H& heuristic, const StatesView& targets, std::uint32_t type) {
    const VariableType& size = domain_.types()[type];
    method_.launch(heuristic, Pass{targets, offsets_[type], size.variables, size.possibilities, instance_.order}, stream_);
  }

  const Successors& instance_;
  const D& domain_;
  cuda::Stream stream_;
  cuda::Event start_, cloned_, end_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::shared_ptr<void>> placed_;  // the domain's arrays
  std::size_t table_bytes_ = 0;                // theirs; set while heuristics_ is made
  Heuristics<D> heuristics_;
  States host_sources_;
  DeviceStates sources_;
  std::vector<DeviceStates> targets_;
  Method<D> method_;
  std::uint64_t seed_ = 0;
};

/// Prepares `Method` for any domain. The caller keeps the instance alive.
template <template <class> class Method>
[[nodiscard]] std::unique_ptr<Run> prepare_gpu(const Case&, const Instance& instance) {
  const auto& successors = dynamic_cast<const Successors&>(instance);
  return std::visit(
      [&]<class D>(const D& domain) -> std::unique_ptr<Run> { return std::make_unique<GpuRun<D, Method>>(successors, domain); },
      successors.domain);
}

}  // namespace vicinity::fang
