#pragma once
// Launches of the tuned annealing: the hot phase, then rows, without the host in between.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/api/device.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/sa/run.cuh"
#include "kernels/sa/tuned/products.cuh"
#include "kernels/sa/tuned/rows_kernel.cuh"
#include "kernels/sa/tuned/tuned_run.hpp"

namespace vicinity::sa {

/// The parts of the machine that a chain of size n may get, the best first. Measured on an H100 (kernels/sa/README.md). VICINITY_CHAIN
/// (block, cluster or grid) leaves only that one, for tests.
[[nodiscard]] inline std::vector<RowsPolicy> rows_policies(std::int32_t n, std::int64_t chains) {
  constexpr std::int32_t small = 32, cluster = 16;
  const device::Info gpu = *device::info();
  const std::int32_t team = RowsPolicy::of(n, Space::block, 1, 1).team;
  const RowsPolicy block = RowsPolicy::of(n, Space::block, 1, std::max(RowsPolicy::most_scanners / team, 1));
  std::vector<RowsPolicy> policies;
  if (gpu.compute_capability >= 90)
    for (const std::int32_t blocks : {cluster, cluster / 2}) policies.push_back(RowsPolicy::of(n, Space::cluster, blocks, 1));
  const bool scarce = chains > gpu.multiprocessors / cluster;  // more chains than clusters run at a time
  policies.insert(n <= small || scarce ? policies.begin() : policies.end(), block);
  if (chains == 1) policies.push_back(RowsPolicy::of(n, Space::grid, gpu.multiprocessors, 1));
  if (const char* only = std::getenv("VICINITY_CHAIN"); only != nullptr && *only != '\0')
    std::erase_if(policies, [&](const RowsPolicy& policy) { return name_of(policy.space) != std::string(only); });
  return policies;
}

/// gpu-tuned (one chain at a time) and gpu-chains (all at once).
template <class T, bool Many>
class Tuned {
 public:
  using Types = T;
  using Entry = typename T::Entry;
  using Delta = typename T::Delta;

  Tuned(const qap::Qap&, const DeviceQap<Entry>& matrices, const annealing::Task& task)
      : matrices_(matrices),
        policy_(choose(matrices, Many ? task.chains : 1)),
        storage_(policy_, matrices.n, matrices.pitch),
        together_(Many ? task.chains : 1),
        h_(chains() * size() * size()),
        inbox_(policy_.space == Space::grid ? chains() * static_cast<std::size_t>(inbox_words<Delta>(policy_.pitch)) : 0),
        board_(policy_.space == Space::grid ? chains() * 2 * static_cast<std::size_t>(policy_.blocks) : 0),
        permuted_(chains() * Types::sides * size() * static_cast<std::size_t>(matrices.pitch)) {
    cuda::allow_shared(hot_kernel<Types>, hot_bytes());
  }

  void launch(const Chains& chains, std::int64_t first, std::int64_t count, std::int64_t limit, const cuda::Stream& stream) {
    const auto together = static_cast<unsigned>(count);
    permute_kernel<Types>
        <<<dim3(static_cast<unsigned>(matrices_.n), together), 256, 0, stream.get()>>>(matrices_, chains, first, permuted_.data());
    hot_kernel<Types><<<together, HotPolicy::threads, hot_bytes(), stream.get()>>>(matrices_, chains, permuted_.data(), first, limit);
    const auto tiles = static_cast<unsigned>(divide_up(matrices_.n, 32));
    products_kernel<Types><<<dim3(tiles, tiles, together), 256, 0, stream.get()>>>(matrices_, permuted_.data(), h_.data());
    inbox_.fill(0, stream);
    board_.fill(0, stream);
    launch_rows(together, chains, first, limit, stream);
  }

  [[nodiscard]] std::int64_t batch_size() const { return together_; }
  [[nodiscard]] Policy policy() const {
    return {{"hot_threads", HotPolicy::threads},
            {"threads", policy_.threads()},
            {"teams", policy_.teams},
            {"blocks", policy_.blocks},
            {"cluster", policy_.space == Space::cluster ? policy_.blocks : 0},
            {"matrices_in_shared", static_cast<std::int64_t>(policy_.resident)},
            {"shared_bytes", storage_.bytes}};
  }

 private:
  [[nodiscard]] std::size_t chains() const { return static_cast<std::size_t>(together_); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(matrices_.n); }

  /// The first policy that fits this GPU, with B and then A in shared memory where there is room.
  [[nodiscard]] static RowsPolicy choose(const DeviceQap<Entry>& matrices, std::int64_t chains) {
    const std::size_t most = cuda::most_shared();
    for (RowsPolicy policy : rows_policies(matrices.n, chains)) {
      const auto fits = [&](Resident resident) {
        constexpr std::uint32_t reserve = 2048;  // what the kernel declares itself
        policy.resident = resident;
        return RowsStorage<Types>(policy, matrices.n, matrices.pitch).bytes + reserve <= most;
      };
      if (matrices.n > RowsPolicy::largest_size || policy.threads() > RowsPolicy::most_threads || !fits(Resident::none)) continue;
      if (policy.columns == 1 && !fits(Resident::both) && !fits(Resident::b)) policy.resident = Resident::none;
      if (launchable(policy, matrices)) return policy;
    }
    throw DoesNotFit("size " + std::to_string(matrices.n) + " is too large for the shared memory of this GPU; use gpu" +
                     (Many ? ", or gpu-tuned for one chain after the other" : ""));
  }
  /// Does the GPU have clusters of this size?
  [[nodiscard]] static bool launchable(const RowsPolicy& policy, const DeviceQap<Entry>& matrices) {
    const RowsStorage<Types> storage(policy, matrices.n, matrices.pitch);
    const auto kernel = kernel_of(policy);
    cuda::allow_shared(kernel, storage.bytes);
    return policy.space != Space::cluster || cuda::clusters_at_a_time(shape(policy, storage.bytes, 1), kernel) > 0;
  }
  [[nodiscard]] static cuda::Shape shape(const RowsPolicy& policy, std::size_t shared_bytes, std::int64_t chains) {
    return {.blocks = chains * policy.blocks,
            .threads = policy.threads(),
            .shared_bytes = shared_bytes,
            .cluster = policy.space == Space::cluster ? policy.blocks : 1,
            .cooperative = policy.space == Space::grid};
  }
  [[nodiscard]] std::size_t hot_bytes() const { return static_cast<std::size_t>(matrices_.n) * sizeof(std::uint16_t); }
  [[nodiscard]] static auto kernel_of(const RowsPolicy& policy) {
    if (policy.columns == RowsPolicy::most_columns) return &rows_kernel<Types, RowsPolicy::most_columns, Resident::none, false>;
    if (policy.columns == RowsPolicy::some_columns) return &rows_kernel<Types, RowsPolicy::some_columns, Resident::none, false>;
    if (policy.by_letters()) return &rows_kernel<Types, 1, Resident::both, true>;
    return policy.resident == Resident::both ? &rows_kernel<Types, 1, Resident::both, false>
           : policy.resident == Resident::b  ? &rows_kernel<Types, 1, Resident::b, false>
                                             : &rows_kernel<Types, 1, Resident::none, false>;
  }

  void launch_rows(unsigned together, const Chains& chains, std::int64_t first, std::int64_t limit, const cuda::Stream& stream) {
    VICINITY_CUDA_CHECK(cuda::launch(shape(policy_, storage_.bytes, together), stream, kernel_of(policy_), matrices_, policy_, storage_,
                                     chains, RowsShared<Delta>{h_.data(), inbox_.data(), board_.data()}, first, limit));
  }

  DeviceQap<Entry> matrices_;
  RowsPolicy policy_;
  RowsStorage<Types> storage_;
  std::int64_t together_;
  cuda::DeviceBuffer<Delta> h_;
  cuda::DeviceBuffer<Word> inbox_;
  cuda::DeviceBuffer<Message<Delta>> board_;
  cuda::DeviceBuffer<Entry> permuted_;
};

template <class Types>
std::unique_ptr<Run> tuned_run(const qap::Qap& qap, const annealing::Task& task, bool many) {
  if (many) return std::make_unique<GpuRun<Tuned<Types, true>>>(qap, task);
  return std::make_unique<GpuRun<Tuned<Types, false>>>(qap, task);
}

}  // namespace vicinity::sa
