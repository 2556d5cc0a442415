// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a heap that looks for errors lays out a block: on pages of its own, ending where they end,
// with a page behind it that nobody may touch. Who writes beyond a block, or uses one that is not
// its own any more, is stopped there and then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/memory/arena_space.h"

namespace huddle::memory {

struct CheckedBlock {
  std::size_t address = 0;
  std::size_t bytes = 0;  // that were asked for

  // How many bytes of whole pages it takes, the one behind it included.
  static std::size_t pages_for(std::size_t bytes);
  // The last that such pages hold. pre: they begin at a multiple of the alignment.
  static CheckedBlock at_end_of(Piece pages, std::size_t bytes, std::size_t alignment);

  // All that it takes.
  Piece pages() const;

  // Makes the page behind it one that nobody may touch, where the system has mappings left for
  // that; and fills what alignment leaves between the two, and the block if it may hold anything,
  // with bytes that are no good as numbers or addresses.
  void arm(bool fill) const noexcept;
  // Nobody has written between its end and the page behind it.
  bool is_intact() const noexcept;
};

// Says what was found, with the block, and ends the program.
[[noreturn]] void report(std::string_view found, const CheckedBlock& block);
[[noreturn]] void report(std::string_view found, Piece pages);

}  // namespace huddle::memory
