// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/page_faults.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/error.h"

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
