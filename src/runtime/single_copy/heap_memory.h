// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory of a peer that keeps large blocks in a mappable heap (runtime/memory/heap.h). Blocks
// of the heap are accessed through a mapping, without system calls; other memory is accessed by
// another path.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/memory/arena.h"
#include "runtime/memory/copy.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::single_copy {

// The name of this path, as printed by `huddle explain`.
inline constexpr std::string_view heap = "heap";

// The kernels that copy blocks from and to a peer's heap.
struct Copying {
  memory::KernelBySize reads;
  memory::KernelBySize writes;
};

class HeapMemory : public PeerMemory {
 public:
  // base: the address of the heap in its owner. otherwise: accesses memory outside the heap.
  HeapMemory(std::shared_ptr<const memory::ArenaView> view, std::uint64_t base,
             std::unique_ptr<PeerMemory> otherwise, const Copying& copying)
      : view_(std::move(view)), base_(base), otherwise_(std::move(otherwise)), copying_(copying) {}

  [[nodiscard]] ErrorNumber read(std::byte* to, RemoteAddress from,
                                 std::size_t bytes) noexcept override;
  [[nodiscard]] ErrorNumber write(RemoteAddress to, const std::byte* from,
                                  std::size_t bytes) noexcept override;
  [[nodiscard]] std::byte* mapped(RemoteAddress told) const noexcept override;

 private:
  std::shared_ptr<const memory::ArenaView> view_;
  std::uint64_t base_;
  std::unique_ptr<PeerMemory> otherwise_;
  Copying copying_;
};

}  // namespace huddle::single_copy
