// Messages: what goes into their words comes out again, and only in their step.
#include "kernels/cuda/collective/mailbox.cuh"
#include "tests/kernels/collective/fixture.cuh"

namespace vicinity::cuda {
namespace {

template <class K>
class Messages : public Collective {};
using MessageKeys = testing::Types<std::uint32_t, std::uint64_t, Key57, Key62, Key64, Key96>;
TYPED_TEST_SUITE(Messages, MessageKeys);

/// Mapping: a thread a key. Counts what is wrong.
template <class K>
__global__ void message_kernel(std::uint32_t step, int* wrong) {
  using Message = KeyMessage<K>;
  const K key = key_at<K>(threadIdx.x == 0 ? Draw::none : Draw::random, step, threadIdx.x, blockDim.x);
  const Message message = Message::of(key, step), empty{};
  if (!(message.key() == key)) atomicAdd(wrong, 1);
  if (!message.is_fresh(step)) atomicAdd(wrong, 1);
  if (step > 2 && Message::of(key, step - 2).is_fresh(step)) atomicAdd(wrong, 1);  // the last one in its place
  if (step <= 2 && empty.is_fresh(step)) atomicAdd(wrong, 1);
  if constexpr (Message::words == 2) {  // half of it is still the last one
    Message torn = message;
    torn.word[threadIdx.x % 2] = step > 2 ? Message::of(key, step - 2).word[threadIdx.x % 2] : 0;
    if (torn.is_fresh(step)) atomicAdd(wrong, 1);
  }
}

TYPED_TEST(Messages, KeepKeyAndStep) {
  DeviceBuffer<int> wrong(1);
  wrong.fill(0, this->stream());
  for (const std::uint32_t step : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 255u, 256u, 65535u, 65536u, 65537u, 65538u, 1u << 20, 4'000'000'000u})
    message_kernel<TypeParam><<<1, 1024, 0, this->stream().get()>>>(step, wrong.data());
  VICINITY_CUDA_CHECK(cudaGetLastError());
  this->stream().synchronize();
  EXPECT_EQ(wrong.to_host()[0], 0);
}

class Mailboxes : public Collective {};

struct Content {
  std::uint64_t at_first;
  std::uint32_t block, more[8];
  std::uint64_t at_last;
};
/// Every block tells all a Stamped content, a 64-bit number and a 32-bit number each step.
__global__ void numbers_kernel(std::uint32_t steps, Stamped<Content>* stamped, Word* words, int* wrong) {
  const std::uint32_t blocks = gridDim.x;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    delay(step);
    const std::size_t set = (step & 1) * blocks;
    if (threadIdx.x == 0) {
      Content content{hashed(step), blockIdx.x, {}, hashed(step + blockIdx.x)};
      for (std::uint32_t k = 0; k < 8; ++k) content.more[k] = step + k;
      stamped[set + blockIdx.x].write(content, step);
      send(words + set * 3 + blockIdx.x, static_cast<std::int32_t>(blocks), hashed(step + blockIdx.x), step);
      send(words + set * 3 + 2 * blocks + blockIdx.x, 1, step ^ blockIdx.x, step);
    }
    for (std::uint32_t block = threadIdx.x; block < blocks; block += blockDim.x) {
      const Content& content = stamped[set + block].read(step);
      bool right = content.at_first == hashed(step) && content.block == block && content.at_last == hashed(step + block);
      for (std::uint32_t k = 0; k < 8; ++k) right &= content.more[k] == step + k;
      std::uint64_t wide[1];
      std::uint32_t narrow[1];
      receive(wide, words + set * 3 + block, static_cast<std::int32_t>(blocks), step);
      receive(narrow, words + set * 3 + 2 * blocks + block, 1, step);
      right &= wide[0] == hashed(step + block) && narrow[0] == (step ^ block);
      if (!right) atomicAdd(wrong, 1);
    }
    __syncthreads();
  }
}
TEST_F(Mailboxes, NumbersAndStampedContentsArrive) {
  const auto blocks = static_cast<std::size_t>(multiprocessors());
  DeviceBuffer<Stamped<Content>> stamped(2 * blocks);
  DeviceBuffer<Word> words(6 * blocks);
  DeviceBuffer<int> wrong(1);
  stamped.fill(0, stream());
  words.fill(0, stream());
  wrong.fill(0, stream());
  const Shape shape{.blocks = static_cast<std::int64_t>(blocks), .threads = 64, .cooperative = true};
  VICINITY_CUDA_CHECK(launch(shape, stream(), numbers_kernel, 10'000u, stamped.data(), words.data(), wrong.data()));
  stream().synchronize();
  EXPECT_EQ(wrong.to_host()[0], 0);
}

}  // namespace
}  // namespace vicinity::cuda
