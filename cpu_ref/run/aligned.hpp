#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace vicinity {

/// Storage aligned to cache lines.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>&) {}
  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* pointer, std::size_t) noexcept { ::operator delete(pointer, alignment); }
  bool operator==(const AlignedAllocator&) const = default;
};
template <class T>
using Aligned = std::vector<T, AlignedAllocator<T>>;

}  // namespace vicinity
