// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Limits of the system under which shared memory behaves differently from memory of malloc.
#pragma once

#include <cstddef>

#include "common/system.h"

namespace huddle::heap {

// Throws FailureError if the kernel does not overcommit memory (vm.overcommit_memory=2). It then
// charges a shared page when the page is first touched: a program that runs out of memory would die
// of SIGBUS there, long after a malloc that should have failed.
void check_overcommit(const System& system);

// Returns how many bytes a fork may copy: what the settings allow, but only a small part of the
// memory that this process may use. A fork of ordinary memory copies nothing at first, so a copy
// must not be what exceeds the limit of a cgroup and ends the job.
std::size_t most_copied_bytes(std::size_t set_bytes, const System& system,
                              std::size_t machine_bytes);

}  // namespace huddle::heap
