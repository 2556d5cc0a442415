// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which process this is, told so that others can judge what its numbers mean to them: a process id
// is worth something in its own namespace only, an address in its own process only.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <mutex>
#include <optional>

#include "common/file.h"

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

// Watches whether the process of a peer is alive, by a pidfd. A program may close descriptors that
// it does not know, and get their numbers for its own files: then the pidfd is opened again, and
// the program's file is neither mistaken for a dead peer nor closed.

// May be used by several threads at once.
class ProcessWatch {
 public:
  // Watches nothing: the peer belongs to this process and cannot die alone.
  ProcessWatch() = default;
  ProcessWatch(FileDescriptor pidfd, const ProcessIdentity& process);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Returns the pidfd, which is readable once the process is dead. Returns -1 if there is nothing
  // to watch, or if the pidfd is lost and cannot be opened again.
  int pidfd() const;
  // Returns whether the process has died. A lost pidfd is no death.
  bool is_dead() const;

 private:
  int usable_pidfd() const;
  bool is_ours() const;
  void open_again() const;

  ProcessIdentity process_;
  mutable std::mutex mutex_;  // guards what follows
  mutable FileDescriptor pidfd_;
  mutable dev_t device_ = 0;
  mutable ino_t inode_ = 0;
  mutable bool has_died_ = false;  // known although there is no pidfd
};

}  // namespace huddle::team
