#pragma once
// Successor generation as a library, on a GPU: the twin of vicinity/fang.hpp, with the same results bit for bit.
//
// States stay on the device from generation to generation: DeviceStates are exchanged like the buffers of section 3.3. A call copies what
// it masks, and the parents; costs_gpu() brings back one number a state.
//
// Shared with the system `fang`: with XorShift64Star the kernel of `gpu-tuned` (assign_tuned, kernels/fang/tuned.cuh) with its launch
// policy, as they are. With XorShift1024Star the kernel below, of the same parts: the next variable (select.cuh), the block's decision and
// the search in a warp (tuned.cuh). Requirement of both: Aggregate is a whole number of 32-bit words.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_for.cuh>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/memory.cuh"
#include "kernels/fang/run.cuh"
#include "kernels/fang/select.cuh"
#include "kernels/fang/tuned.cuh"
#include "vicinity/fang.hpp"

namespace vicinity::fang {

/// Threads of a block of assign_drawn.
inline constexpr int drawn_block = 256;

/// Assigns the active variables of one type with any generator. Mapping: one block a state; group-stride loops over the possibilities, then
/// contiguous segments of 32 a thread. Synchronisation: block barriers, four a variable and one more in a permuted order. Cost: two ratings
/// a possibility, none stored; the state is read and written in device memory.
template <Generator G, LocalHeuristic H>
__global__ void __launch_bounds__(drawn_block) assign_drawn(const H h, const Pass pass) {
  using Aggregate = typename H::Aggregate;
  extern __shared__ std::uint64_t segments[];  // sum of the weights of each 32 possibilities
  constexpr std::uint32_t warps = drawn_block / 32;
  __shared__ alignas(Aggregate) unsigned char aggregate_bytes[warps * sizeof(Aggregate)];
  __shared__ std::uint64_t warp_sums[32], shared_random;
  __shared__ std::uint32_t choice;
  __shared__ G generator;  // of thread 0
  auto* aggregates = reinterpret_cast<Aggregate*>(aggregate_bytes);

  const std::uint32_t s = blockIdx.x, thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  std::int32_t* state = pass.targets.words + std::size_t{s} * pass.targets.state_words;
  std::uint32_t* active = pass.targets.active + std::size_t{s} * pass.targets.active_words + pass.active_offset;
  const std::uint64_t successor = pass.targets.successors[s];
  if (thread == 0) generator = seeded<G>(successor);

  std::uint32_t variable = 0;
  while ((variable = next_variable(active, pass.variables, pass.order, successor, variable / 32, &choice)) != no_variable) {
    const auto context = h.context(state, variable);
    const std::uint32_t count = h.possibilities(context), segment_count = divide_up(count, 32);
    Aggregate aggregate = h.create();
    for (std::uint32_t p = thread; p < count; p += drawn_block) aggregate = h.aggregate(aggregate, h.rate(context, p));
    aggregate = combine_warp(h, aggregate);
    if (lane == 0) aggregates[warp] = aggregate;
    if (thread == 0) shared_random = generator.peek();
    __syncthreads();
    aggregate = combine_warp(h, lane < warps ? aggregates[lane] : h.create());

    const auto weight = [&](std::uint32_t p) { return static_cast<std::uint64_t>(h.weight(h.rate(context, p), aggregate)); };
    for (std::uint32_t segment = warp; segment < segment_count; segment += warps) {
      const std::uint32_t p = segment * 32 + lane;
      const std::uint64_t sum = cuda::shuffled_sum(p < count ? weight(p) : std::uint64_t{0});
      if (lane == 0) segments[segment] = sum;
    }
    __syncthreads();
    const std::uint32_t chunk = divide_up(segment_count, drawn_block), first = min(thread * chunk, segment_count),
                        share = min(chunk, segment_count - first);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < share; ++i) sum += segments[first + i];
    const Decision<std::uint64_t> decision = decide_in_block(sum, &shared_random, warp_sums);
    if (thread == 0) {
      if (decision.total == 0)
        h.could_not_assign(state, variable);
      else
        generator.next();
    }
    if (decision.mine) {
      std::uint64_t rest = decision.rest;
      std::uint32_t segment = __shfl_sync(full_warp, first, decision.lane);
      while (rest >= segments[segment]) rest -= segments[segment++];
      const std::uint32_t base = segment * 32;
      const std::uint32_t chosen = base + find_in_warp(min(32u, count - base), rest, [&](std::uint32_t i) { return weight(base + i); });
      if (lane == 0) h.assign(state, variable, chosen);
    }
    if (thread == 0) active[variable / 32] &= ~(1u << (variable % 32));
    __syncthreads();
  }
  if (thread == 0) pass.targets.successors[s] = kept(generator);
}

/// A call's arrays on the device; null for what stands for all.
struct CallView {
  const std::uint32_t *parents, *states, *active;
  std::uint32_t successors;
  bool each;  ///< a row of `active` for each target
  std::uint64_t seed;
};

/// Steps 1 and 2 of section 3.3, and the active variables. One thread a word; bytes read and written once.
inline void clone_parents(const StatesView& sources, const StatesView& targets, const CallView& call, const cuda::Stream& stream) {
  const std::uint32_t words = targets.state_words, active_words = targets.active_words, stride = words + active_words + 1;
  const auto clone_word = [=] __device__(std::uint64_t index) {
    const auto t = static_cast<std::uint32_t>(index / stride), w = static_cast<std::uint32_t>(index % stride);
    if (w < words) {
      const std::uint32_t parent = call.parents == nullptr ? t / call.successors : call.parents[t];
      targets.words[std::size_t{t} * words + w] = sources.words[std::size_t{parent} * words + w];
    } else if (w + 1 < stride) {
      const bool takes_part = call.states == nullptr || is_set(call.states, t);
      const std::size_t row = std::size_t{t} * active_words;
      targets.active[row + w - words] = takes_part ? call.active[(call.each ? row : 0) + w - words] : 0;
    } else {
      targets.successors[t] = successor_value(call.seed, t);
    }
  };
  VICINITY_CUDA_CHECK(cub::DeviceFor::Bulk(std::uint64_t{targets.count} * stride, clone_word, stream.get()));
}

/// One thread a state.
template <class Cost>
void find_costs(const Cost& cost, const StatesView& states, std::int64_t* costs, const cuda::Stream& stream) {
  const auto one = [=] __device__(std::uint32_t s) { costs[s] = cost(states.words + std::size_t{s} * states.state_words); };
  VICINITY_CUDA_CHECK(cub::DeviceFor::Bulk(states.count, one, stream.get()));
}

/// A domain on the current device: its arrays, copied once, a stream, and buffers for the masks, which grow as calls need. Calls follow
/// each other on the stream. The domain must live as long. Errors: DoesNotFit where memory lacks, CudaError.
template <StateDomain D>
class PlacedDomain {
 public:
  explicit PlacedDomain(const D& domain)
      : types_(domain.types().begin(), domain.types().end()),
        state_words_(domain.state_words()),
        heuristics_(domain.heuristics([this](auto array) { return place(array); })),
        domain_(domain) {
    check_weights(heuristics_);
    int device = 0;
    VICINITY_CUDA_CHECK(cudaGetDevice(&device));
    VICINITY_CUDA_CHECK(cudaGetDeviceProperties(&device_, device));
  }
  PlacedDomain(const PlacedDomain&) = delete;
  PlacedDomain& operator=(const PlacedDomain&) = delete;

  /// `count` states in device memory. Source states: DeviceStates::assign(states, stream()); results: to_host() after synchronize().
  [[nodiscard]] DeviceStates make_states(std::uint32_t count) const { return {count, state_words_, active_words(types_)}; }
  [[nodiscard]] const cuda::Stream& stream() const { return stream_; }
  void synchronize() const { stream_.synchronize(); }

  /// See assign_gpu.
  template <Generator G>
  void assign(const DeviceStates& sources, DeviceStates& targets, const Generation& call) {
    require(&sources != &targets, "sources and targets are one buffer");
    const CallTables tables = call_tables(types_, sources.view().count, targets.view().count, call);
    for (const StatesView& view : {sources.view(), targets.view()})
      require(view.state_words == state_words_ && view.active_words == tables.offsets.back(),
              "states of another domain: make_states() gives the sizes");
    const std::uint32_t *parents = upload(parents_, call.parents), *states = upload(states_, call.states),
                        *active = upload(active_, tables.active);
    const bool each = tables.active.size() > tables.offsets.back();
    clone_parents(sources.view(), targets.view(), {parents, states, active, tables.successors, each, call.seed}, stream_);
    const std::uint32_t *first = upload(first_, tables.first), *allowed = upload(allowed_, tables.allowed);
    for_each_type(heuristics_, tables, first, allowed, [&](const auto& h, std::uint32_t type) {
      launch<G>(h, Pass{targets.view(), tables.offsets[type], types_[type].variables, types_[type].possibilities, call.order});
    });
  }

  /// See costs_gpu.
  [[nodiscard]] std::vector<std::int64_t> costs(const DeviceStates& states) {
    const std::uint32_t count = states.view().count;
    if (costs_.size() != count) costs_ = cuda::DeviceBuffer<std::int64_t>(count);
    find_costs(domain_.cost([this](auto array) { return place(array); }), states.view(), costs_.data(), stream_);
    synchronize();
    return costs_.to_host();
  }

 private:
  struct Placed {
    const void* host;
    std::size_t bytes;
    std::shared_ptr<void> buffer;
    const void* device;
  };

  /// An array is copied once, however many functors read it.
  template <class T>
  const T* place(std::span<const T> host) {
    for (const Placed& known : placed_)
      if (known.host == host.data() && known.bytes == host.size_bytes()) return static_cast<const T*>(known.device);
    auto buffer = std::make_shared<cuda::DeviceBuffer<T>>(host);
    placed_.push_back({host.data(), host.size_bytes(), buffer, buffer->data()});
    table_bytes_ += host.size_bytes();
    return buffer->data();
  }

  /// Copies a call's array into a buffer that is kept; null for an empty one.
  const std::uint32_t* upload(cuda::DeviceBuffer<std::uint32_t>& buffer, std::span<const std::uint32_t> host) {
    if (host.empty()) return nullptr;
    if (buffer.size() < host.size()) buffer = cuda::DeviceBuffer<std::uint32_t>(host.size());
    VICINITY_CUDA_CHECK(cudaMemcpyAsync(buffer.data(), host.data(), host.size_bytes(), cudaMemcpyHostToDevice, stream_.get()));
    return buffer.data();
  }

  template <Generator G, LocalHeuristic H>
  void launch(const H& h, const Pass& pass) {
    if constexpr (std::same_as<G, XorShift64Star>) {
      launch_tuned(h, pass, tuned_policy(h, pass, table_bytes_, device_), stream_);
    } else {
      const std::size_t bytes = divide_up(pass.possibilities, 32) * sizeof(std::uint64_t);  // 24 KB at most
      assign_drawn<G><<<pass.targets.count, drawn_block, bytes, stream_.get()>>>(h, pass);
      VICINITY_CUDA_CHECK(cudaGetLastError());
    }
  }
  cuda::Stream stream_;
  std::vector<VariableType> types_;
  std::uint32_t state_words_;
  std::vector<Placed> placed_;   // the domain's arrays
  std::size_t table_bytes_ = 0;  // theirs
  decltype(std::declval<const D&>().heuristics(OnHost{})) heuristics_;
  const D& domain_;
  cudaDeviceProp device_{};
  cuda::DeviceBuffer<std::uint32_t> parents_, states_, active_, first_, allowed_;
  cuda::DeviceBuffer<std::int64_t> costs_;
};

/// assign_cpu on the device: the same targets, bit for bit. `sources` and `targets` are of domain.make_states(count). Asynchronous: the
/// spans of `call` are free again when it returns, the targets are there after domain.synchronize(). Errors: InputError before anything is
/// launched, DoesNotFit, CudaError.
template <Generator G = XorShift64Star, StateDomain D>
void assign_gpu(PlacedDomain<D>& domain, const DeviceStates& sources, DeviceStates& targets, const Generation& call) {
  domain.template assign<G>(sources, targets, call);
}

/// costs_cpu of states on the device; waits for them.
template <CostDomain D>
[[nodiscard]] std::vector<std::int64_t> costs_gpu(PlacedDomain<D>& domain, const DeviceStates& states) {
  return domain.costs(states);
}

/// Generates `targets` states from `sources` on both sides. Empty where they agree; else the first difference, of the CPU and the GPU.
template <Generator G = XorShift64Star, StateDomain D>
[[nodiscard]] std::string verify(const D& domain, const States& sources, std::uint32_t targets, const Generation& call) {
  States expected = make_states(domain, targets);
  assign_cpu<G>(domain, sources, expected, call);
  PlacedDomain placed(domain);
  DeviceStates from = placed.make_states(sources.count), to = placed.make_states(targets);
  from.assign(sources, placed.stream());
  to.poison(placed.stream());
  assign_gpu<G>(placed, from, to, call);
  placed.synchronize();
  return first_difference(expected, to.to_host());
}

}  // namespace vicinity::fang
