// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/protection.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "huge_page_bytes.h"

namespace huddle::threads {
namespace {

// Tests with a huge page of this process, if the kernel provides one.
class HugePage : public ::testing::Test {
 protected:
  static constexpr std::size_t huge_bytes = 2U << 20U;
  void SetUp() override {
    void* const room =
        ::mmap(nullptr, room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(room, MAP_FAILED);
    room_ = at_ = room;
    std::size_t left = room_bytes;
    std::align(huge_bytes, huge_bytes, at_, left);
    const std::uint64_t before = huge_page_bytes(::getpid());
    ::madvise(at_, huge_bytes, MADV_HUGEPAGE);
    *static_cast<volatile char*>(at_) = 1;
    had_ = huge_page_bytes(::getpid());
    if (had_ != before + huge_bytes) {
      GTEST_SKIP() << "this kernel gives no huge pages of 2 MiB to who asks for them "
                      "(/sys/kernel/mm/transparent_hugepage/enabled)";
    }
    userfaultfd_ = open_userfaultfd();
    if (!userfaultfd_.is_open()) GTEST_SKIP() << "userfaultfd cannot protect here";
  }
  void TearDown() override {
    if (room_ != nullptr) ::munmap(room_, room_bytes);
  }
  // Protects some of its pages. Returns their number.
  int protect(Protection::HugePages huge) {
    Protection protection(::getpid(), std::move(userfaultfd_), huge);
    const auto start = reinterpret_cast<std::uintptr_t>(at_);
    protection.watch_only({start, start + huge_bytes});
    constexpr int some_pages = 64;
    protection.rearm(some_pages);  // the first call finds no protected pages that were written to
    for (std::size_t i = 0; i < huge_bytes; i += page_bytes)
      static_cast<volatile char*>(at_)[i] = 2;
    return protection.rearm(some_pages);
  }
  bool is_still_huge() const { return huge_page_bytes(::getpid()) == had_; }

 private:
  static constexpr std::size_t room_bytes = 2 * huge_bytes, page_bytes = 4096;
  void* room_ = nullptr;
  void* at_ = nullptr;
  std::uint64_t had_ = 0;
  FileDescriptor userfaultfd_;
};

TEST_F(HugePage, IsLeftAlone) {
  EXPECT_EQ(protect(Protection::HugePages::left_alone), 0);
  EXPECT_TRUE(is_still_huge());
}

TEST_F(HugePage, IsSplitOnRequest) {
  EXPECT_GT(protect(Protection::HugePages::split), 0);
  EXPECT_FALSE(is_still_huge());
}

}  // namespace
}  // namespace huddle::threads
