// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/page_faults.h"

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/system.h"
#include "placement/threads/thread_masks.h"

namespace huddle::threads {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t pages = 300;

// Touches `pages` fresh pages and returns their addresses.
std::vector<std::uint64_t> touch_pages() {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const at = ::mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::madvise(at, pages * page_bytes, MADV_NOHUGEPAGE);
  std::vector<std::uint64_t> addresses;
  for (std::size_t page = 0; page < pages; ++page) {
    volatile char* const byte = static_cast<char*>(at) + page * page_bytes;
    *byte = 1;
    addresses.push_back(reinterpret_cast<std::uintptr_t>(byte));
  }
  ::munmap(at, pages * page_bytes);
  return addresses;
}

// Returns the observed addresses of this thread's faults within the range of `addresses`.
std::vector<std::uint64_t> seen(PageFaults& faults, const std::vector<std::uint64_t>& addresses) {
  std::vector<PageFault> all;
  faults.drain(all);
  std::vector<std::uint64_t> found;
  for (const PageFault& one : all) {
    if (one.thread != ::gettid() || one.process != ::getpid()) continue;
    if (one.address < addresses.front() || one.address > addresses.back()) continue;
    found.push_back(one.address);
  }
  return found;
}

// Both observers report the same faults of a thread that is not the first one of its process.
void agree_on_this_thread() {
  PageFaults by_perf(Observer::perf);
  PageFaults by_bpf(Observer::bpf);
  ASSERT_TRUE(by_perf.add_thread(::gettid()));
  ASSERT_TRUE(by_bpf.add_thread(::gettid()));
  const std::vector<std::uint64_t> touched = touch_pages();
  EXPECT_EQ(seen(by_perf, touched), touched);
  EXPECT_EQ(seen(by_bpf, touched), touched);
  EXPECT_GE(by_bpf.counted(), pages);
  EXPECT_EQ(by_bpf.lost(), 0U);
  EXPECT_EQ(by_perf.counted(), std::nullopt);
}
TEST(PageFaults, PerfAndBpfAgree) {
  const Trial perf = try_page_faults();
  if (!perf.works) GTEST_SKIP() << perf.why_not;
  const Trial bpf = try_page_faults(Observer::bpf);
  if (!bpf.works) GTEST_SKIP() << bpf.why_not;
  std::thread(agree_on_this_thread).join();
}

// Faults that do not fit into the ring are counted but not reported. Uses another thread, because
// reading the ring causes faults as well.
TEST(PageFaults, BpfCountsLostFaults) {
  const Trial bpf = try_page_faults(Observer::bpf);
  if (!bpf.works) GTEST_SKIP() << bpf.why_not;
  PageFaults faults(Observer::bpf);
  std::thread([&faults] {
    ASSERT_TRUE(faults.add_thread(::gettid()));
    constexpr int more_than_the_ring_holds = 40'000 / static_cast<int>(pages);
    for (int i = 0; i < more_than_the_ring_holds; ++i) touch_pages();
  }).join();
  std::vector<PageFault> all;
  faults.drain(all);
  EXPECT_GT(faults.lost(), 0U);
  EXPECT_EQ(all.size() + faults.lost(), faults.counted());
}

// A process that waits until it is killed.
class Waiting {
 public:
  Waiting() : process_(::fork()) {
    if (process_ == 0) {
      for (;;) ::pause();
    }
  }
  ~Waiting() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  pid_t process() const { return process_; }

 private:
  pid_t process_;
};

TEST(PageFaults, RingsAreOnTheCpusThatTheProgramMayUse) {
  if (!try_page_faults().works) GTEST_SKIP() << "no page faults can be observed here";
  const Waiting waiting;
  SystemMasks masks;
  const machine::CpuSet all = masks.mask(waiting.process()).value();
  const std::size_t bytes = PageFaults::from_exec_of(waiting.process()).locked_bytes();
  ASSERT_EQ(masks.set_mask(waiting.process(), machine::CpuSet({all.first()})), 0);
  EXPECT_EQ(PageFaults::from_exec_of(waiting.process()).locked_bytes() *
                static_cast<std::size_t>(all.count()),
            bytes);
}

// Root may lock memory without limit unless it lacks this capability.
void limit_locked_memory() {
  constexpr rlimit none{};
  ::setrlimit(RLIMIT_MEMLOCK, &none);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  ::syscall(SYS_capget, &header, sets.data());
  constexpr unsigned without = ~(1U << CAP_IPC_LOCK);
  sets.front().effective &= without;
  sets.front().permitted &= without;
  ::syscall(SYS_capset, &header, sets.data());
}

// Observes until an error, which goes to standard error. Exits with 0 if rings became smaller
// before.
[[noreturn]] void observe_up_to_the_limit(pid_t process) {
  limit_locked_memory();
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::vector<PageFaults> all;
  constexpr std::size_t most = 5000;
  try {
    while (all.size() < most) all.push_back(PageFaults::from_exec_of(process));
  } catch (const FailureError& error) {
    std::fputs(error.what(), stderr);
  }
  const bool became_smaller =
      !all.empty() && all.back().locked_bytes() < all.front().locked_bytes();
  std::_Exit(became_smaller ? 0 : 1);
}

TEST(PageFaultsDeathTest, RingsAreSmallerIfTheirMemoryIsScarce) {
  if (!try_page_faults().works) GTEST_SKIP() << "no page faults can be observed here";
  if (geteuid() != 0) GTEST_SKIP() << "it would take the memory of other tests of this user";
  if (System().number("/proc/sys/kernel/perf_event_paranoid").value_or(2) < 0)
    GTEST_SKIP() << "the kernel does not limit the memory of perf";
  const Waiting waiting;
  SystemMasks masks;
  const int first = masks.mask(waiting.process()).value().first();
  ASSERT_EQ(masks.set_mask(waiting.process(), machine::CpuSet({first})), 0);
  EXPECT_EXIT(observe_up_to_the_limit(waiting.process()), ::testing::ExitedWithCode(0),
              "perf_event_mlock_kb");
}

TEST(PageFaults, ErrorsContainTheirRemedy) {
  const auto error = [](int number) -> std::string {
    try {
      PageFaults::fail_to_open(number);
    } catch (const FailureError& failure) {
      return failure.what();
    }
  };
  EXPECT_THAT(error(EACCES), HasSubstr("perf_event_paranoid"));
  EXPECT_THAT(error(ENOMEM),
              ::testing::AllOf(HasSubstr("perf_event_mlock_kb"), HasSubstr("ulimit -l"),
                               ::testing::Not(HasSubstr("paranoid"))));
}

TEST(PageFaults, MissingBpfIsExplained) {
  const Trial bpf = try_page_faults(Observer::bpf);
  if (bpf.works) GTEST_SKIP() << "BPF works here";
  try {
    const PageFaults faults(Observer::bpf);
    FAIL() << "it was loaded";
  } catch (const FailureError& error) {
    EXPECT_EQ(bpf.why_not, error.what());
    EXPECT_THAT(bpf.why_not, ::testing::AnyOf(HasSubstr("CAP_BPF"), HasSubstr("built without"),
                                              HasSubstr("refuses")));
  }
}

}  // namespace
}  // namespace huddle::threads
