// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Cross-memory attach: the kernel copies between the address spaces of two processes
// (process_vm_readv, process_vm_writev), in one go and with no help of the other one's. It wants
// the right to trace that process: the same user, and no container or Yama in between that says
// otherwise.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include <mutex>
#include <optional>

#include "common/system.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::single_copy {

PeerPath cma();

// A system call that copies, one way or the other.
using CopyCall = ssize_t(pid_t process, const iovec* local, unsigned long local_count,
                         const iovec* remote, unsigned long remote_count, unsigned long flags);
// The system's, or what a test puts in their place.
struct CopyCalls {
  CopyCall* read = process_vm_readv;
  CopyCall* write = process_vm_writev;
};

// The system knows a process by a number that may be another one's some time after it has died. So
// its pidfd is asked, too: before each write, and after a read, for whoever has its number then had
// it all the time. What is left is the moment between that question and a write.
class CmaMemory : public PeerMemory {
 public:
  // watch: its pidfd, which stays open as long as this lives, or `unwatched`.
  CmaMemory(pid_t process, int watch, const CopyCalls& calls = {})
      : process_(process), watch_(watch), calls_(calls) {}

  // Both: ESRCH of a process that is gone, whoever has its number now.
  [[nodiscard]] ErrorNumber read(std::byte* to, RemoteAddress from,
                                 std::size_t bytes) noexcept override;
  [[nodiscard]] ErrorNumber write(RemoteAddress to, const std::byte* from,
                                  std::size_t bytes) noexcept override;

  // The most that the system copies at a call.
  static constexpr std::size_t most_at_once = 0x7ffff000;

 private:
  ErrorNumber copy_by(CopyCall* call, bool asks_first, iovec here, iovec there) const noexcept;

  pid_t process_;
  int watch_;
  CopyCalls calls_;
};

// Yama, a security module of the kernel, lets a process be read by its ancestors only, unless it
// says otherwise itself (PR_SET_PTRACER).

// Whether Yama asks each process for its word: not where it is off, and not where it takes none.
bool yama_asks(const System& system);

// Lets the processes of this user read this one, for as long as this object lives. The ranks of a
// job have one launcher among their ancestors, but it may be any of these, with shells between; so
// nobody in particular is named, and it is with Yama as without it: the user's other processes may.
//
// A process has one such word, and none can ask what it was: whoever gave it for a reason of its
// own, such as a crash reporter, has lost it once this goes.
class TracingPermit {
 public:
  // Throws FailureError where the system does not take it.
  TracingPermit();
  ~TracingPermit();
  TracingPermit(const TracingPermit&) = delete;
  TracingPermit& operator=(const TracingPermit&) = delete;
};

// How many need the permit: it is there from the first to the last of them.
class TracingPermits {
 public:
  // Throws FailureError.
  void take();
  // pre: taken once more than given back.
  void give_back();

 private:
  std::mutex mutex_;
  int taken_ = 0;
  std::optional<TracingPermit> permit_;
};

}  // namespace huddle::single_copy
