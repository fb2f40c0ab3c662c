#pragma once
// Memory paths: in which memory the arrays lie that evaluations read, and by which loads kernels read them: global memory and texture as in
// section 5 of the paper, read-only cache and shared memory as ours. A Reader is a view of one array, an Array owns the device memory it
// reads, and a MemoryPath names the readers of a problem's inputs and of the solution.
#include <cuda_pipeline.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/api/run.hpp"
#include "core/util/error.hpp"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/memory.cuh"

namespace vicinity::lsm {

/// What a kernel takes to read an array that does not change while it runs. The host makes it by a Binding, which lives as long. A Binding
/// adds the shared memory that its reader takes to the bytes of the kernel's other readers, and throws DoesNotFit.
template <class R>
concept Reader = requires(const R reader, std::int64_t i, const typename R::Binding binding) {
  requires std::is_trivially_copyable_v<R>;
  requires std::constructible_from < typename R::Binding, const cuda::DeviceBuffer<typename R::Element>
  &, std::size_t& > ;
  { binding.reader() } -> std::same_as<R>;
  { reader[i] } -> std::same_as<typename R::Element>;
  reader.stage();  // by all threads of a block, before any of them reads
};

/// Global memory, by plain loads or through the read-only cache (ld.global.nc).
template <class T, bool read_only>
struct Pointer {
  using Element = T;
  const T* data;

  template <class I>
  __device__ T operator[](I i) const {
    if constexpr (read_only)
      return __ldg(data + i);
    else
      return data[i];
  }
  __device__ void stage() const {}

  class Binding {
   public:
    Binding(const cuda::DeviceBuffer<T>& data, std::size_t&) : reader_{data.data()} {}
    [[nodiscard]] Pointer reader() const { return reader_; }

   private:
    Pointer reader_;
  };
};
template <class T>
using Global = Pointer<T, false>;
template <class T>
using ReadOnly = Pointer<T, true>;

/// Global memory as a texture over linear memory. Doubles are fetched as pairs of words.
template <class T>
struct Textured {
  using Element = T;
  using Texel = std::conditional_t<std::is_same_v<T, double>, int2, std::conditional_t<std::is_same_v<T, double2>, int4, T>>;
  cudaTextureObject_t texture;

  template <class I>
  __device__ T operator[](I i) const {
    const auto texel = tex1Dfetch<Texel>(texture, static_cast<int>(i));
    if constexpr (std::is_same_v<T, double>)
      return __hiloint2double(texel.y, texel.x);
    else if constexpr (std::is_same_v<T, double2>)
      return {__hiloint2double(texel.y, texel.x), __hiloint2double(texel.w, texel.z)};
    else
      return texel;
  }
  __device__ void stage() const {}

  class Binding {
   public:
    Binding(const cuda::DeviceBuffer<T>& data, std::size_t&) {
      if (data.size() == 0) return;
      cudaResourceDesc resource{};
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear = {data.data(), cudaCreateChannelDesc<Texel>(), data.bytes()};
      int device = 0;
      std::size_t most = 0;
      VICINITY_CUDA_CHECK(cudaGetDevice(&device));
      VICINITY_CUDA_CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&most, &resource.res.linear.desc, device));
      if (data.size() > most)
        throw DoesNotFit("needs a texture of " + std::to_string(data.size()) + " elements, " + std::to_string(most) + " are possible");
      const cudaTextureDesc plain{};
      VICINITY_CUDA_CHECK(cudaCreateTextureObject(&texture_, &resource, &plain, nullptr));
    }
    ~Binding() {
      if (texture_ != 0) cuda::check_noexcept(cudaDestroyTextureObject(texture_), "cudaDestroyTextureObject");
    }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
    [[nodiscard]] Textured reader() const { return {texture_}; }

   private:
    cudaTextureObject_t texture_ = 0;
  };
};

/// A copy in the shared memory of each block, made when the kernel begins, with all loads in flight at the same time.
template <class T>
struct Staged {
  using Element = T;
  static constexpr std::uint32_t line = 16;  ///< bytes a thread copies at a time; arrays are aligned to it
  const T* data;
  std::uint32_t bytes, offset;

  template <class I>
  __device__ T operator[](I i) const {
    return reinterpret_cast<const T*>(copy())[i];
  }
  __device__ void stage() const {
    const auto* from = reinterpret_cast<const unsigned char*>(data);
    const std::uint32_t whole = bytes / line * line;
    for (std::uint32_t i = line * threadIdx.x; i < whole; i += line * blockDim.x) __pipeline_memcpy_async(copy() + i, from + i, line);
    __pipeline_commit();
    for (std::uint32_t i = whole + threadIdx.x; i < bytes; i += blockDim.x) copy()[i] = from[i];
    __pipeline_wait_prior(0);
    __syncthreads();
  }

  class Binding {
   public:
    Binding(const cuda::DeviceBuffer<T>& data, std::size_t& shared)
        : reader_{data.data(), static_cast<std::uint32_t>(data.bytes()), static_cast<std::uint32_t>(shared)} {
      shared = (shared + data.bytes() + line - 1) / line * line;
      if (const std::size_t most = cuda::most_shared(); shared > most)
        throw DoesNotFit("needs " + std::to_string(shared) + " bytes of shared memory a block, " + std::to_string(most) + " are possible");
    }
    [[nodiscard]] Staged reader() const { return reader_; }

   private:
    Staged reader_;
  };

 private:
  __device__ unsigned char* copy() const {
    extern __shared__ uint4 shared_memory[];
    return reinterpret_cast<unsigned char*>(shared_memory) + offset;
  }
};

/// An array in device memory, and how kernels read it.
template <Reader R>
class Array {
 public:
  using Element = typename R::Element;

  Array(std::size_t size, std::size_t& shared) : data_(size), binding_(data_, shared) {}
  Array(std::span<const Element> host, std::size_t& shared) : data_(host), binding_(data_, shared) {}

  [[nodiscard]] const cuda::DeviceBuffer<Element>& data() const noexcept { return data_; }
  [[nodiscard]] R reader() const { return binding_.reader(); }

 private:
  cuda::DeviceBuffer<Element> data_;
  typename R::Binding binding_;
};

/// An array that changes on the host between iterations, and its copy in device memory.
template <Reader R>
class Copied {
 public:
  using Element = typename R::Element;

  Copied(std::size_t size, std::size_t& shared) : device_(size, shared), staged_(size) {}

  /// To be written only while no copy is under way.
  [[nodiscard]] Element* staged() noexcept { return staged_.data(); }
  /// Copies staged(), asynchronously.
  [[nodiscard]] R send(const cuda::Stream& stream) {
    const auto& to = device_.data();
    if (to.size() > 0) VICINITY_CUDA_CHECK(cudaMemcpyAsync(to.data(), staged(), to.bytes(), cudaMemcpyHostToDevice, stream.get()));
    return device_.reader();
  }
  /// `from` has as many elements, and may change at once. The stream must have finished before the next copy.
  [[nodiscard]] R send(const std::vector<Element>& from, const cuda::Stream& stream) {
    std::copy(from.begin(), from.end(), staged());
    return send(stream);
  }

 private:
  Array<R> device_;
  cuda::HostBuffer<Element> staged_;
};

template <class P>
concept MemoryPath = requires {
  requires Reader<typename P::template Inputs<std::int32_t>> && Reader<typename P::template Solution<std::int32_t>>;
  requires std::same_as<decltype(P::byte_matrices), const bool>;      // the matrices of a QAP as bytes
  requires std::same_as<decltype(P::solutions_by_host), const bool>;  // whole neighbours from the host, else each thread finds its own
  requires std::signed_integral<typename P::Difference>;              // of two values of a QAP, as it comes back to the host
  { P::record() } -> std::same_as<Policy>;
};

template <template <class> class InputReader, template <class> class SolutionReader>
struct Path {
  template <class T>
  using Inputs = InputReader<T>;
  template <class T>
  using Solution = SolutionReader<T>;
  using Difference = std::int32_t;
  static constexpr bool byte_matrices = false, solutions_by_host = false;

  [[nodiscard]] static Policy record() { return {}; }
};

using GlobalPath = Path<Global, Global>;

/// Inputs and solution through textures (section 5.2), or the solution alone.
template <template <class> class InputReader>
struct InTexture : Path<InputReader, Textured> {
  [[nodiscard]] static Policy record() {
    return {{"texture_inputs", std::is_same_v<InputReader<int>, Textured<int>>}, {"texture_solution", 1}};
  }
};

/// For a QAP whose differences leave 32 bits.
template <class P>
struct Wide : P {
  using Difference = std::int64_t;
};

}  // namespace vicinity::lsm
