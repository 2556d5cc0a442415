// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The identity of a process. It determines whether another process can use this process's id and
// addresses: a process id is valid only in its pid namespace, an address only in its process.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <mutex>
#include <optional>

#include "common/file.h"

namespace huddle::team {

struct ProcessIdentity {
  std::uint64_t machine = 0;        // identifies the machine and its boot; 0: unknown
  std::uint64_t pid_namespace = 0;  // 0: unknown
  std::uint64_t start_time = 0;     // in clock ticks since boot; 0: unknown
  std::uint32_t pid = 0;
  std::uint32_t user = 0;  // effective

  static ProcessIdentity mine();
  bool operator==(const ProcessIdentity&) const = default;
};

// Returns whether both processes are known to be in the same pid namespace.
bool share_process_ids(const ProcessIdentity& one, const ProcessIdentity& other);
// Returns whether the process is alive according to /proc; nothing if that is unknown.
std::optional<bool> is_running(const ProcessIdentity& process);
// Returns whether both are known to be the same process.
bool is_same_process(const ProcessIdentity& one, const ProcessIdentity& other);
// Returns whether both are known to be on different machines.
bool on_two_machines(const ProcessIdentity& one, const ProcessIdentity& other);

// Monitors by the descriptor of a process (open_process()) whether a peer is alive. The application
// may close descriptors that it did not open and reuse their numbers. ProcessWatch detects that and
// opens another descriptor; it neither mistakes the application's file for a dead peer nor closes
// it. Thread-safe.
class ProcessWatch {
 public:
  // Monitors nothing: for a peer in this process.
  ProcessWatch() = default;
  ProcessWatch(FileDescriptor descriptor, const ProcessIdentity& process);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Returns the descriptor, which is readable when the process has died (and always if it is not a
  // pidfd). Returns -1 if there is nothing to monitor, or if the descriptor is lost and cannot be
  // reopened.
  int descriptor() const;
  // Returns whether the process has died. A lost descriptor does not count as a death.
  bool is_dead() const;

 private:
  int usable_descriptor() const;
  bool is_ours() const;
  void open_again() const;

  ProcessIdentity process_;
  mutable std::mutex mutex_;  // guards the members below
  mutable FileDescriptor descriptor_;
  mutable dev_t device_ = 0;
  mutable ino_t inode_ = 0;
  mutable bool has_died_ = false;  // determined without a descriptor
};

}  // namespace huddle::team
