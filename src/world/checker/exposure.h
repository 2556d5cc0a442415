// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What expose() writes in a world without addresses: which place of the owner's it is.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "world/place.h"

namespace huddle::world::checker {

std::array<std::byte, exposure_bytes> encoded(Place what);
// Nothing where these bytes were not written by encoded().
std::optional<Place> exposed_place(int owner, std::span<const std::byte> bytes);

}  // namespace huddle::world::checker
