// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory of a checked team: four regions of each rank, as plain bytes.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/checker/dirty_lines.h"
#include "runtime/context/address.h"
#include "runtime/context/sequence.h"

namespace huddle::verify::checker {

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
  Memory(int ranks, const Sizes& sizes, world::Sequence first);

  int ranks() const { return ranks_; }
  std::size_t size(world::Region region) const { return part(region).rank_bytes; }
  std::span<std::byte> bytes(world::Region region, int owner);
  std::span<const std::byte> bytes(world::Region region, int owner) const;
  // pre: the region's bytes are a multiple of T.
  template <class T>
  std::span<T> as(world::Region region, int owner) {
    const auto all = bytes(region, owner);
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as(world::Region region, int owner) const {
    const auto all = bytes(region, owner);
    return {reinterpret_cast<const T*>(all.data()), all.size() / sizeof(T)};
  }

  // What there is now is what every execution begins with.
  void keep_as_image();
  void restore_image();
  // Of what has been written since.
  std::uint64_t digest() const;

  // Why the rank may not touch these bytes; nothing when it may.
  std::optional<std::string> refusal(int rank, world::Address place, std::size_t n) const;

  // pre: not refused.
  std::span<const std::byte> read(world::Address place, std::size_t n) const;
  void write(world::Address place, std::span<const std::byte> bytes);
  // Where a place lies among all bytes: the regions one after another, of each all owners' parts.
  // Shared memory comes first.
  std::size_t index(world::Address place) const;
  world::Address place_at(std::size_t index) const;
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

  Part& part(world::Region region) { return parts_[static_cast<std::size_t>(region)]; }
  const Part& part(world::Region region) const { return parts_[static_cast<std::size_t>(region)]; }
  // Where a place lies in its region.
  std::size_t within(world::Address place) const;

  int ranks_;
  std::array<Part, 4> parts_;  // in the order of Region
};

}  // namespace huddle::verify::checker
