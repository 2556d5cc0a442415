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

#include "runtime/single_copy/peer_path.h"

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

}  // namespace huddle::single_copy
