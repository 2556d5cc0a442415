// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/engine/bare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/system.h"
#include "runtime/memory/arena.h"
#include "runtime/memory/copy.h"
#include "runtime/single_copy/cma.h"
#include "runtime/single_copy/heap_memory.h"
#include "tools/bench/harness/harness.h"

namespace huddle::bench {
namespace {

using calibrate::ring_block_bytes;
using calibrate::ring_blocks;

// Calls `step` with each block of the data.
template <class Step>
void block_by_block(std::span<std::byte> data, Step step) {
  for (std::size_t at = 0; at < data.size(); at += ring_block_bytes) {
    step(data.subspan(at, std::min(ring_block_bytes, data.size() - at)));
  }
}

}  // namespace

void BareRing::set_up(const RankContext& here) {
  if (here.rank != 0) return;
  blocks_.build();
  flags_.build();
}

void BareRing::prepare(const RankContext& here) {
  if (here.rank == 0) fill_words(here.source, here.stamp);
}

void BareRing::run(const RankContext& here, int calls) {
  for (int call = 0; call < calls; ++call) here.rank == 0 ? write(here) : read(here);
}

void BareRing::write(const RankContext& here) {
  block_by_block(here.source, [&](std::span<std::byte> part) {
    // Wait until the reader has copied the block's previous contents.
    await_bare(flags_[1].value, count_ + 1 - static_cast<Count>(ring_blocks));
    memory::copy_in(method_, blocks_[count_ % ring_blocks].data(), part.data(), part.size());
    publish(flags_[0].value, ++count_);
  });
}

void BareRing::read(const RankContext& here) {
  block_by_block(here.target, [&](std::span<std::byte> part) {
    await_bare(flags_[0].value, count_ + 1);
    memory::copy_out(method_, part.data(), blocks_[count_ % ring_blocks].data(), part.size());
    publish(flags_[1].value, ++count_);
  });
}

bool BareRing::is_right(const RankContext& here) {
  return here.rank == 0 || has_words(here.target, here.stamp);
}

namespace {

// Returns the block size: each rank's buffer holds one block for each of the two ranks.
std::size_t block_bytes(const RankContext& here) { return here.source.size() / 2; }

}  // namespace

void BareRead::set_up(const RankContext& here) {
  if (single_copy::yama_asks(System())) permit_.emplace();
  if (here.rank == 0) shown_.build();
}

void BareRead::prepare(const RankContext& here) {
  const single_copy::RemoteAddress source = reinterpret_cast<std::uintptr_t>(here.source.data());
  Shown& mine = shown_[static_cast<std::size_t>(here.rank)];
  mine.process = getpid();
  mine.source = here.heap == nullptr ? source : source | single_copy::mapped_bit;
  if (here.heap != nullptr) mine.heap = here.heap->facts();
  fill_words(here.source, here.stamp + static_cast<std::uint32_t>(here.rank));
}

void BareRead::open_peer(const RankContext& here) {
  const Shown& peer = shown_[static_cast<std::size_t>(1 - here.rank)];
  const auto process = static_cast<pid_t>(peer.process);
  peer_ = std::make_unique<single_copy::CmaMemory>(process, single_copy::unwatched);
  if (here.heap == nullptr) return;
  const std::string path = fmt::format("/proc/{}/fd/{}", process, peer.heap.descriptor);
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) throw FailureError("a rank cannot map the heap of another");
  peer_ = std::make_unique<single_copy::HeapMemory>(
      std::make_shared<memory::ArenaView>(file.number(), peer.heap.cap_bytes),
      reinterpret_cast<std::uintptr_t>(peer.heap.base), std::move(peer_),
      single_copy::Copying{kernel_, kernel_});
}

void BareRead::run(const RankContext& here, int calls) {
  if (!reads(here)) return;
  if (!peer_) open_peer(here);
  const std::size_t bytes = block_bytes(here);
  const Shown& peer = shown_[static_cast<std::size_t>(1 - here.rank)];
  for (int call = 0; call < calls; ++call) {
    if (own_ == Own::copied) {
      memory::copy_bytes(memory::CopyKernel::plain, here.target.data(), here.source.data(), bytes);
    }
    const auto error = peer_->read(here.target.data() + bytes, peer.source, bytes);
    if (error != single_copy::fine) {
      throw FailureError("a rank cannot read the memory of another: " +
                         single_copy::text_of(error));
    }
  }
}

bool BareRead::is_right(const RankContext& here) {
  if (!reads(here)) return true;
  const std::size_t bytes = block_bytes(here);
  const auto holds_block_of = [&](std::span<const std::byte> block, int rank) {
    return has_words(block, here.stamp + static_cast<std::uint32_t>(rank));
  };
  return (own_ == Own::left || holds_block_of(here.target.first(bytes), here.rank)) &&
         holds_block_of(here.target.subspan(bytes), 1 - here.rank);
}

}  // namespace huddle::bench
