// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A page fault as the kernel tells of it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace huddle::threads {

struct PageFault {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t address = 0;
  pid_t process = 0;
  pid_t thread = 0;
};

// What notes them in the kernel: the event's own rings, one a processor, or a BPF program.
enum class Observer { perf, bpf };
inline constexpr std::array<std::string_view, 2> observer_names = {"perf", "bpf"};

}  // namespace huddle::threads
