// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/system_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "common/error.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/path_probe.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/repeat.h"

namespace huddle::calibrate {
namespace {

using memory::page_bytes;
using memory::PageBuffer;

constexpr std::size_t pages_a_sample = 64;
constexpr std::size_t mappings_a_sample = 32;
constexpr std::size_t yields_a_sample = 32;
constexpr std::uint32_t wakes_a_sample = 16;

[[noreturn]] void fail(const char* what) {
  throw FailureError(fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

// Shared memory as huddle maps it: a memfd whose pages are all allocated.
class Segment {
 public:
  explicit Segment(std::size_t bytes) : bytes_(bytes), file_(memfd_create("huddle", MFD_CLOEXEC)) {
    if (file_ < 0) fail("create a memory file");
    if (posix_fallocate(file_, 0, static_cast<off_t>(bytes)) != 0) fail("fill a memory file");
  }
  ~Segment() { close(file_); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::byte* map() const {
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at == MAP_FAILED) fail("map a memory file");
    return static_cast<std::byte*>(at);
  }
  void unmap(std::byte*& at) const {
    if (at != nullptr) munmap(at, bytes_);
    at = nullptr;
  }

 private:
  std::size_t bytes_;
  int file_;
};

Samples time_page_faults(MeasuringThreads& crew, int pu, const Extent& extent,
                         const Budget& budget) {
  PageBuffer pages;
  const auto prepare = [&] {
    pages = PageBuffer(pages_a_sample * page_bytes());
    pages.forbid_huge_pages();
  };
  const auto work = [&] { pages.touch(); };
  return time_prepared(crew, pu, {prepare, work, pages_a_sample}, extent, budget);
}

// Times yields to another process that also yields at once: each call returns after that process
// has run. Without another process, a call would return four times as fast. Does not use
// time_together(), which would report the other process as interference.
Samples time_yields(MeasuringThreads& crew, int pu, const Extent& extent, const Budget& budget) {
  const PeerProcess other(crew, pu, page_bytes(), PeerProcess::Idle::yields);
  Samples samples;
  crew.run(std::array{pu}, [&](std::size_t) {
    const Progress progress(extent, budget);
    while (progress.wants_more(samples.ns.size())) {
      const double start = now_ns();
      for (std::size_t i = 0; i < yields_a_sample; ++i) sched_yield();
      samples.ns.push_back((now_ns() - start) / (2 * yields_a_sample));
    }
  });
  return samples;
}

Samples time_mapping(MeasuringThreads& crew, int pu, const Extent& extent, const Budget& budget) {
  const Segment segment(pages_a_sample * page_bytes());
  std::vector<std::byte*> mapped(mappings_a_sample, nullptr);
  const auto unmap_all = [&] {
    for (auto& at : mapped) segment.unmap(at);
  };
  const auto work = [&] {
    for (auto& at : mapped) at = segment.map();
  };
  Samples samples = time_prepared(crew, pu, {unmap_all, work, mappings_a_sample}, extent, budget);
  unmap_all();
  return samples;
}

// Times the first writes to existing pages of shared memory. Each causes a page fault, which enters
// the page into the page table.
Samples time_mapped_pages(MeasuringThreads& crew, int pu, const Extent& extent,
                          const Budget& budget) {
  const Segment segment(pages_a_sample * page_bytes());
  std::byte* at = nullptr;
  const auto prepare = [&] {
    segment.unmap(at);
    at = segment.map();
  };
  const auto work = [&] {
    for (std::size_t i = 0; i < pages_a_sample; ++i) at[i * page_bytes()] = std::byte{1};
  };
  Samples samples = time_prepared(crew, pu, {prepare, work, pages_a_sample}, extent, budget);
  segment.unmap(at);
  return samples;
}

// A futex on which a thread sleeps. Two threads wake each other in turn by increasing the counts.
struct Bed {
  alignas(false_sharing_bytes) std::atomic<std::uint32_t> count{0};

  void wake(std::uint32_t to) {
    count.store(to, std::memory_order_release);
    syscall(SYS_futex, &count, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void sleep_until(std::uint32_t wanted) {
    for (auto seen = count.load(std::memory_order_acquire); seen < wanted;
         seen = count.load(std::memory_order_acquire)) {
      syscall(SYS_futex, &count, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    }
  }
};
constexpr std::uint32_t no_more = UINT32_MAX;

void sleep_and_wake(Bed& own, Bed& other) {
  for (std::uint32_t count = 1;; ++count) {
    own.sleep_until(count);
    const std::uint32_t seen = own.count.load(std::memory_order_acquire);
    other.wake(seen);
    if (seen == no_more) return;
  }
}

std::vector<double> time_wakes(Bed& own, Bed& other, const Extent& extent, const Budget& budget) {
  std::vector<double> samples;
  std::uint32_t count = 0;
  const Progress progress(extent, budget);
  while (progress.wants_more(samples.size())) {
    const double start = now_ns();
    for (std::uint32_t i = 0; i < wakes_a_sample; ++i) {
      other.wake(++count);
      own.sleep_until(count);
    }
    samples.push_back((now_ns() - start) / (2 * wakes_a_sample));
  }
  other.wake(no_more);
  own.sleep_until(no_more);
  return samples;
}

Samples time_futex(MeasuringThreads& crew, int pu, int other, const Extent& extent,
                   const Budget& budget) {
  Bed waker;
  Bed sleeper;
  Samples samples;
  const auto wake = [&] { samples.ns = time_wakes(waker, sleeper, extent, budget); };
  if (pu == other) {
    // There is only one hardware thread: starts a second thread, which inherits its affinity.
    crew.run(std::array{pu}, [&](std::size_t) {
      std::thread beside([&] { sleep_and_wake(sleeper, waker); });
      wake();
      beside.join();
    });
    return samples;
  }
  // The CPU times of these threads are not recorded, because they are expected to sleep.
  crew.run(std::array{pu, other},
           [&](std::size_t who) { who == 0 ? wake() : sleep_and_wake(sleeper, waker); });
  return samples;
}

}  // namespace

Samples time_system_call(MeasuringThreads& crew, machine::SystemCall call, int pu, int other,
                         const Extent& extent, const Budget& budget) {
  using machine::SystemCall;
  switch (call) {
    case SystemCall::page_fault:
      return time_page_faults(crew, pu, extent, budget);
    case SystemCall::futex_wake:
      return time_futex(crew, pu, other, extent, budget);
    case SystemCall::yield:
      return time_yields(crew, pu, extent, budget);
    case SystemCall::map_segment:
      return time_mapping(crew, pu, extent, budget);
    case SystemCall::map_page:
      return time_mapped_pages(crew, pu, extent, budget);
  }
  return {};
}

}  // namespace huddle::calibrate
