// The mailbox of several ranks, on one GPU: parts of a grid stand in for ranks, each with a mailbox of its own.
#include <cstddef>
#include <cstdint>

#include "kernels/lsm/ranks/mailbox.cuh"
#include "tests/kernels/collective/fixture.cuh"

namespace vicinity::lsm {
namespace {

using cuda::DeviceBuffer, cuda::Draw, cuda::Word;

template <class K>
class RankMailboxes : public cuda::Collective {};
using Keys = testing::Types<cuda::Key62, cuda::Key96>;
TYPED_TEST_SUITE(RankMailboxes, Keys);

/// Steps from `step` on, one warp a block; what blocks find is compared with what all of them have. A block that has its number in `absent`
/// leaves before the last step.
template <class K>
__global__ void ranks_kernel(RankMailbox<K> mailbox, Draw draw, std::uint32_t step, std::uint32_t steps, std::int32_t absent, int* wrong,
                             int* gave_up) {
  const auto block = static_cast<std::int32_t>(blockIdx.x), blocks = static_cast<std::int32_t>(gridDim.x);
  mailbox.rank = static_cast<std::int32_t>(std::int64_t{block} * mailbox.ranks / blocks);
  for (const std::uint32_t last = step + steps - 1; step <= last; ++step) {
    if (block == absent && step == last) return;
    cuda::delay(step);
    K expected = cuda::no_key<K>(), least = cuda::no_key<K>();
    for (std::uint32_t b = threadIdx.x; b < gridDim.x; b += 32) cuda::lower(expected, cuda::key_at<K>(draw, step, b, gridDim.x));
    expected = cuda::warp_argmin(expected);
    if (!mailbox.argmin(cuda::key_at<K>(draw, step, blockIdx.x, gridDim.x), step, block, least)) {
      if (threadIdx.x == 0) atomicAdd(gave_up, 1);
      return;
    }
    if (!(least == expected)) atomicAdd(wrong, 1);
  }
}

template <class K>
struct Bench {
  std::int32_t ranks, blocks;
  DeviceBuffer<typename RankMailbox<K>::Message> memory{static_cast<std::size_t>(2 * ranks * blocks)};
  cuda::HostBuffer<Word> given_up{1};
  DeviceBuffer<int> counts{2};  ///< wrong, gave up

  void clear(const cuda::Stream& stream) {
    memory.fill(0, stream);
    counts.fill(0, stream);
    given_up[0] = 0;
  }
  void launch(const cuda::Stream& stream, Draw draw, std::uint32_t step, std::uint32_t steps, std::int32_t absent = -1) {
    RankMailbox<K> mailbox{{}, 0, ranks, blocks, absent < 0 ? Word{20'000'000'000} : Word{2'000'000}, given_up.data()};
    for (std::int32_t r = 0; r < ranks; ++r) mailbox.of_rank[r] = memory.data() + std::ptrdiff_t{2} * r * blocks;
    const cuda::Shape shape{.blocks = blocks, .threads = 32, .cooperative = true};
    VICINITY_CUDA_CHECK(cuda::launch(shape, stream, ranks_kernel<K>, mailbox, draw, step, steps, absent, counts.data(), counts.data() + 1));
  }
};

/// Steps go on in the next launch; more blocks than a poll asks for at once.
TYPED_TEST(RankMailboxes, AllBlocksHaveTheLeastKey) {
  constexpr std::uint32_t steps = 3000;
  for (const std::int32_t ranks : {1, 2, 3, 4, 7, 32})
    for (const std::int32_t blocks : {ranks, cuda::multiprocessors(), 3 * cuda::multiprocessors()}) {
      if (blocks < ranks) continue;
      Bench<TypeParam> bench{ranks, blocks};
      for (const Draw draw : {Draw::random, Draw::ties, Draw::one, Draw::none}) {
        bench.clear(this->stream());
        bench.launch(this->stream(), draw, 1, steps);
        bench.launch(this->stream(), draw, 1 + steps, steps + 1);
        this->stream().synchronize();
        const auto counts = bench.counts.to_host();
        ASSERT_EQ(counts[0], 0) << ranks << " ranks, " << blocks << " blocks, draw " << int(draw);
        ASSERT_EQ(counts[1], 0) << ranks << " ranks, " << blocks << " blocks, draw " << int(draw);
        ASSERT_EQ(bench.given_up[0], 0u);
      }
    }
}

/// Without the word of one block all others leave, and say so.
TYPED_TEST(RankMailboxes, NobodyWaitsForEver) {
  for (const std::int32_t ranks : {1, 2, 7}) {
    const std::int32_t blocks = cuda::multiprocessors();
    if (blocks < ranks) continue;
    Bench<TypeParam> bench{ranks, blocks};
    bench.clear(this->stream());
    bench.launch(this->stream(), Draw::random, 1, 10, blocks - 1);
    this->stream().synchronize();
    const auto counts = bench.counts.to_host();
    EXPECT_EQ(counts[0], 0) << ranks << " ranks";
    EXPECT_EQ(counts[1], blocks - 1) << ranks << " ranks";
    EXPECT_EQ(bench.given_up[0], 1u) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace vicinity::lsm
