// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory of a checked team: four regions per rank, as plain bytes. Also helpers for digests.
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

// Mixes a value into a digest by the finalizer of splitmix64, so that every bit of both matters.
// Digests identify states; the probability that two different states have equal digests is
// negligible.
constexpr std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  std::uint64_t z = digest * 0x9E3779B97F4A7C15U + value + 0x632BE59BD9B4E019U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// Records which lines of an array an execution has used. They are few, so resetting only these is
// cheap.
class DirtyLines {
 public:
  explicit DirtyLines(std::size_t bytes)
      : bytes_(bytes), marked_((bytes + line_bytes - 1) / line_bytes) {}

  // Requires: `first` + `n` is within the array.
  void mark(std::size_t first, std::size_t n) {
    if (n == 0) return;
    for (std::size_t line = first / line_bytes; line <= (first + n - 1) / line_bytes; ++line) {
      if (marked_[line]) continue;
      marked_[line] = true;
      lines_.push_back(line);
    }
  }

  // Calls clean(first byte, bytes) for each recorded line, and empties the record.
  template <class Clean>
  void clean_all(Clean clean) {
    each(clean);
    for (const std::size_t line : lines_) marked_[line] = false;
    lines_.clear();
  }

  // Calls visit(first byte, bytes) for each recorded line.
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

// Bytes per rank.
struct Sizes {
  std::size_t shared = 0;
  std::size_t input = 0;
  std::size_t output = 0;
  std::size_t scratch = 0;
};

class Memory {
 public:
  // Each word in Region::shared holds `first`; the other regions hold a filler pattern.
  Memory(int ranks, const Sizes& sizes, context::Sequence first);

  int ranks() const { return ranks_; }
  std::size_t size(context::Region region) const { return part(region).rank_bytes; }
  std::span<std::byte> bytes(context::Region region, int owner);
  std::span<const std::byte> bytes(context::Region region, int owner) const;
  // Requires: the region's size is a multiple of sizeof(T).
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

  // Makes the current content the initial state of every execution.
  void keep_as_image();
  void restore_image();
  // Returns a digest of everything that was written since restore_image().
  std::uint64_t digest() const;

  // Returns why the rank may not access these bytes, or nothing if it may.
  std::optional<std::string> refusal(int rank, context::Address place, std::size_t n) const;

  // Requires: refusal() returns nothing.
  std::span<const std::byte> read(context::Address place, std::size_t n) const;
  void write(context::Address place, std::span<const std::byte> bytes);
  // Returns the position of a place among all bytes: regions one after another, each with all
  // owners' parts. Shared memory comes first.
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
  // Returns the position of a place in its region.
  std::size_t within(context::Address place) const;

  int ranks_;
  std::array<Part, 4> parts_;  // in the order of Region
};

// Encodes the region and offset of an address, which expose() stores instead of a pointer.
std::array<std::byte, context::exposure_bytes> encoded(context::Address what);
// Decodes an address of `owner`. Returns nullopt if the bytes were not written by encoded().
std::optional<context::Address> exposed_address(int owner, std::span<const std::byte> bytes);

}  // namespace huddle::check::checker
