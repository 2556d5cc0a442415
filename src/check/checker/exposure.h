// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What expose() writes in a world without addresses: which place of the owner's it is.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "runtime/context/address.h"

namespace huddle::verify::checker {

std::array<std::byte, world::exposure_bytes> encoded(world::Address what);
// Nothing where these bytes were not written by encoded().
std::optional<world::Address> exposed_address(int owner, std::span<const std::byte> bytes);

}  // namespace huddle::verify::checker
