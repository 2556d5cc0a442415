// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "common/arithmetic.h"
#include "forked_child.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

constexpr std::size_t forked_cap_bytes = 1024 * MiB;

// Checks that both processes have the old data, and that neither sees the other's later writes.
void expect_two_worlds(Heap& heap) {
  std::byte* const first = filled(heap, MiB + 5, 1);
  std::byte* const gone = filled(heap, MiB, 9);
  std::byte* const second = filled(heap, 3 * MiB, 2);
  heap.free(gone);
  Child child(heap, [&] {
    const bool is_kept = holds_only(first, MiB + 5, 1) && holds_only(second, 3 * MiB, 2);
    std::memset(first, 5, MiB + 5);
    std::memset(second, 6, 3 * MiB);
    return is_kept && !heap.facts().state->is_shared && heap.facts().state->calls == 0 &&
           heap.facts().descriptor < 0 && heap.free(first) && holds_only(second, 3 * MiB, 6) &&
           heap.allocate(MiB) == nullptr;
  });
  std::memset(first, 3, MiB);
  EXPECT_EQ(child.end(), 0);
  EXPECT_TRUE(holds_only(first, MiB, 3));
  EXPECT_TRUE(holds_only(first + MiB, 5, 1));
  EXPECT_TRUE(holds_only(second, 3 * MiB, 2));
}

bool is_mapped_by_others_as(const Heap& heap, const std::byte* at) {
  const HeapFacts facts = heap.facts();
  const ArenaView view(facts.descriptor, facts.cap_bytes);
  return view.base()[at - facts.base] == *at;
}

TEST(HeapFork, ChildGetsCopy) {
  Heap heap(forked_cap_bytes);
  expect_two_worlds(heap);
  EXPECT_TRUE(heap.facts().state->is_shared);
  std::byte* const block = filled(heap, MiB, 7);
  EXPECT_TRUE(is_mapped_by_others_as(heap, block));
}

TEST(HeapFork, ChildGetsCopyOfCheckedHeap) {
  Heap heap(forked_cap_bytes, Heap::usual_most_copied_bytes, Heap::Care::checked);
  expect_two_worlds(heap);
  expect_two_worlds(heap);
}

TEST(HeapFork, AboveCapEndsSharingOfCheckedHeap) {
  Heap heap(forked_cap_bytes, 4 * MiB, Heap::Care::checked);
  ::testing::internal::CaptureStderr();
  expect_two_worlds(heap);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("stops sharing the heap"));
}

TEST(HeapFork, AboveCapEndsSharing) {
  Heap heap(forked_cap_bytes, 4 * MiB);
  std::byte* const before = filled(heap, MiB, 8);
  ::testing::internal::CaptureStderr();
  expect_two_worlds(heap);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("stops sharing the heap"));
  EXPECT_FALSE(heap.facts().state->is_shared);
  EXPECT_EQ(heap.allocate(1), nullptr);
  *before = std::byte{1};
  EXPECT_FALSE(is_mapped_by_others_as(heap, before));
  EXPECT_TRUE(heap.free(before));
}

TEST(HeapFork, UnsharedHeapIsInheritedLikeOtherMemory) {
  Heap heap(forked_cap_bytes, 0);
  std::byte* const block = filled(heap, MiB, 1);
  ::testing::internal::CaptureStderr();
  Child first(heap, [&] {
    Child grandchild(heap, [&] {
      const bool is_kept = holds_only(block, MiB, 1);
      std::memset(block, 3, MiB);
      return is_kept;
    });
    std::memset(block, 2, MiB);
    return grandchild.end() == 0 && holds_only(block, MiB, 2);
  });
  EXPECT_EQ(first.end(), 0);
  Child second(heap, [&] { return holds_only(block, MiB, 1); });
  std::memset(block, 4, MiB);
  EXPECT_EQ(second.end(), 0);
  ::testing::internal::GetCapturedStderr();
}

TEST(HeapFork, KeepsSharingWhilePeersUsePages) {
  Heap heap(forked_cap_bytes, 0);
  heap.facts().state->calls = 1;
  expect_two_worlds(heap);
  EXPECT_TRUE(heap.facts().state->is_shared);
  EXPECT_NE(heap.allocate(1), nullptr);
}

// libibverbs does this when a buffer is registered or deregistered.
TEST(HeapFork, CopiesPagesDespiteMadviseDofork) {
  Heap heap(forked_cap_bytes);
  std::byte* const block = filled(heap, MiB, 1);
  for (const int advice : {MADV_DONTFORK, MADV_DOFORK}) {
    ASSERT_EQ(madvise(block, MiB, advice), 0);
  }
  expect_two_worlds(heap);
  Child child(heap, [&] {
    const bool is_kept = holds_only(block, MiB, 1);
    std::memset(block, 2, MiB);
    return is_kept;
  });
  EXPECT_EQ(child.end(), 0);
  EXPECT_TRUE(holds_only(block, MiB, 1));
  EXPECT_TRUE(heap.facts().state->is_shared);
}

// Runs `work` on a thread whose stack is a block of the heap.
void run_on_stack_in(Heap& heap, std::function<void()> work) {
  constexpr std::size_t stack_bytes = MiB;
  void* const stack = heap.allocate(stack_bytes, page_bytes());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstack(&attributes, stack, stack_bytes), 0);
  pthread_t thread{};
  const auto run = [](void* given) -> void* {
    (*static_cast<std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  heap.free(stack);
}

TEST(HeapFork, OnStackInHeapEndsSharing) {
  Heap heap(forked_cap_bytes);
  ::testing::internal::CaptureStderr();
  run_on_stack_in(heap, [&] {
    std::byte* const block = filled(heap, MiB, 1);
    for (const int value : {2, 3}) {
      Child child(heap, [&] {
        const bool is_kept = holds_only(block, MiB, value - 1);
        std::memset(block, 9, MiB);
        return is_kept && heap.free(block);
      });
      std::memset(block, value, MiB);
      EXPECT_EQ(child.end(), 0);
      EXPECT_TRUE(holds_only(block, MiB, value));
    }
    EXPECT_TRUE(heap.free(block));
  });
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("stops sharing the heap"));
  EXPECT_FALSE(heap.facts().state->is_shared);
}

// Another thread's call ends meanwhile, and allocates before it does.
TEST(HeapFork, OnStackInHeapWaitsForOtherCalls) {
  Heap heap(forked_cap_bytes);
  heap.facts().state->calls = 1;
  std::atomic<bool> is_forking{false};
  std::thread other([&] {
    while (!is_forking) std::this_thread::yield();
    heap.free(heap.allocate(MiB));
    heap.facts().state->calls = 0;
  });
  ::testing::internal::CaptureStderr();
  run_on_stack_in(heap, [&] {
    is_forking = true;
    Child child(heap, [] { return true; });
    EXPECT_EQ(child.end(), 0);
  });
  other.join();
  ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(heap.facts().state->is_shared);
}

std::size_t resident_bytes() {
  std::size_t all_pages = 0;
  std::size_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> all_pages >> resident_pages;
  return resident_pages * page_bytes();
}

TEST(HeapFork, CopiesOnlyTouchedPages) {
  Heap heap(forked_cap_bytes);
  const std::size_t before = resident_bytes();
  auto* block = static_cast<std::byte*>(heap.allocate(500 * MiB));
  block[300 * MiB] = std::byte{1};
  Child child(heap, [&] {
    return resident_bytes() < before + 100 * MiB && block[300 * MiB] == std::byte{1} &&
           block[499 * MiB] == std::byte{0};
  });
  EXPECT_EQ(child.end(), 0);
}

TEST(HeapFork, ReturnsIfChildDies) {
  Heap heap(forked_cap_bytes);
  filled(heap, MiB, 1);
  Child child(
      heap, [] { return true; }, FirstAct::dies);
  EXPECT_EQ(WEXITSTATUS(child.end()), 1);
  EXPECT_NE(heap.allocate(1), nullptr);
}

// Fork handlers of other libraries run between the heap's own.
TEST(HeapFork, ChangesNoBlockDuringFork) {
  Heap heap(forked_cap_bytes);
  std::byte* const block = filled(heap, MiB, 1);
  heap.before_fork();
  EXPECT_EQ(heap.allocate(1), nullptr);
  EXPECT_GE(heap.bytes_of(block), MiB);
  errno = 0;
  EXPECT_FALSE(heap.clear({reinterpret_cast<std::uintptr_t>(block), MiB}));
  EXPECT_EQ(errno, EAGAIN) << "madvise() of the program reports it";
  EXPECT_TRUE(heap.free(block));
  heap.after_fork_in_parent();
  // The block must be unchanged: NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
  EXPECT_TRUE(holds_only(block, MiB, 1));
  EXPECT_TRUE(heap.free(block));
  EXPECT_FALSE(heap.free(block));
}

TEST(HeapFork, WithoutDescriptorsEndsSharing) {
  Heap heap(forked_cap_bytes);
  filled(heap, MiB, 1);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none{3, limit.rlim_max};
  ::testing::internal::CaptureStderr();
  setrlimit(RLIMIT_NOFILE, &none);
  heap.before_fork();
  setrlimit(RLIMIT_NOFILE, &limit);
  heap.after_fork_in_parent();
  ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(heap.facts().state->is_shared);
}

// A program may close descriptors that it does not know, and reuse their numbers.
TEST(HeapFork, DoesNotTouchFileThatReusedItsDescriptor) {
  Heap heap(forked_cap_bytes);
  std::byte* const block = filled(heap, 200 * MiB, 1);
  std::FILE* const file = std::tmpfile();
  EXPECT_EQ(ftruncate(fileno(file), static_cast<off_t>(forked_cap_bytes)), 0);
  EXPECT_EQ(pwrite(fileno(file), "its own", 7, 100 * MiB), 7);
  const int kept = dup(heap.facts().descriptor);
  EXPECT_EQ(dup2(fileno(file), heap.facts().descriptor), heap.facts().descriptor);
  EXPECT_TRUE(heap.free(block));
  Child child(heap, [] { return true; });
  EXPECT_EQ(child.end(), 0);
  std::array<char, 7> text{};
  EXPECT_EQ(pread(fileno(file), text.data(), 7, 100 * MiB), 7);
  EXPECT_EQ(std::string(text.data(), 7), "its own");
  dup2(kept, heap.facts().descriptor);
  close(kept);
  std::fclose(file);
}

// _Fork() calls no handlers, so that the child has no mapping there which it could write to.
TEST(HeapForkDeathTest, WithoutHandlersChildSharesNothing) {
  Heap heap(forked_cap_bytes);
  std::byte* const block = filled(heap, MiB, 1);
  const pid_t child = _Fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    *block = std::byte{2};
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
  EXPECT_EQ(*block, std::byte{1});
}

// Returns whether the mapping of this address is excluded from core dumps.
bool is_left_out(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  bool is_in = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) is_in = begin <= at && at < end;
    if (is_in && line.starts_with("VmFlags:")) return line.find(" dd") != std::string::npos;
  }
  ADD_FAILURE() << "no mapping there";
  return false;
}

// A core dump would allocate memory for all pages that it includes.
TEST(Heap, OnlyBlocksAreInCoreDumps) {
  Heap heap(forked_cap_bytes);
  std::byte* const block = filled(heap, 40 * MiB, 1);
  EXPECT_FALSE(is_left_out(block));
  EXPECT_FALSE(is_left_out(block + 40 * MiB - 1));
  EXPECT_TRUE(is_left_out(block + 60 * MiB));
}

}  // namespace
}  // namespace huddle::memory
