// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What ranks of this process have sent to other nodes. For several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace huddle::internode {

class Traffic {
 public:
  void add(std::size_t bytes) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  std::uint64_t messages() const { return messages_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace huddle::internode
