// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Data handed from one process to another through a ring of blocks: both sides copy at the same
// time. As calibrate's ring, between processes.
#pragma once

#include <array>
#include <cstddef>

#include "runtime/memory/copy_method.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/shared_pages.h"
#include "tools/calibrate/flag.h"
#include "tools/calibrate/handoff_probe.h"

namespace huddle::bench {

class BareRing final : public Implementation {
 public:
  explicit BareRing(memory::CopyMethod method) : method_(method) {}

  void set_up(const RankContext& here) override;
  void prepare(const RankContext& here) override;
  void run(const RankContext& here, int calls) override;
  bool is_right(const RankContext& here) override;

 private:
  using Block = std::array<std::byte, calibrate::ring_block_bytes>;

  void write(const RankContext& here);
  void read(const RankContext& here);

  memory::CopyMethod method_;
  Shared<Block> blocks_{calibrate::ring_blocks};
  Shared<calibrate::Flag> flags_{std::size_t{2}};  // blocks filled, blocks emptied
  calibrate::Count count_ = 0;                     // blocks of all calls
};

}  // namespace huddle::bench
