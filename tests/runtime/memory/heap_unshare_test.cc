// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Forks that end the sharing of the heap, because children would have too many copies of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/arithmetic.h"
#include "forked_child.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

constexpr std::size_t unshared_cap_bytes = 1024 * MiB;

// Returns the private memory of this process plus the memory of the heap's file.
std::size_t memory_with_file_bytes(const Heap& heap) {
  struct stat file {};
  fstat(heap.facts().descriptor, &file);
  std::ifstream status("/proc/self/status");
  std::size_t private_kibibytes = 0;
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") status >> private_kibibytes;
  }
  return static_cast<std::size_t>(file.st_blocks) * 512 + private_kibibytes * 1024;
}

// Runs the work and removes what it prints.
void quietly(const std::function<void()>& work) {
  ::testing::internal::CaptureStderr();
  work();
  ::testing::internal::GetCapturedStderr();
}

// Returns whether the thread of this process waits in read().
bool waits_in_read(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  int call = -1;
  return thread != 0 && file >> call && call == SYS_read;
}

TEST(HeapUnshare, UsesNoMoreMemory) {
  constexpr std::size_t filled_bytes = 200 * MiB;
  Heap heap(unshared_cap_bytes, 4 * MiB);
  std::byte* const block = filled(heap, filled_bytes, 1);
  const std::size_t before = memory_with_file_bytes(heap);
  quietly([&] {
    Child child(heap, [&] { return holds_only(block, filled_bytes, 1); });
    EXPECT_EQ(child.end(), 0);
  });
  EXPECT_TRUE(holds_only(block, filled_bytes, 1));
  std::memset(block, 2, filled_bytes);
  EXPECT_LT(memory_with_file_bytes(heap), before + filled_bytes / 4);
}

TEST(HeapUnshare, CountsCopiesOfLivingChildren) {
  Heap heap(unshared_cap_bytes, 10 * MiB);
  std::byte* const block = filled(heap, 6 * MiB, 1);
  const auto work = [&] { return holds_only(block, 6 * MiB, 1); };
  Child first(heap, work);
  EXPECT_TRUE(heap.facts().state->is_shared);
  quietly([&] {
    Child second(heap, work);
    EXPECT_FALSE(heap.facts().state->is_shared);
    EXPECT_EQ(second.end(), 0);
  });
  EXPECT_EQ(first.end(), 0);
}

TEST(HeapUnshare, IgnoresCopiesOfEndedChildren) {
  Heap heap(unshared_cap_bytes, 10 * MiB);
  std::byte* const block = filled(heap, 6 * MiB, 1);
  for (int i = 0; i < 3; ++i) {
    Child child(heap, [&] { return holds_only(block, 6 * MiB, 1); });
    EXPECT_EQ(child.end(), 0);
  }
  EXPECT_TRUE(heap.facts().state->is_shared);
}

// A child that copies nothing must not be counted with the bytes of an earlier child.
TEST(HeapUnshare, IgnoresChildrenWithoutCopies) {
  Heap heap(unshared_cap_bytes, 10 * MiB);
  std::byte* const block = filled(heap, 6 * MiB, 1);
  Child ended(heap, [] { return true; });
  EXPECT_EQ(ended.end(), 0);
  heap.free(block);
  Child living(heap, [] { return true; });
  filled(heap, 6 * MiB, 1);
  Child second(heap, [] { return true; });
  EXPECT_TRUE(heap.facts().state->is_shared);
  // The second child has inherited the pipe of the first one.
  EXPECT_EQ(second.end(), 0);
  EXPECT_EQ(living.end(), 0);
}

TEST(HeapUnshare, CountsManyChildren) {
  constexpr int children = 100;
  Heap heap(unshared_cap_bytes, 10 * MiB);
  std::byte* const block = filled(heap, MiB / 16, 1);
  std::vector<std::unique_ptr<Child>> living;
  for (int i = 0; i < children; ++i) {
    living.push_back(std::make_unique<Child>(heap, [&] { return holds_only(block, MiB / 16, 1); }));
  }
  EXPECT_TRUE(heap.facts().state->is_shared);
  // A child has inherited the pipes of those before it.
  for (auto child = living.rbegin(); child != living.rend(); ++child) EXPECT_EQ((*child)->end(), 0);
}

// The started program runs until its standard input ends.
TEST(HeapUnshare, IgnoresCopiesOfChildrenThatStartedAnotherProgram) {
  Heap heap(unshared_cap_bytes, 10 * MiB);
  filled(heap, 6 * MiB, 1);
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  ASSERT_EQ(pipe(input.data()) + pipe(output.data()), 0);
  heap.before_fork();
  const pid_t started = fork();
  if (started == 0) {
    heap.after_fork_in_child();
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    close(input[1]);
    execlp("sh", "sh", "-c", "echo; cat", nullptr);
    _exit(1);
  }
  heap.after_fork_in_parent();
  char word = 0;
  EXPECT_EQ(read(output[0], &word, 1), 1);
  Child second(heap, [] { return true; });
  EXPECT_EQ(second.end(), 0);
  EXPECT_TRUE(heap.facts().state->is_shared);
  for (const int number : {input[0], input[1], output[0], output[1]}) close(number);
  waitpid(started, nullptr, 0);
}

// An asynchronous read writes to the pages that it got when it started.
TEST(HeapUnshare, LeavesPagesInFileIfTheyMayBeReadInto) {
  Heap heap(unshared_cap_bytes, 0);
  std::byte* const block = filled(heap, 8 * MiB, 1);
  aio_context_t queue = 0;
  if (syscall(SYS_io_setup, 1, &queue) != 0) GTEST_SKIP() << "no asynchronous input and output";
  const int file = heap.facts().descriptor;
  std::byte written{2};
  quietly([&] {
    Child child(heap, [] { return true; });
    EXPECT_EQ(child.end(), 0);
  });
  EXPECT_EQ(pwrite(file, &written, 1, block - heap.facts().base), 1);
  EXPECT_EQ(*block, written);
  syscall(SYS_io_destroy, queue);
}

// With O_DIRECT, a read writes to the pages that it got when it started.
TEST(HeapUnshare, LeavesPagesInFileDuringARead) {
  Heap heap(unshared_cap_bytes, 0);
  std::byte* const block = filled(heap, 8 * MiB, 1);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::atomic<pid_t> number = 0;
  std::thread reader([&] {
    number = gettid();
    EXPECT_EQ(read(ends[0], block, 1), 1);
  });
  while (!waits_in_read(number)) {
  }
  std::byte written{2};
  quietly([&] {
    Child child(heap, [] { return true; });
    EXPECT_EQ(child.end(), 0);
  });
  EXPECT_EQ(pwrite(heap.facts().descriptor, &written, 1, block + MiB - heap.facts().base), 1);
  EXPECT_EQ(block[MiB], written);
  EXPECT_EQ(write(ends[1], "", 1), 1);
  reader.join();
  for (const int end : ends) close(end);
}

// A mapping of this process: its protection and its flags, as /proc/self/smaps prints them.
struct Mapping {
  std::string protection;
  std::string flags;
};

std::optional<Mapping> mapping_of(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Mapping found;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      const bool is_there = begin <= at && at < end;
      found.protection = is_there ? line.substr(line.find(' ') + 1, 3) : "";
    } else if (line.starts_with("VmFlags:") && !found.protection.empty()) {
      found.flags = line;
      return found;
    }
  }
  return std::nullopt;
}

bool is_locked(const void* address) {
  return mapping_of(address)->flags.find(" lo") != std::string::npos;
}

TEST(HeapUnshare, KeepsProtectionOfPages) {
  Heap heap(unshared_cap_bytes, 0);
  std::byte* const block = filled(heap, MiB, 1);
  std::byte* const page = block + (round_up(reinterpret_cast<std::uintptr_t>(block), page_bytes()) -
                                   reinterpret_cast<std::uintptr_t>(block));
  ASSERT_EQ(mprotect(page, page_bytes(), PROT_READ | PROT_EXEC), 0);
  ASSERT_EQ(mprotect(page + 2 * page_bytes(), page_bytes(), PROT_NONE), 0);
  quietly([&] {
    Child child(heap, [&] {
      return mapping_of(page)->protection == "r-x" && *page == std::byte{1} &&
             mapping_of(page + 2 * page_bytes())->protection == "---";
    });
    EXPECT_EQ(child.end(), 0);
  });
  EXPECT_FALSE(heap.facts().state->is_shared);
  EXPECT_EQ(mapping_of(page)->protection, "r-x");
  EXPECT_EQ(mapping_of(page + page_bytes())->protection, "rw-");
  EXPECT_EQ(mapping_of(page + 2 * page_bytes())->protection, "---");
  EXPECT_EQ(*page, std::byte{1});
}

TEST(HeapUnshare, KeepsPagesLocked) {
  Heap heap(unshared_cap_bytes, 0);
  std::byte* const block = filled(heap, MiB, 1);
  if (mlock(block, page_bytes()) != 0) GTEST_SKIP() << "may not lock memory";
  if (!is_locked(block)) GTEST_SKIP() << "under a sanitizer, mlock() does nothing";
  quietly([&] {
    Child child(heap, [] { return true; });
    EXPECT_EQ(child.end(), 0);
  });
  EXPECT_TRUE(is_locked(block));
  EXPECT_FALSE(is_locked(block + MiB / 2));
}

}  // namespace
}  // namespace huddle::memory
