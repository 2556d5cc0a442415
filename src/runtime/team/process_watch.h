// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Watches whether the process of a peer is alive, by a pidfd. A program may close descriptors that
// it does not know, and get their numbers for its own files: then the pidfd is opened again, and
// the program's file is neither mistaken for a dead peer nor closed.
#pragma once

#include <sys/types.h>

#include <mutex>

#include "common/file_descriptor.h"
#include "runtime/team/process_identity.h"

namespace huddle::team {

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
