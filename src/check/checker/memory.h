// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory of a checked team: four regions of each rank, as plain bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/context/sequence.h"

namespace huddle::check::checker {

// States as one number each: two that differ have different ones, but for one in billions.

// Takes another number into a digest; every bit of both matters (the finalizer of splitmix64).
constexpr std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  std::uint64_t z = digest * 0x9E3779B97F4A7C15U + value + 0x632BE59BD9B4E019U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// Which lines of an array were touched: an execution touches few, so that beginning the next one
// costs little.
class DirtyLines {
 public:
  explicit DirtyLines(std::size_t bytes)
      : bytes_(bytes), marked_((bytes + line_bytes - 1) / line_bytes) {}

  // pre: first + n is within the array.
  void mark(std::size_t first, std::size_t n) {
    if (n == 0) return;
    for (std::size_t line = first / line_bytes; line <= (first + n - 1) / line_bytes; ++line) {
      if (marked_[line]) continue;
      marked_[line] = true;
      lines_.push_back(line);
    }
  }

  // Calls clean(first byte, bytes) for each and forgets them.
  template <class Clean>
  void clean_all(Clean clean) {
    each(clean);
    for (const std::size_t line : lines_) marked_[line] = false;
    lines_.clear();
  }

  // Calls visit(first byte, bytes) for each.
  template <class Visit>
  void each(Visit visit) const {
    for (const std::size_t line : lines_) {
      const std::size_t first = line * line_bytes;
      visit(first, std::min(line_bytes, bytes_ - first));
    }
  }

 private:
  static constexpr std::size_t line_bytes = 64;

  std::size_t bytes_;
  std::vector<bool> marked_;
  std::vector<std::size_t> lines_;
};

// Bytes of each rank.
struct Sizes {
  std::size_t shared = 0;
  std::size_t input = 0;
  std::size_t output = 0;
  std::size_t scratch = 0;
};

class Memory {
 public:
  // Every word of Region::shared holds `first`; the rest is filled with bytes that nobody means.
  Memory(int ranks, const Sizes& sizes, context::Sequence first);

  int ranks() const { return ranks_; }
  std::size_t size(context::Region region) const { return part(region).rank_bytes; }
  std::span<std::byte> bytes(context::Region region, int owner);
  std::span<const std::byte> bytes(context::Region region, int owner) const;
  // pre: the region's bytes are a multiple of T.
  template <class T>
  std::span<T> as(context::Region region, int owner) {
    const auto all = bytes(region, owner);
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as(context::Region region, int owner) const {
    const auto all = bytes(region, owner);
    return {reinterpret_cast<const T*>(all.data()), all.size() / sizeof(T)};
  }

  // What there is now is what every execution begins with.
  void keep_as_image();
  void restore_image();
  // Of what has been written since.
  std::uint64_t digest() const;

  // Why the rank may not touch these bytes; nothing when it may.
  std::optional<std::string> refusal(int rank, context::Address place, std::size_t n) const;

  // pre: not refused.
  std::span<const std::byte> read(context::Address place, std::size_t n) const;
  void write(context::Address place, std::span<const std::byte> bytes);
  // Where a place lies among all bytes: the regions one after another, of each all owners' parts.
  // Shared memory comes first.
  std::size_t index(context::Address place) const;
  context::Address place_at(std::size_t index) const;
  std::size_t all_bytes() const;

 private:
  struct Part {
    explicit Part(int ranks, std::size_t bytes_of_rank)
        : rank_bytes(bytes_of_rank),
          bytes(static_cast<std::size_t>(ranks) * bytes_of_rank, unmeant),
          dirty(bytes.size()) {}
    std::size_t rank_bytes;
    std::vector<std::byte> bytes;
    std::vector<std::byte> image;
    DirtyLines dirty;
  };
  static constexpr std::byte unmeant{0xE7};

  Part& part(context::Region region) { return parts_[static_cast<std::size_t>(region)]; }
  const Part& part(context::Region region) const {
    return parts_[static_cast<std::size_t>(region)];
  }
  // Where a place lies in its region.
  std::size_t within(context::Address place) const;

  int ranks_;
  std::array<Part, 4> parts_;  // in the order of Region
};

// What expose() writes in a world without addresses: which place of the owner's it is.
std::array<std::byte, context::exposure_bytes> encoded(context::Address what);
// Nothing where these bytes were not written by encoded().
std::optional<context::Address> exposed_address(int owner, std::span<const std::byte> bytes);

}  // namespace huddle::check::checker
