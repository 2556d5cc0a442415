// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which process this is, told so that others can judge what its numbers mean to them: a process id
// is worth something in its own namespace only, an address in its own process only.
#pragma once

#include <cstdint>
#include <optional>

namespace huddle::team {

struct ProcessIdentity {
  std::uint64_t machine = 0;        // which start of which machine; 0: unknown
  std::uint64_t pid_namespace = 0;  // 0: unknown
  std::uint64_t start_time = 0;     // in the kernel's ticks; 0: unknown
  std::uint32_t pid = 0;
  std::uint32_t user = 0;  // effective

  static ProcessIdentity mine();
  bool operator==(const ProcessIdentity&) const = default;
};

// Whether a process id of one means the same process to the other.
bool share_process_ids(const ProcessIdentity& one, const ProcessIdentity& other);
// Returns whether the process is alive, by /proc; nothing if that cannot be known.
std::optional<bool> is_running(const ProcessIdentity& process);
// Whether they are one process, for sure.
bool is_same_process(const ProcessIdentity& one, const ProcessIdentity& other);
// Whether they are on two machines, for sure.
bool on_two_machines(const ProcessIdentity& one, const ProcessIdentity& other);

}  // namespace huddle::team
