#pragma once
// Random numbers that belong to the work item: counter-based Philox for everything the harness draws, and the
// xorshift64* sequence that successor generation keeps per state. Callable on host and device, identical on both.
#include <array>
#include <cstdint>

#include "core/util/hd.hpp"

namespace vicinity {

/// High 64 bits of the 128-bit product.
VICINITY_HD std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#endif
}

/// Maps 64 random bits to [0, bound). Every value has probability within 2^-64 of 1/bound; bound 0 gives 0.
VICINITY_HD std::uint64_t scale_to(std::uint64_t random, std::uint64_t bound) { return multiply_high(random, bound); }

/// Of a product of 64 bits.
struct ProductHalves {
  std::uint32_t high, low;
};
VICINITY_HD ProductHalves product_halves(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return {__umulhi(a, b), a * b};  // from the product of 64 bits nvcc takes another addition for the high half
#else
  const std::uint64_t product = static_cast<std::uint64_t>(a) * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
#endif
}

/// Four 32-bit words: a Philox counter or block of output.
struct Philox4 {
  std::uint32_t word[4];
};

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): the block of random words
/// at `counter` of the stream `key`. Stateless, so any work item can address its own numbers.
VICINITY_HD Philox4 philox(Philox4 counter, std::uint64_t key) {
  constexpr std::uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t weyl0 = 0x9E3779B9u, weyl1 = 0xBB67AE85u;
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const ProductHalves product0 = product_halves(multiplier0, counter.word[0]), product1 = product_halves(multiplier1, counter.word[2]);
    counter = {{product1.high ^ counter.word[1] ^ key0, product1.low, product0.high ^ counter.word[3] ^ key1, product0.low}};
    key0 += weyl0;
    key1 += weyl1;
  }
  return counter;
}

/// 64 random bits of stream `seed` addressed by (iteration, walker, draw).
VICINITY_HD std::uint64_t random_bits(std::uint64_t seed, std::uint64_t iteration, std::uint32_t walker, std::uint32_t draw) {
  const Philox4 block = philox({{static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(iteration >> 32), walker, draw}}, seed);
  return static_cast<std::uint64_t>(block.word[0]) | static_cast<std::uint64_t>(block.word[1]) << 32;
}

/// The stream that draws where a search starts. Streams of a method's own iterations leave the highest bit unset.
inline constexpr std::uint32_t start_stream = 0x80000000u;

/// xorshift64* (Marsaglia 2003, star variant by Vigna): 64-bit state, never zero.
struct XorShift64Star {
  std::uint64_t state;

  VICINITY_HD std::uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Dull;
  }
};

}  // namespace vicinity
