// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

namespace huddle::bench {

// Whether ranks, which are processes that another one starts, may read each other's memory here.
// Starts two to see.
bool ranks_may_read();

}  // namespace huddle::bench
