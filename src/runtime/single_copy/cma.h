// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Cross-memory attach (CMA): the kernel copies between the address spaces of two processes
// (process_vm_readv, process_vm_writev) in a single copy and without the peer's participation.
// Requires permission to trace that process: the same user, and no container or Yama policy that
// forbids it.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include <mutex>
#include <optional>

#include "common/system.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::single_copy {

PeerPath cma();

// The signature of process_vm_readv and process_vm_writev.
using CopyCall = ssize_t(pid_t process, const iovec* local, unsigned long local_count,
                         const iovec* remote, unsigned long remote_count, unsigned long flags);
// The system calls to use. Tests substitute their own.
struct CopyCalls {
  CopyCall* read = process_vm_readv;
  CopyCall* write = process_vm_writev;
};

// The memory of another process, accessed by CMA. A process ID may be reused after its process has
// died. Therefore the process's descriptor is checked before each write and after each read: if the
// process still exists after a read, the ID was its own during the read. A write can still hit a
// new process if the ID is reused between the check and the system call.
class CmaMemory : public PeerMemory {
 public:
  // watch: a descriptor of the process (open_process()), which must stay open while this object
  // lives, or `unwatched`.
  CmaMemory(pid_t process, int watch, const CopyCalls& calls = {})
      : process_(process), watch_(watch), calls_(calls) {}

  // Both return ESRCH if the process is gone, even if its ID has been reused.
  [[nodiscard]] ErrorNumber read(std::byte* to, RemoteAddress from,
                                 std::size_t bytes) noexcept override;
  [[nodiscard]] ErrorNumber write(RemoteAddress to, const std::byte* from,
                                  std::size_t bytes) noexcept override;

  // The maximum that Linux copies per call.
  static constexpr std::size_t most_at_once = 0x7ffff000;

 private:
  ErrorNumber copy_by(CopyCall* call, bool asks_first, iovec here, iovec there) const noexcept;

  pid_t process_;
  int watch_;
  CopyCalls calls_;
};

// Returns whether a process has to permit other processes to trace it (PR_SET_PTRACER), because the
// Linux security module Yama otherwise lets only its ancestors do so. Returns false if Yama is
// disabled or ignores such permits.
bool yama_asks(const System& system);

// Lets the other processes of this user read this process for as long as the object lives. A permit
// can be limited to the descendants of one process. The ranks of a job have such a common ancestor,
// the launcher, but there may be shells in between, so a rank does not know which ancestor it is.
// Therefore the permit is for any process: access is as without Yama.
//
// A process has a single permit, which cannot be queried. If the program has set one for another
// purpose, such as a crash reporter, this object replaces it, and no permit is left after its
// destruction.
class TracingPermit {
 public:
  // Throws FailureError if the kernel refuses the permit.
  TracingPermit();
  ~TracingPermit();
  TracingPermit(const TracingPermit&) = delete;
  TracingPermit& operator=(const TracingPermit&) = delete;
};

// Reference-counts the permit: it is held while at least one user needs it. Thread-safe.
class TracingPermits {
 public:
  // Throws FailureError; see TracingPermit().
  void take();
  // Requires: each call matches an earlier take().
  void release();

 private:
  std::mutex mutex_;
  int taken_ = 0;
  std::optional<TracingPermit> permit_;
};

}  // namespace huddle::single_copy
