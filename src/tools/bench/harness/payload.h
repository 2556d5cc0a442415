// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Data that differ from place to place and from stretch to stretch, so that none can be mistaken
// for other data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace huddle::bench {

// Of what one rank has for another: it differs from all else.
std::uint32_t stamp_of(std::uint32_t stamp, int from, int to);

// As 8-byte words. pre: a whole number of them, aligned.
void fill_words(std::span<std::byte> data, std::uint32_t stamp);
bool has_words(std::span<const std::byte> data, std::uint32_t stamp);

// As doubles that add up exactly; and the sums of what all ranks have.
void fill_numbers(std::span<std::byte> data, std::uint32_t stamp, int rank);
// `first`: where the sums begin among all.
bool has_sums(std::span<const std::byte> data, std::uint32_t stamp, int ranks, std::size_t first);

}  // namespace huddle::bench
