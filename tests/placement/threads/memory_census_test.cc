// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/protection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "../../common/scratch.h"
#include "common/file.h"
#include "huge_page_bytes.h"
#include "placement/threads/page_faults.h"

namespace huddle::threads {
namespace {

TEST(MemoryCensus, CountsWritableMappingsOfFiles) {
  const std::uint64_t bytes = file_mapping_bytes({
      "7f0000000000-7f0000002000 rw-s 00000000 00:01 1   /dev/zero (deleted)",
      "7f0000010000-7f0000011000 rw-s 00000000 00:01 2   /dev/shm/queue",
      "7f0000020000-7f0000021000 rw-s 00000000 00:01 3   /home/file",
      "7f0000030000-7f0000031000 rw-s 00000000 00:01 4   /dev/infiniband/uverbs0",
      "7f0000040000-7f0000041000 rw-s 00000000 00:01 5   anon_inode:[perf_event]",
      "7f0000050000-7f0000051000 r--s 00000000 00:01 6   /home/table",
      "7f0000060000-7f0000061000 rw-p 00000000 00:00 0 ",
      "damaged",
  });
  EXPECT_EQ(bytes, 0x1000U);
}

TEST(MemoryCensus, SeesFileMappingsOfThisProcess) {
  constexpr std::size_t mapped_bytes = std::size_t{3} << 20U;
  const test::Scratch scratch;
  const FileDescriptor file(::open(scratch.write("file", "").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.number(), mapped_bytes), 0);
  const MemoryCensus before = count_memory(::getpid());
  void* const shared =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  ASSERT_NE(shared, MAP_FAILED);
  const MemoryCensus after = count_memory(::getpid());
  ::munmap(shared, mapped_bytes);
  EXPECT_GT(before.resident_bytes, 0U);
  EXPECT_EQ(after.shared_bytes - before.shared_bytes, mapped_bytes);
}

TEST(MemoryCensus, HugePagesMatchKernelCounters) {
  if (!try_protection().works) GTEST_SKIP() << "this kernel cannot scan page tables";
  constexpr std::size_t huge_bytes = std::size_t{2} << 20U;
  constexpr std::size_t mapped_bytes = 4 * huge_bytes;
  void* const memory =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, mapped_bytes, MADV_HUGEPAGE);
  for (std::size_t at = 0; at < mapped_bytes; at += 4096) static_cast<char*>(memory)[at] = 1;
  const std::uint64_t by_kernel = huge_page_bytes(::getpid());
  const std::uint64_t counted = count_memory(::getpid()).huge_bytes;
  ::munmap(memory, mapped_bytes);
  EXPECT_EQ(counted, by_kernel);
}

TEST(MemoryCensus, KeepsLargerOfEachFigure) {
  MemoryCensus most{10, 2, 30};
  most.keep_most({20, 1, 40});
  EXPECT_EQ(most, (MemoryCensus{20, 2, 40}));
}

}  // namespace
}  // namespace huddle::threads
