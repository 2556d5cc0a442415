// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Processes in which large blocks must not come from the heap.
#pragma once

namespace huddle::heap {

// Throws FailureError, with a sentence, in such a process.
void throw_if_in_the_way();

}  // namespace huddle::heap
