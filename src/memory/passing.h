// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a block passes through shared memory: in which way it is copied in, and in which way out.
// Which is fastest is measured (huddle calibrate), as with the copies by themselves.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "memory/copy.h"

namespace huddle::memory {

// What becomes of a block's lines.
enum class Lines : std::uint8_t {
  stay,      // any number of readers have read them when they are written again
  taken,     // the only reader takes them as it reads (take_bytes)
  returned,  // the only reader writes the next block to them, for whoever wrote this one
};

// Which of these may be, by who reads.
using LinesAllowed = std::span<const Lines>;
inline constexpr std::array to_many = {Lines::stay};
inline constexpr std::array to_one = {Lines::stay, Lines::taken};
inline constexpr std::array to_and_fro = {Lines::stay, Lines::taken, Lines::returned};
// Read, and joined to something, where they lie.
inline constexpr std::array joined_to_and_fro = {Lines::stay, Lines::returned};

struct Passing {
  // Whoever names nothing but a kernel means one that any number of readers may read.
  constexpr Passing(CopyKernel copy_in = CopyKernel::plain, Lines lines_then = Lines::stay)
      : in(copy_in), lines(lines_then) {}

  CopyKernel in;
  Lines lines;

  bool operator==(const Passing&) const = default;
};

inline constexpr Passing by_taking(CopyKernel::plain, Lines::taken);
inline constexpr Passing by_returning(CopyKernel::plain, Lines::returned);
// In which a message may stream.
inline constexpr std::array<Passing, 5> passings = {CopyKernel::plain, CopyKernel::rep_movsb,
                                                    CopyKernel::nontemporal,
                                                    CopyKernel::prefetch_write, by_taking};

constexpr std::string_view name(const Passing& passing) {
  switch (passing.lines) {
    case Lines::stay:
      return name(passing.in);
    case Lines::taken:
      return "taken";
    case Lines::returned:
      return "returned";
  }
  return {};
}

inline void copy_out(const Passing& passing, void* target, void* source, std::size_t n) {
  passing.lines == Lines::taken ? take_bytes(target, source, n)
                                : copy_bytes(CopyKernel::plain, target, source, n);
}

}  // namespace huddle::memory
