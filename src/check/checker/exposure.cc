// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/exposure.h"

#include <cstdint>
#include <cstring>

namespace huddle::verify::checker {
namespace {

constexpr std::uint16_t mark = 0xE5D0;

struct Written {
  std::uint16_t marked = 0;
  std::uint16_t region = 0;
  // Of 64 bits the lower ones: what lies before a buffer is less than 2^31 away.
  std::int32_t offset = 0;
};
static_assert(sizeof(Written) == world::exposure_bytes);

}  // namespace

std::array<std::byte, world::exposure_bytes> encoded(world::Address what) {
  const Written written{mark, static_cast<std::uint16_t>(what.region),
                        static_cast<std::int32_t>(static_cast<std::ptrdiff_t>(what.offset))};
  std::array<std::byte, world::exposure_bytes> bytes{};
  std::memcpy(bytes.data(), &written, sizeof written);
  return bytes;
}

std::optional<world::Address> exposed_address(int owner, std::span<const std::byte> bytes) {
  Written written;
  std::memcpy(&written, bytes.data(), sizeof written);
  if (written.marked != mark ||
      written.region > static_cast<std::uint16_t>(world::Region::scratch)) {
    return std::nullopt;
  }
  return world::Address{static_cast<world::Region>(written.region), owner,
                        static_cast<std::size_t>(static_cast<std::ptrdiff_t>(written.offset))};
}

}  // namespace huddle::verify::checker
