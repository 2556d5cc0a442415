// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <fmt/format.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/system.h"
#include "common/text.h"

namespace huddle::threads {

// Returns the private memory of a process that is in huge pages; 0 if it cannot be read.
inline std::uint64_t huge_page_bytes(pid_t process) {
  constexpr std::uint64_t bytes_a_kb = 1024;
  std::uint64_t bytes = 0;
  for (const std::string& line : System().lines(fmt::format("/proc/{}/smaps_rollup", process))) {
    // "AnonHugePages:      2048 kB"
    const std::vector<std::string> fields = words(line);
    if (fields.size() < 2 || fields[0] != "AnonHugePages:") continue;
    bytes += static_cast<std::uint64_t>(whole_number(fields[1]).value_or(0)) * bytes_a_kb;
  }
  return bytes;
}

}  // namespace huddle::threads
