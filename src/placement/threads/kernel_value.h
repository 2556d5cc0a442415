// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whole numbers that the kernel has as files, in /proc/sys and in debugfs.
#pragma once

#include <optional>
#include <string>

namespace huddle::threads {

// Nothing where there is none, or where it may not be read.
std::optional<long long> kernel_value(const std::string& path);
// False where it is not that afterwards: errno says why, as far as the kernel does.
bool set_kernel_value(const std::string& path, long long value);

}  // namespace huddle::threads
