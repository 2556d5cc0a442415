// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string_view>

#include "common/system.h"

namespace huddle {

inline constexpr std::string_view shared_huge_pages_file =
    "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

// Whether shared memory gets huge pages, if only where a program asks for them.
bool may_share_huge_pages(const System& system);

}  // namespace huddle
