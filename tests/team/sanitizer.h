// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the tests have to know of the sanitizer that they are built with.
#pragma once

// Its check of an object's type opens a pipe, and takes the lack of one for a wrong type.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define HUDDLE_SANITIZER_NEEDS_DESCRIPTORS
#endif
#endif

namespace huddle::team {

#if defined(HUDDLE_SANITIZER_NEEDS_DESCRIPTORS)
inline constexpr bool sanitizer_needs_descriptors = true;
#else
inline constexpr bool sanitizer_needs_descriptors = false;
#endif
inline constexpr const char* why_skipped =
    "UndefinedBehaviorSanitizer needs descriptors of its own";

}  // namespace huddle::team
