// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/pinned_threads.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "common/error.h"
#include "runtime/memory/cpu.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {
namespace {

double thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * ns_per_s + static_cast<double>(time.tv_nsec);
}

long involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// Sizes the CPU set by the OS index, because a cpu_set_t ends at 1,024 hardware threads.
void pin(std::thread& thread, int pu) {
  const auto bits = static_cast<std::size_t>(pu) + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(bits), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
  const std::size_t size = CPU_ALLOC_SIZE(bits);
  CPU_ZERO_S(size, set.get());
  CPU_SET_S(static_cast<std::size_t>(pu), size, set.get());
  const int failed = pthread_setaffinity_np(thread.native_handle(), size, set.get());
  if (failed == 0) return;
  throw FailureError(
      fmt::format("cannot run a thread on hardware thread {}: {}", pu, std::strerror(failed)));
}

}  // namespace

// A pinned thread, which sleeps until it gets work.
class MeasuringThreads::Member {
 public:
  explicit Member(int pu) : pu_(pu), thread_([this] { serve(); }) {
    try {
      pin(thread_, pu);
    } catch (...) {
      leave();
      throw;
    }
  }
  ~Member() { leave(); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  void start(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    changed_.notify_all();
  }

  ThreadUse finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !work_; });
    return use_;
  }

  std::exception_ptr take_error() { return std::exchange(error_, nullptr); }

 private:
  void leave() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return work_ || leaving_; });
      if (!work_) return;
      lock.unlock();
      const ThreadUse use = run_watched();
      lock.lock();
      use_ = use;
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  ThreadUse run_watched() {
    ThreadUse use{.pu = pu_};
    const long switches = involuntary_switches();
    const double cpu = thread_cpu_ns();
    const double start = now_ns();
    try {
      work_();
    } catch (...) {
      error_ = std::current_exception();
    }
    use.wall_ns = now_ns() - start;
    use.cpu_ns = thread_cpu_ns() - cpu;
    use.switched_away = involuntary_switches() - switches;
    return use;
  }

  const int pu_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool leaving_ = false;
  ThreadUse use_;
  std::exception_ptr error_;
  std::thread thread_;  // last member, because the thread uses all of the above
};

MeasuringThreads::MeasuringThreads(std::span<const int> pus) {
  for (const int pu : pus) members_.emplace(pu, std::make_unique<Member>(pu));
}

MeasuringThreads::~MeasuringThreads() = default;

MeasuringThreads::Member& MeasuringThreads::member(int pu) const {
  const auto found = members_.find(pu);
  if (found == members_.end())
    throw FailureError(fmt::format("no thread measures hardware thread {}", pu));
  return *found->second;
}

std::vector<ThreadUse> MeasuringThreads::run(std::span<const int> pus,
                                             const std::function<void(std::size_t)>& work) {
  // Looks up all threads before it starts any, because started threads would wait for a missing
  // one.
  std::vector<Member*> chosen;
  for (const int pu : pus) chosen.push_back(&member(pu));
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i]->start([&work, i] { work(i); });
  std::vector<ThreadUse> uses;
  for (Member* one : chosen) uses.push_back(one->finish());
  for (Member* one : chosen) {
    if (const auto error = one->take_error()) std::rethrow_exception(error);
  }
  return uses;
}

void StartLine::wait() {
  arrived_.fetch_add(1, std::memory_order_acq_rel);
  while (arrived_.load(std::memory_order_acquire) < threads_) {
    if (abandoned_.load(std::memory_order_acquire)) return;
    memory::spin_pause();
  }
}

void StartLine::abandon() { abandoned_.store(true, std::memory_order_release); }

}  // namespace huddle::calibrate
