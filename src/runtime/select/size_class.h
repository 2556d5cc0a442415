// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Sizes that are treated alike, so that a choice is made once for all of them. Every class ends at
// a size; a choice made for that size can serve all smaller ones of the class.
#pragma once

#include <bit>
#include <cstddef>

namespace huddle::select {

// The powers of two and three steps between: rounding up adds a quarter at most.
inline constexpr std::size_t classes_an_octave = 4;
inline constexpr std::size_t size_classes = 64 * classes_an_octave;

// The largest size of a class.
constexpr std::size_t largest_in(std::size_t size_class) {
  const std::size_t octave = size_class / classes_an_octave;
  const std::size_t step = size_class % classes_an_octave;
  const std::size_t unit = std::size_t{1} << octave;
  // Nothing here may pass 2^64, not for the largest class either.
  return unit + unit / classes_an_octave * step +
         unit % classes_an_octave * step / classes_an_octave;
}

// The smallest class that holds a size.
constexpr std::size_t size_class_of(std::size_t bytes) {
  if (bytes <= 1) return 0;
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // below `bytes`
  const std::size_t unit = std::size_t{1} << octave;
  // Quarters of the octave, rounded up, in 1 .. classes_an_octave.
  const std::size_t above = bytes - unit;
  const std::size_t quarter = unit / classes_an_octave;
  const std::size_t step = quarter == 0 ? (above * classes_an_octave + unit - 1) / unit
                                        : (above + quarter - 1) / quarter;
  return octave * classes_an_octave + step;
}

}  // namespace huddle::select
