#pragma once
// The algorithm as published (Algorithms 1-4), errata mended; docs/errata.md lists them.
#include <cstdint>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <tuple>

#include "kernels/fang/run.cuh"
#include "kernels/fang/select.cuh"

namespace vicinity::fang {

/// Launch policy, used by kernel and launch alike.
struct PublishedPolicy {
  static constexpr int block = 256;
  static constexpr int registers = 40;  ///< so that 6 blocks fit a multiprocessor of 64 K registers
};

/// Global storage of all states: [states][possibilities] each (section 3.2).
template <class Rating>
struct Storage {
  Rating* ratings;  ///< null when ratings are recomputed
  std::uint64_t* prefix_sums;
};

/// Mapping: one block a state; group-stride loops over the possibilities. Synchronisation: block barriers only. Cost per
/// possibility: a rating (two with Recompute), 8 bytes written, and 2 * sizeof(Rating) moved unless Recompute; a block-wide
/// scan and one barrier for every `block` possibilities.
template <LocalHeuristic H, bool Recompute>
__global__ void __maxnreg__(PublishedPolicy::registers)
    assign_published(const H h, const Pass pass, const Storage<typename H::Rating> storage) {
  constexpr int block = PublishedPolicy::block;
  using Aggregate = typename H::Aggregate;
  using Reduce = cub::BlockReduce<Aggregate, block>;
  using Scan = cub::BlockScan<std::uint64_t, block, cub::BLOCK_SCAN_WARP_SCANS>;
  extern __shared__ std::uint64_t segments[];  // inclusive prefix sum at the end of each warp's possibilities
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan[2];  // alternating, so that one barrier a stride is enough
  } scratch;
  __shared__ alignas(Aggregate) unsigned char shared_aggregate[sizeof(Aggregate)];
  __shared__ std::uint32_t choice, target_segment;

  const std::uint32_t s = blockIdx.x, thread = threadIdx.x;
  std::int32_t* state = pass.targets.words + std::size_t{s} * pass.targets.state_words;
  std::uint32_t* active = pass.targets.active + std::size_t{s} * pass.targets.active_words + pass.active_offset;
  typename H::Rating* ratings = Recompute ? nullptr : storage.ratings + std::size_t{s} * pass.possibilities;
  std::uint64_t* prefix_sums = storage.prefix_sums + std::size_t{s} * pass.possibilities;
  std::uint64_t successor = pass.targets.successors[s];
  const std::uint64_t order_seed = successor;

  std::uint32_t variable = 0;
  while ((variable = next_variable(active, pass.variables, pass.order, order_seed, variable / 32, &choice)) != no_variable) {
    const auto context = h.context(state, variable);
    const std::uint32_t count = h.possibilities(context);

    // Algorithm 2: rate all, store, aggregate.
    Aggregate aggregate = h.create();
    for (std::uint32_t p = thread; p < count; p += block) {
      const auto rating = h.rate(context, p);
      if constexpr (!Recompute) ratings[p] = rating;
      aggregate = h.aggregate(aggregate, rating);
    }
    aggregate = Reduce(scratch.reduce).Reduce(aggregate, [&h](const Aggregate& a, const Aggregate& b) { return h.combine(a, b); });
    if (thread == 0) *reinterpret_cast<Aggregate*>(shared_aggregate) = aggregate;
    __syncthreads();
    aggregate = *reinterpret_cast<const Aggregate*>(shared_aggregate);

    // Algorithm 3: map, prefix sum over the weights, segment bounds. Loop bounds are padded: every thread takes part.
    std::uint64_t lower = 0;
    std::uint32_t parity = 0;
    for (std::uint32_t base = 0; base < count; base += block, parity ^= 1) {
      const std::uint32_t p = base + thread;
      std::uint64_t weight = 0, prefix = 0, sum = 0;
      if (p < count) weight = h.weight(Recompute ? h.rate(context, p) : ratings[p], aggregate);
      Scan(scratch.scan[parity]).InclusiveSum(weight, prefix, sum);
      prefix += lower;
      if (p < count) prefix_sums[p] = prefix;
      if (thread % 32 == 31) segments[p / 32] = prefix;
      lower += sum;
    }
    if (thread == 0) target_segment = no_variable;
    __syncthreads();

    if (lower == 0) {
      if (thread == 0) h.could_not_assign(state, variable);
    } else {
      // Algorithm 4: linear group-stride search of the segment with left <= v < right.
      const std::uint64_t v = decide(successor, lower);
      const std::uint32_t segment_count = divide_up(count, 32);
      for (std::uint32_t i = thread; i < segment_count; i += block) {
        const std::uint64_t left = i == 0 ? 0 : segments[i - 1];
        if (left <= v && v < segments[i]) target_segment = i;
      }
      __syncthreads();
      // The first warp searches the segment; one lane wins.
      if (thread < 32) {
        const std::uint32_t p = target_segment * 32 + thread;
        if (p < count) {
          const std::uint64_t left = p == 0 ? 0 : prefix_sums[p - 1];
          if (left <= v && v < prefix_sums[p]) h.assign(state, variable, p);
        }
      }
    }
    if (thread == 0) active[variable / 32] &= ~(1u << (variable % 32));
    __syncthreads();
  }
  if (thread == 0) pass.targets.successors[s] = successor;
}

/// Method of GpuRun (kernels/fang/run.cuh).
template <Domain D, bool Recompute>
class Published {
 public:
  Published(const D& domain, const Heuristics<D>& heuristics, std::uint32_t states, std::size_t) {
    std::uint32_t most = 0;
    for (const VariableType& type : domain.types()) most = std::max(most, type.possibilities);
    std::size_t rating_size = 0;
    std::apply([&](const auto&... h) { rating_size = std::max({sizeof(typename std::decay_t<decltype(h)>::Rating)...}); }, heuristics);
    if (Recompute) rating_size = 0;
    // Equation 1: max |R| * |X| * (sizeof(rating) + 8), checked against the free memory as a whole.
    const std::size_t entries = std::size_t{most} * states, needed = entries * (rating_size + sizeof(std::uint64_t));
    std::size_t free = 0, total = 0;
    VICINITY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    if (needed > free)
      throw DoesNotFit("equation 1: " + std::to_string(most) + " possibilities x " + std::to_string(states) + " states x " +
                       std::to_string(rating_size + sizeof(std::uint64_t)) + " bytes = " + cuda::gigabytes(needed) + " of device memory, " +
                       cuda::gigabytes(free) + " are free");
    ratings_ = cuda::DeviceBuffer<unsigned char>(entries * rating_size);
    prefix_sums_ = cuda::DeviceBuffer<std::uint64_t>(entries);
    rating_bytes_ = static_cast<double>(rating_size + sizeof(std::uint64_t));
  }

  template <LocalHeuristic H>
  void launch(const H& h, const Pass& pass, const cuda::Stream& stream) {
    using Rating = typename H::Rating;
    const std::size_t segments = std::size_t{divide_up(pass.possibilities, PublishedPolicy::block)} * (PublishedPolicy::block / 32);
    assign_published<H, Recompute><<<pass.targets.count, PublishedPolicy::block, segments * sizeof(std::uint64_t), stream.get()>>>(
        h, pass, Storage<Rating>{reinterpret_cast<Rating*>(ratings_.data()), prefix_sums_.data()});
    VICINITY_CUDA_CHECK(cudaGetLastError());
  }

  void poison(const cuda::Stream& stream) {
    ratings_.fill(0xA5, stream);
    prefix_sums_.fill(0xA5, stream);
  }
  [[nodiscard]] Policy policy() const { return {{"block", PublishedPolicy::block}, {"recompute", Recompute}}; }
  [[nodiscard]] std::size_t storage_bytes() const { return ratings_.bytes() + prefix_sums_.bytes(); }
  [[nodiscard]] double rating_bytes() const { return rating_bytes_; }

 private:
  cuda::DeviceBuffer<unsigned char> ratings_;
  cuda::DeviceBuffer<std::uint64_t> prefix_sums_;
  double rating_bytes_ = 0;
};

template <class D>
using PublishedStoring = Published<D, false>;
template <class D>
using PublishedRecomputing = Published<D, true>;

}  // namespace vicinity::fang
