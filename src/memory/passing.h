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
  asked,     // their writer asks for them again ahead of the next block, when it has the time
};

struct Passing {
  // Whoever names nothing but a kernel means one that any number of readers may read.
  constexpr Passing(CopyKernel copy_in = CopyKernel::plain, Lines lines_then = Lines::stay,
                    CopyKernel copy_out = CopyKernel::plain)
      : in(copy_in), lines(lines_then), out(copy_out) {}

  CopyKernel in;
  Lines lines;
  CopyKernel out;

  bool operator==(const Passing&) const = default;
};

inline constexpr Passing by_pages(CopyKernel::abreast, Lines::stay, CopyKernel::abreast);
inline constexpr Passing by_taking(CopyKernel::plain, Lines::taken);
inline constexpr Passing by_returning(CopyKernel::plain, Lines::returned);
inline constexpr Passing by_returning_pages(CopyKernel::plain, Lines::returned,
                                            CopyKernel::abreast);

inline constexpr Passing by_asking(CopyKernel::plain, Lines::asked);
inline constexpr Passing by_asking_pages(CopyKernel::abreast, Lines::asked, CopyKernel::abreast);

// Which there are to choose from, by who reads.
using Passings = std::span<const Passing>;
inline constexpr std::array<Passing, 5> to_many = {CopyKernel::plain, CopyKernel::rep_movsb,
                                                   CopyKernel::nontemporal,
                                                   CopyKernel::prefetch_write, by_pages};
inline constexpr std::array<Passing, 6> to_one = {CopyKernel::plain,
                                                  CopyKernel::rep_movsb,
                                                  CopyKernel::nontemporal,
                                                  CopyKernel::prefetch_write,
                                                  by_pages,
                                                  by_taking};
inline constexpr std::array<Passing, 8> to_and_fro = {CopyKernel::plain,
                                                      CopyKernel::rep_movsb,
                                                      CopyKernel::nontemporal,
                                                      CopyKernel::prefetch_write,
                                                      by_pages,
                                                      by_taking,
                                                      by_returning,
                                                      by_returning_pages};
// By a writer that has just read the lines, to the one that had written them.
inline constexpr std::array<Passing, 2> answers = {by_returning, by_returning_pages};
// By a writer that reads nothing meanwhile.
inline constexpr std::array<Passing, 2> one_way = {by_asking, by_asking_pages};
// Of blocks that are joined to something where they lie: nobody copies them out.
inline constexpr std::array<Passing, 4> joined_by_many = {
    CopyKernel::plain, CopyKernel::rep_movsb, CopyKernel::nontemporal, CopyKernel::prefetch_write};
inline constexpr std::array<Passing, 5> joined_by_one = {CopyKernel::plain, CopyKernel::rep_movsb,
                                                         CopyKernel::nontemporal,
                                                         CopyKernel::prefetch_write, by_taking};
inline constexpr std::array<Passing, 5> joined_to_and_fro = {
    CopyKernel::plain, CopyKernel::rep_movsb, CopyKernel::nontemporal, CopyKernel::prefetch_write,
    by_returning};

constexpr std::string_view name(const Passing& passing) {
  switch (passing.lines) {
    case Lines::stay:
      return name(passing.in);
    case Lines::taken:
      return "taken";
    case Lines::returned:
      return passing.out == CopyKernel::abreast ? "returned abreast" : "returned";
    case Lines::asked:
      return passing.out == CopyKernel::abreast ? "asked for, abreast" : "asked for";
  }
  return {};
}

inline void copy_out(const Passing& passing, void* target, void* source, std::size_t n) {
  passing.lines == Lines::taken ? take_bytes(target, source, n)
                                : copy_bytes(passing.out, target, source, n);
}

}  // namespace huddle::memory
