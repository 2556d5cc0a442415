// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Properties of the sanitizer of this build that affect tests.
#pragma once

#if defined(__has_feature)
// UBSan's check of an object's type opens a pipe, and reports a wrong type if that fails.
#if __has_feature(undefined_behavior_sanitizer)
#define HUDDLE_SANITIZER_NEEDS_DESCRIPTORS
#endif
// TSan defines operators new and delete that programs cannot replace.
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
