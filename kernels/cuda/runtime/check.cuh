#pragma once
// CUDA errors as exceptions.
#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace vicinity::cuda {

struct CudaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(cudaError_t status, const char* expression, const char* file, int line) {
  if (status != cudaSuccess)
    throw CudaError(std::string(file) + ":" + std::to_string(line) + ": " + expression + ": " + cudaGetErrorString(status));
}

/// "1.23 GB", for messages. (fmt's compile-time format strings do not pass through nvcc.)
inline std::string gigabytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GB", static_cast<double>(bytes) * 1e-9);
  return text;
}

/// For destructors: reports, never throws. A driver that is already shutting down is not worth a word.
inline void check_noexcept(cudaError_t status, const char* what) noexcept {
  if (status != cudaSuccess && status != cudaErrorCudartUnloading)
    std::fprintf(stderr, "vicinity: %s: %s\n", what, cudaGetErrorString(status));
}

}  // namespace vicinity::cuda

/// Throws CudaError with the expression, file and line unless `expression` is cudaSuccess.
#define VICINITY_CUDA_CHECK(expression) ::vicinity::cuda::check((expression), #expression, __FILE__, __LINE__)
