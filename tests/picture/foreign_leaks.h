// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Include in one file of a test program that draws: fontconfig keeps a few strings for good, which
// LeakSanitizer would hold against us.
#pragma once

// The name is LeakSanitizer's; nobody calls it where that is off.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
