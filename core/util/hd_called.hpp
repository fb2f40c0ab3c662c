#pragma once
// The host/device marker (hd.hpp) of functions that are too long to stand in each place that calls them.
#if defined(__CUDACC__)
#define VICINITY_HD_CALLED inline __host__ __device__ __noinline__
#else
#define VICINITY_HD_CALLED inline
#endif
