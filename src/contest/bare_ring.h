// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Data handed from one process to another through a ring of blocks: both sides copy at the same
// time. As calibrate's ring, between processes.
#pragma once

#include <array>
#include <cstddef>

#include "calibrate/flag.h"
#include "calibrate/handoff_probe.h"
#include "contest/contender.h"
#include "contest/shared_pages.h"
#include "memory/passing.h"

namespace huddle::contest {

class BareRing final : public Contender {
 public:
  explicit BareRing(const memory::Passing& passing) : passing_(passing) {}

  void set_up(const Here& here) override;
  void prepare(const Here& here) override;
  void run(const Here& here, int calls) override;
  bool is_right(const Here& here) override;

 private:
  using Block = std::array<std::byte, calibrate::ring_block_bytes>;

  void write(const Here& here);
  void read(const Here& here);

  memory::Passing passing_;
  Shared<Block> blocks_{calibrate::ring_blocks};
  Shared<calibrate::Flag> flags_{std::size_t{2}};  // blocks filled, blocks emptied
  calibrate::Count count_ = 0;                     // blocks of all calls
};

}  // namespace huddle::contest
