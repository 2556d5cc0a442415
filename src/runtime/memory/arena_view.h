// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An arena as a range of addresses: how it is recognised and mapped, by its owner and by others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace huddle::memory {

// Random, so that no two arenas ever have the same.
struct ArenaId {
  std::array<std::uint64_t, 2> words{};

  static ArenaId random();  // throws FailureError
  auto operator<=>(const ArenaId&) const = default;
};

// What an arena begins with.
struct ArenaHeader {
  std::uint64_t magic = 0;
  std::uint64_t cap_bytes = 0;
  ArenaId id;

  static constexpr std::uint64_t expected_magic = 0x0001656C64647568;  // "huddle", version 1
};
// The rest of the first page is memory like any other.
inline constexpr std::size_t arena_header_bytes = 128;
static_assert(sizeof(ArenaHeader) <= arena_header_bytes);

class ArenaView {
 public:
  ArenaView() = default;
  // Maps all that the file can ever hold, so that it never moves. No child gets it by fork, no core
  // dump walks through it. Throws FailureError. The descriptor is not needed afterwards.
  ArenaView(int descriptor, std::size_t cap_bytes);
  ArenaView(ArenaView&& other) noexcept;
  ArenaView& operator=(ArenaView&& other) noexcept;
  ~ArenaView();

  std::byte* base() const { return base_; }
  std::size_t cap_bytes() const { return cap_bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t cap_bytes_ = 0;
  int process_ = 0;  // a child of fork has the object but not the mapping
};

// Whether the file is that arena. Reads it without mapping it: whatever file it is, no harm is
// done.
bool is_arena(int descriptor, const ArenaId& id, std::size_t cap_bytes);

}  // namespace huddle::memory
