#pragma once
#include <cstddef>

namespace vicinity {

/// Of the processor's vectors, whose operations on whole numbers the compiler may use.
#if defined(__AVX512BW__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

}  // namespace vicinity
