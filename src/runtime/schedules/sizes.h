// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How many bytes the blocks of a call have. All ranks know it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

class Sizes {
 public:
  // Every block as large.
  static Sizes equal(std::size_t bytes);
  // `count` elements of `element` bytes cut into so many blocks, as evenly as may be.
  static Sizes cut(std::size_t count, std::size_t element, std::int64_t blocks);
  // As they are listed: the v-forms.
  static Sizes listed(std::span<const std::size_t> bytes);

  // Where a block begins if blocks lie one after the other.
  std::size_t offset(std::int64_t block) const;
  std::size_t bytes(std::int64_t block) const { return offset(block + 1) - offset(block); }
  std::size_t bytes(const Blocks& blocks) const;
  bool operator==(const Sizes& other) const;

 private:
  // Block b begins at element b * elements_ / blocks_, or at (*starts_)[b] where these are
  // listed.
  std::size_t elements_ = 0;
  std::size_t element_bytes_ = 1;
  std::size_t blocks_ = 1;
  std::shared_ptr<const std::vector<std::size_t>> starts_;  // of all copies
};

}  // namespace huddle::net
