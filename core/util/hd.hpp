#pragma once
// The host/device marker: one definition of a rule (a rating, a delta, a random draw) serves both twins.
#if defined(__CUDACC__)
#define VICINITY_HD __host__ __device__ __forceinline__
#else
#define VICINITY_HD inline __attribute__((always_inline))
#endif
