// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the tests have to know of the sanitizer that they are built with.
#pragma once

#if defined(__has_feature)
// Its check of an object's type opens a pipe, and takes the lack of one for a wrong type.
#if __has_feature(undefined_behavior_sanitizer)
#define HUDDLE_SANITIZER_NEEDS_DESCRIPTORS
#endif
// It defines operators new and delete that no program can replace.
#if __has_feature(thread_sanitizer)
#define HUDDLE_SANITIZER_OWNS_NEW
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

#if defined(HUDDLE_SANITIZER_OWNS_NEW)
inline constexpr bool sanitizer_owns_new = true;
#else
inline constexpr bool sanitizer_owns_new = false;
#endif
inline constexpr const char* why_memory_is_never_scarce =
    "ThreadSanitizer lets nobody replace operator new";

}  // namespace huddle::team
