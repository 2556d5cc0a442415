// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/kernel_value.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_descriptor.h"
#include "common/system.h"

namespace huddle::threads {

std::optional<long long> kernel_value(const std::string& path) { return System().number(path); }

bool set_kernel_value(const std::string& path, long long value) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return false;
  // One call: whoever is killed has set it, or has not.
  const std::string text = fmt::format("{}\n", value);
  if (::write(file.number(), text.data(), text.size()) < 0) return false;
  if (kernel_value(path) == value) return true;
  errno = EINVAL;  // taken, and without effect
  return false;
}

}  // namespace huddle::threads
