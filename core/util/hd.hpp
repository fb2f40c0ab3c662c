#pragma once
// Host/device markers: one definition of a rule (a rating, a delta, a random draw) serves both twins. CALLED: of functions that are too
// long to stand in each place that calls them.
#if defined(__CUDACC__)
#define VICINITY_HD __host__ __device__ __forceinline__
#define VICINITY_HD_CALLED inline __host__ __device__ __noinline__
#else
#define VICINITY_HD inline __attribute__((always_inline))
#define VICINITY_HD_CALLED inline
#endif
