// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What traces and failures call things.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "check/checker/site.h"
#include "runtime/context/address.h"
#include "runtime/context/sequence.h"

namespace huddle::verify::checker {

std::string_view name(Operation operation);
std::string_view name(world::Region region);
// "shared of 2 at 64"
std::string text_of(world::Address place);
// "shared of 2 at 64..127"
std::string text_of(world::Address place, std::size_t n);
// Small numbers as they are, those below the wrap as 2^32-2.
std::string text_of(world::Sequence value);
// "reaches 5", "is 5"
std::string text_of(const world::Until& until);
// "store, barrier.h:57 in arrive"
std::string text_of(const Site& site);

}  // namespace huddle::verify::checker
