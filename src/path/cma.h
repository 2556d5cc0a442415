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

#include "path/peer_memory.h"

namespace huddle::path {

inline constexpr Path cma{"cma",
                          "process_vm_readv and process_vm_writev between processes of one user"};

// A system call that copies, one way or the other.
using CopyCall = ssize_t(pid_t process, const iovec* local, unsigned long local_count,
                         const iovec* remote, unsigned long remote_count, unsigned long flags);
// The system's, or what a test puts in their place.
struct CopyCalls {
  CopyCall* read = process_vm_readv;
  CopyCall* write = process_vm_writev;
};

class CmaMemory : public PeerMemory {
 public:
  explicit CmaMemory(pid_t process, const CopyCalls& calls = {})
      : process_(process), calls_(calls) {}

  [[nodiscard]] ErrorNumber read(std::byte* to, Told from, std::size_t bytes) noexcept override;
  [[nodiscard]] ErrorNumber write(Told to, const std::byte* from,
                                  std::size_t bytes) noexcept override;

  // The most that the system copies at a call.
  static constexpr std::size_t most_at_once = 0x7ffff000;

 private:
  ErrorNumber copy_by(CopyCall* call, iovec here, iovec there) const noexcept;

  pid_t process_;
  CopyCalls calls_;
};

}  // namespace huddle::path
