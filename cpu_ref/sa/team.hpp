#pragma once
// Threads that wait for work spinning: handing out a piece costs about a microsecond, where a new parallel region costs several.
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <omp.h>

namespace vicinity::sa {

class Team {
 public:
  explicit Team(int threads) : threads_(threads) {}

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Runs `lead` on the calling thread while the others wait for what it hands out by share(). Neither may throw.
  template <class Lead>
  void gather_for(const Lead& lead) {
    if (threads_ == 1) return lead();
    ending_ = false;
    const std::uint32_t first = round_.load();
#pragma omp parallel num_threads(threads_)
    {
      if (omp_get_thread_num() == 0) {
        present_ = omp_get_num_threads();
        lead();
        ending_ = true;
        ++round_;
      } else {
        follow(omp_get_thread_num(), first);
      }
    }
    present_ = 1;
  }

  /// Calls work(k) for every k in [0, shares), each on a thread of its own as far as there are threads, and returns when all are done.
  void share(int shares, const std::function<void(int)>& work) {
    if (shares == 1 || present_ == 1) {
      for (int k = 0; k < shares; ++k) work(k);
      return;
    }
    work_ = &work;
    shares_ = shares;
    left_.store(present_ - 1, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    take_part(0);
    for (int spins = 0; left_.load(std::memory_order_acquire) != 0;) pause(spins);
  }

 private:
  void follow(int thread, std::uint32_t seen) {
    while (true) {
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen;) pause(spins);
      ++seen;
      if (ending_) return;
      take_part(thread);
      left_.fetch_sub(1, std::memory_order_release);
    }
  }
  void take_part(int thread) const {
    for (int k = thread; k < shares_; k += present_) (*work_)(k);
  }
  /// After some ten microseconds of spinning the core is offered to others.
  static void pause(int& spins) {
    if (++spins < 256) {
#if defined(__x86_64__)
      _mm_pause();
#endif
    } else {
      std::this_thread::yield();
    }
  }

  int threads_;
  int present_ = 1;
  bool ending_ = false;
  int shares_ = 0;
  const std::function<void(int)>* work_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
  alignas(64) std::atomic<int> left_ = 0;
};

}  // namespace vicinity::sa
