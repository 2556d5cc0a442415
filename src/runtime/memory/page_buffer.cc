// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/memory/page_buffer.h"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "common/error.h"
#include "common/text.h"

namespace huddle::memory {
namespace {

using NodeMask = std::vector<unsigned long>;
constexpr int bits_a_word = sizeof(unsigned long) * CHAR_BIT;
// The kernel rejects masks that are smaller than its number of nodes, which is at most 1024.
constexpr std::size_t mask_words = 1024 / bits_a_word;

NodeMask mask_of(int node) {
  NodeMask mask(std::max(mask_words, static_cast<std::size_t>(node / bits_a_word) + 1), 0);
  mask[static_cast<std::size_t>(node / bits_a_word)] = 1UL << (node % bits_a_word);
  return mask;
}

// The kernel uses one bit less than the given count.
unsigned long bits_of(const NodeMask& mask) { return mask.size() * bits_a_word + 1; }

void require(long result, int node) {
  if (result == 0 || (errno == ENOSYS && node == 0)) return;
  throw FailureError(fmt::format(
      "cannot allocate memory on NUMA node {}: {}; check that this process may use that node "
      "(numactl --show)",
      node, std::strerror(errno)));
}

// Returns the node of the page at each address.
std::vector<int> nodes_of(const std::vector<std::uintptr_t>& addresses) {
  std::vector<int> nodes(addresses.size(), unknown_node);
  const long result =
      syscall(SYS_move_pages, 0, addresses.size(), addresses.data(), nullptr, nodes.data(), 0);
  for (int& node : nodes) {
    if (result != 0 || node < 0) node = unknown_node;
  }
  return nodes;
}

}  // namespace

std::vector<int> numa_nodes_of_pages(std::span<const std::byte> pages) {
  std::vector<std::uintptr_t> addresses;
  for (std::size_t at = 0; at < pages.size(); at += page_bytes()) {
    static_cast<void>(*static_cast<const volatile std::byte*>(&pages[at]));
    addresses.push_back(reinterpret_cast<std::uintptr_t>(&pages[at]));
  }
  return nodes_of(addresses);
}

std::vector<int> sample_numa_nodes(std::span<const std::byte> memory, int most_pages) {
  const auto count = static_cast<std::size_t>(most_pages);
  if (memory.size() < count * page_bytes()) return {};
  std::vector<std::uintptr_t> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uintptr_t at =
        reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size() / count * i;
    addresses.push_back(at / page_bytes() * page_bytes());
  }
  return nodes_of(addresses);
}

bool allocates_on_own_node() {
  int policy = MPOL_BIND;
  if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) != 0) return false;
  return policy == MPOL_DEFAULT || policy == MPOL_LOCAL;
}

void bind_to_node(std::span<std::byte> pages, int node) {
  const NodeMask mask = mask_of(node);
  require(syscall(SYS_mbind, pages.data(), pages.size(), MPOL_BIND, mask.data(), bits_of(mask), 0),
          node);
}

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t machine_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

PageBuffer::PageBuffer(std::size_t bytes, int numa_node) {
  const std::size_t page = page_bytes();
  size_ = (bytes + page - 1) / page * page;
  if (size_ == 0) return;
  void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw FailureError(fmt::format(
        "cannot allocate {} of memory: {}; free memory, or raise the memory limit of this "
        "process",
        size_text(static_cast<double>(size_)), std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(mapped);
  if (numa_node == where_touched) return;
  try {
    bind_to_node({data_, size_}, numa_node);
  } catch (...) {
    munmap(data_, size_);
    throw;
  }
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) munmap(data_, size_);
}

void PageBuffer::touch() const {
  const std::size_t page = page_bytes();
  for (std::size_t at = 0; at < size_; at += page) data_[at] = std::byte{1};
}

void PageBuffer::forbid_huge_pages() const {
  if (size_ != 0) madvise(data_, size_, MADV_NOHUGEPAGE);
}

SparseBuffer::SparseBuffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes_ == 0) return;
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(mapped);
}

SparseBuffer::~SparseBuffer() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace huddle::memory
