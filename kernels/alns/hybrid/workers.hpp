#pragma once
// Threads of the host that wait for work between generations: to make new ones would take longer than most of what they do.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace vicinity::alns::hybrid::block {

class Workers {
 public:
  explicit Workers(std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) threads_.emplace_back([this] { serve(); });
  }
  /// What was posted is done first.
  ~Workers() {
    const std::lock_guard lock(mutex_);
    end_ = true;
    announce();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// f(i) for i of [0, count), by the caller and those threads that have nothing else to do. It throws nothing. Several may call, threads
  /// of this one among them.
  void each(std::size_t count, const std::function<void(std::size_t)>& f) {
    Loop loop{count, f};
    {
      const std::lock_guard lock(mutex_);
      loops_.push_back(&loop);
      announce();
    }
    loop.run();
    {
      const std::lock_guard lock(mutex_);
      std::erase(loops_, &loop);
    }
    while (loop.busy > 0) std::this_thread::yield();  // the last ones end soon
  }
  /// f(), by a thread that is free. It throws nothing.
  void post(std::function<void()> f) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(f));
    announce();
  }

 private:
  /// A merge has several parts, one soon after the other: before they sleep, which takes long to end, threads look that often for the next.
  static constexpr int most_tries = 200;

  struct Loop {
    std::size_t count;
    const std::function<void(std::size_t)>& f;
    std::atomic<std::size_t> next = 0;
    std::atomic<int> busy = 0;  ///< threads that help

    void run() {
      for (std::size_t i = next++; i < count; i = next++) f(i);
    }
  };

  void announce() {
    ++news_;
    changed_.notify_all();
  }
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const auto loop = std::find_if(loops_.begin(), loops_.end(), [](const Loop* one) { return one->next < one->count; });
          loop != loops_.end()) {
        Loop& one = **loop;
        ++one.busy;
        lock.unlock();
        one.run();
        --one.busy;
        lock.lock();
      } else if (!posted_.empty()) {
        const std::function<void()> f = std::move(posted_.front());
        posted_.pop_front();
        lock.unlock();
        f();
        lock.lock();
      } else if (end_) {
        return;
      } else {
        const std::uint64_t seen = news_;
        lock.unlock();
        for (int tries = 0; tries < most_tries && news_ == seen; ++tries) std::this_thread::yield();
        lock.lock();
        changed_.wait(lock, [this, seen] { return news_ != seen; });
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> news_ = 0;
  std::vector<Loop*> loops_;
  std::deque<std::function<void()>> posted_;
  bool end_ = false;
  std::vector<std::jthread> threads_;  // last: they end before the others go
};

}  // namespace vicinity::alns::hybrid::block
