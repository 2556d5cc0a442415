// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/bare_ring.h"

#include <algorithm>

#include "tools/bench/engine/bare_flags.h"
#include "tools/bench/harness/payload.h"

namespace huddle::bench {
namespace {

using calibrate::ring_block_bytes;
using calibrate::ring_blocks;

// Calls step(block's part of the data) for each block.
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
    // What lay there before has been taken.
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

}  // namespace huddle::bench
