#pragma once
// Threads that wait for tasks spinning: handing out tasks costs about a microsecond, where a new parallel region costs several.
#include <omp.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vicinity::sa {

class ThreadTeam {
 public:
  explicit ThreadTeam(int threads) : threads_(threads) {}

  /// Runs `lead` on the calling thread while the others wait for its calls of parallel_for(). Neither may throw.
  template <class Lead>
  void run(const Lead& lead) {
    if (threads_ == 1) return lead();
    ending_ = false;
    const std::uint32_t first = round_.load();
#pragma omp parallel num_threads(threads_)
    {
      if (omp_get_thread_num() == 0) {
        present_ = omp_get_num_threads();
        lead();
        ending_ = true;
        start_round();
      } else {
        work_in_rounds(omp_get_thread_num(), first);
      }
    }
    present_ = 1;
  }

  /// Calls task(k) for every k in [0, tasks), each on a thread of its own as far as there are threads, and returns when all are done.
  void parallel_for(int tasks, const std::function<void(int)>& task) {
    if (tasks == 1 || present_ == 1) {
      for (int k = 0; k < tasks; ++k) task(k);
      return;
    }
    task_ = &task;
    tasks_ = tasks;
    working_.store(present_ - 1, std::memory_order_relaxed);
    start_round();
    run_tasks_of(0);
    for (int spins = 0; working_.load(std::memory_order_acquire) != 0;)
      if (!pause(spins)) std::this_thread::yield();
  }

 private:
  void work_in_rounds(int thread, std::uint32_t seen) {
    while (true) {
      for (int spins = 0; round_.load(std::memory_order_acquire) == seen;)
        if (!pause(spins)) round_.wait(seen, std::memory_order_acquire);  // asleep, so that the core is free
      ++seen;
      if (ending_) return;
      run_tasks_of(thread);
      working_.fetch_sub(1, std::memory_order_release);
    }
  }
  void run_tasks_of(int thread) const {
    for (int k = thread; k < tasks_; k += present_) (*task_)(k);
  }
  void start_round() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();  // a system call only if a thread sleeps
  }
  /// False when it is time to stop spinning, after some 50 microseconds.
  static bool pause(int& spins) {
#if defined(__x86_64__)
    _mm_pause();
#endif
    return ++spins < 1024;
  }

  int threads_;
  int present_ = 1;
  bool ending_ = false;
  int tasks_ = 0;
  const std::function<void(int)>* task_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
  alignas(64) std::atomic<int> working_ = 0;  ///< threads that have not finished this round
};

}  // namespace vicinity::sa
