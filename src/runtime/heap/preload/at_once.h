// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// For tests: the heap of any process, before its first line runs. TEST_HUDDLE_HEAP=at-once asks for
// it, and the settings of the heap are taken from the environment alone.
#pragma once

namespace huddle::heap {

void start_at_once_if_asked() noexcept;

}  // namespace huddle::heap
