// Arithmetic ceilings: independent chains of one kind of instruction, full occupancy, nothing else in the loop.
// Counted instructions were checked in the SASS of sm_75 and sm_90 (cuobjdump -sass): a chain step is exactly what its
// comment says.
#include "kernels/cuda/runtime/ceilings.cuh"

#include <cstdint>
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::cuda {
namespace {

constexpr int block = 256, chains = 4, unrolled = 16, steps = 1024;

/// The bitwise majority: one LOP3, written as such because compilers rearrange any logic they can read.
__device__ std::uint32_t majority(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(result) : "r"(x), "r"(y), "r"(z));
  return result;
}

/// IADD3 and LOP3. Three inputs each, so that neither two steps merge nor the addition moves to the multiplier's
/// pipe.
struct Integer {
  static constexpr int counted = 2;
  std::uint32_t x, y;
  __device__ Integer(std::uint32_t seed, std::uint32_t b) : x(seed), y(seed ^ b) {}
  __device__ void step(std::uint32_t a, std::uint32_t b) {
    x = x + y + a;
    y = majority(y, x, b);
  }
  [[nodiscard]] __device__ std::uint32_t value() const { return x ^ y; }
};

/// IMAD.
struct MultiplyAdd {
  static constexpr int counted = 1;
  std::uint32_t x;
  __device__ MultiplyAdd(std::uint32_t seed, std::uint32_t) : x(seed) {}
  __device__ void step(std::uint32_t a, std::uint32_t b) { x = x * a + b; }
  [[nodiscard]] __device__ std::uint32_t value() const { return x; }
};

/// POPC, and an addition on another pipe that hides the small range of the count from the compiler.
struct Popcount {
  static constexpr int counted = 1;
  std::uint32_t x;
  __device__ Popcount(std::uint32_t seed, std::uint32_t) : x(seed) {}
  __device__ void step(std::uint32_t a, std::uint32_t) { x = static_cast<std::uint32_t>(__popc(static_cast<int>(x))) + a; }
  [[nodiscard]] __device__ std::uint32_t value() const { return x; }
};

/// MUFU.EX2.
struct SpecialFunction {
  static constexpr int counted = 1;
  float x;
  __device__ SpecialFunction(std::uint32_t seed, std::uint32_t) : x(static_cast<float>(seed) * -1e-3f) {}
  __device__ void step(std::uint32_t, std::uint32_t) { asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); }
  [[nodiscard]] __device__ std::uint32_t value() const { return __float_as_uint(x); }
};

/// Six instructions over two pipes, in the proportion of their widths: what the schedulers can issue at all.
struct Issue {
  static constexpr int counted = 6;
  std::uint32_t x, y, z;
  float f[4];
  __device__ Issue(std::uint32_t seed, std::uint32_t b) : x(seed), y(seed ^ b), z(seed + b) {
    for (int i = 0; i < 4; ++i) f[i] = static_cast<float>(seed + i);
  }
  __device__ void step(std::uint32_t a, std::uint32_t b) {
    const float factor = __uint_as_float(a), added = __uint_as_float(b);
    x = x + y + a;
    f[0] = fmaf(f[0], factor, added);
    f[1] = fmaf(f[1], factor, added);
    y = majority(y, x, b);
    f[2] = fmaf(f[2], factor, added);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ <= 800  // as many lanes for FFMA as for integers; later ones have twice as many
    z = z + y + a;
#else
    f[3] = fmaf(f[3], factor, added);
#endif
  }
  [[nodiscard]] __device__ std::uint32_t value() const {
    return x ^ y ^ z ^ __float_as_uint(f[0]) ^ __float_as_uint(f[1]) ^ __float_as_uint(f[2]) ^ __float_as_uint(f[3]);
  }
};

/// Mapping: every thread `chains` independent chains; no memory, no synchronisation. Cost: count * unrolled * chains *
/// Operation::counted instructions a thread.
template <class Operation>
__global__ void __launch_bounds__(block) run_chains(std::uint32_t a, std::uint32_t b, int count, std::uint32_t* sink) {
  const std::uint32_t seed = blockIdx.x * blockDim.x + threadIdx.x;
  Operation chain[chains] = {{seed, b}, {seed + 1, b}, {seed + 2, b}, {seed + 3, b}};
  for (int step = 0; step < count; ++step) {
#pragma unroll
    for (int repeat = 0; repeat < unrolled; ++repeat)
#pragma unroll
      for (Operation& operation : chain) operation.step(a, b);
  }
  std::uint32_t all = 0;
  for (const Operation& operation : chain) all ^= operation.value();
  if (all == a) *sink = all;  // keeps the chains
}

/// Lane operations a second.
template <class Operation>
double rate(const device::Info& info) {
  int threads = 0;
  VICINITY_CUDA_CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  const int grid = info.multiprocessors * (threads / block);
  const Stream stream;
  const DeviceBuffer<std::uint32_t> sink(1);
  const double seconds = seconds_of(stream, Best::least, 10, [&] {
    run_chains<Operation><<<grid, block, 0, stream.get()>>>(0x3F800001u, 0x3F000001u, steps, sink.data());
  });
  return static_cast<double>(grid) * block * chains * unrolled * steps * Operation::counted / seconds;
}

}  // namespace

void warm_up_clocks(const device::Info& info) {
  for (int repetition = 0; repetition < 20; ++repetition) static_cast<void>(rate<Issue>(info));
}

void arithmetic_ceilings(const device::Info& info, std::map<std::string, double>& all) {
  all["integer"] = rate<Integer>(info);
  all["multiply_add"] = rate<MultiplyAdd>(info);
  all["popcount"] = rate<Popcount>(info);
  all["special_function"] = rate<SpecialFunction>(info);
  all["issue"] = rate<Issue>(info);
}

}  // namespace vicinity::cuda
