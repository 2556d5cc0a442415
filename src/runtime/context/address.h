// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a protocol addresses memory: whose it is, which part of it, and how far in. It is no pointer:
// the same address means something in every world, and in every process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace huddle::world {

enum class Region : std::uint8_t {
  shared,   // the protocol's piece of the owner's arena; every rank reaches every owner's
  input,    // what the owner's caller handed in to be read; a rank reaches only its own
  output,   // what the owner's caller wants filled; a rank reaches only its own
  scratch,  // private memory of the owner, cache-sized
  reached,  // a peer's, that it has exposed: only as reach() returned it, and bytes further on
};

struct Address {
  Region region = Region::shared;
  int owner = 0;
  std::size_t offset = 0;

  constexpr Address operator+(std::size_t bytes) const { return {region, owner, offset + bytes}; }
  bool operator==(const Address&) const = default;
};

// What it takes to tell others an address: so much shared memory, aligned to as much.
inline constexpr std::size_t exposure_bytes = 8;

}  // namespace huddle::world
