// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What traces and failures call things.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "world/checker/site.h"
#include "world/place.h"
#include "world/sequence.h"

namespace huddle::world::checker {

std::string_view name(Operation operation);
std::string_view name(Region region);
// "shared of 2 at 64"
std::string text_of(Place place);
// "shared of 2 at 64..127"
std::string text_of(Place place, std::size_t n);
// Small numbers as they are, those below the wrap as 2^32-2.
std::string text_of(Sequence value);
// "reaches 5", "is 5"
std::string text_of(const Until& until);
// "store, barrier.h:57 in arrive"
std::string text_of(const Site& site);

}  // namespace huddle::world::checker
