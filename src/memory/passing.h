// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a block passes through shared memory: in which way it is copied in, and in which way out.
// Which is fastest is measured (huddle calibrate), as with the copies by themselves.
#pragma once

#include <array>
#include <string_view>

#include "memory/copy.h"

namespace huddle::memory {

struct Passing {
  // Whoever names nothing but a kernel means one that any number of readers may read.
  constexpr Passing(CopyKernel copy_in = CopyKernel::plain, bool is_taken = false)
      : in(copy_in), taken(is_taken) {}

  CopyKernel in;
  // Whether its reader, who has to be the only one, takes the lines as it reads (take_bytes).
  bool taken;

  bool operator==(const Passing&) const = default;
};

inline constexpr Passing by_taking(CopyKernel::plain, true);
inline constexpr std::array<Passing, 5> passings = {CopyKernel::plain, CopyKernel::rep_movsb,
                                                    CopyKernel::nontemporal,
                                                    CopyKernel::prefetch_write, by_taking};

constexpr std::string_view name(const Passing& passing) {
  return passing.taken ? "taken" : name(passing.in);
}

inline void copy_out(const Passing& passing, void* target, void* source, std::size_t n) {
  passing.taken ? take_bytes(target, source, n) : copy_bytes(CopyKernel::plain, target, source, n);
}

}  // namespace huddle::memory
