// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/heap_memory.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/memory/heap.h"

namespace huddle::single_copy {
namespace {

class Refusing : public PeerMemory {
 public:
  ErrorNumber read(std::byte*, RemoteAddress, std::size_t) noexcept override { return EPERM; }
  ErrorNumber write(RemoteAddress, const std::byte*, std::size_t) noexcept override {
    return EPERM;
  }
};

RemoteAddress told_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// A mapping of the heap at another address, as a peer has it.
HeapMemory memory_of(const memory::Heap& heap, const Copying& copying = {}) {
  const memory::HeapFacts facts = heap.facts();
  return {std::make_shared<memory::ArenaView>(facts.descriptor, facts.cap_bytes),
          told_of(facts.base), std::make_unique<Refusing>(), copying};
}

TEST(HeapMemory, ReadsThroughMapping) {
  memory::Heap heap(std::size_t{64} << 20);
  auto* block = static_cast<std::byte*>(heap.allocate(100'000));
  std::memset(block, 7, 100'000);
  HeapMemory memory = memory_of(heap);
  std::vector<std::byte> got(1000);
  ASSERT_EQ(memory.read(got.data(), (told_of(block) | mapped_bit) + 5000, got.size()), fine);
  EXPECT_EQ(got, std::vector<std::byte>(1000, std::byte{7}));
}

TEST(HeapMemory, WritesThroughMapping) {
  memory::Heap heap(std::size_t{64} << 20);
  auto* block = static_cast<std::byte*>(heap.allocate(100'000));
  HeapMemory memory = memory_of(heap);
  const std::vector<std::byte> sent(1000, std::byte{7});
  ASSERT_EQ(memory.write((told_of(block) | mapped_bit) + 5000, sent.data(), sent.size()), fine);
  EXPECT_EQ(std::vector<std::byte>(block + 5000, block + 6000), sent);
  std::byte* here = memory.mapped(told_of(block + 99'999) | mapped_bit);
  ASSERT_NE(here, nullptr);
  EXPECT_NE(here, block + 99'999);
  *here = std::byte{9};
  EXPECT_EQ(block[99'999], std::byte{9});
}

// Also with 0 bytes.
TEST(HeapMemory, CopiesWithEveryKernel) {
  memory::Heap heap(std::size_t{64} << 20);
  auto* block = static_cast<std::byte*>(heap.allocate(100'000));
  for (const memory::CopyKernel kernel : memory::copy_kernels) {
    HeapMemory memory = memory_of(heap, {kernel, kernel});
    const std::vector<std::byte> sent(70'001, static_cast<std::byte>(kernel));
    std::vector<std::byte> got(sent.size(), std::byte{0xEE});
    ASSERT_EQ(memory.write(told_of(block) | mapped_bit, sent.data(), sent.size()), fine);
    ASSERT_EQ(memory.read(got.data(), told_of(block) | mapped_bit, got.size()), fine);
    EXPECT_EQ(got, sent);
    EXPECT_EQ(memory.read(got.data(), told_of(block) | mapped_bit, 0), fine);
  }
}

TEST(HeapMemory, UsesOtherPathOutsideHeap) {
  memory::Heap heap(std::size_t{64} << 20);
  HeapMemory memory = memory_of(heap);
  std::byte got{};
  EXPECT_EQ(memory.read(&got, told_of(&got), 1), EPERM);
  EXPECT_EQ(memory.write(told_of(&got), &got, 1), EPERM);
  EXPECT_EQ(memory.mapped(told_of(&got)), nullptr);
}

}  // namespace
}  // namespace huddle::single_copy
