// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A child process that holds memory, so that it can be read from outside, and sleeps; or one that
// wants its processor all the time and gives way to everybody.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/file_descriptor.h"
#include "calibrate/crew.h"
#include "memory/page_buffer.h"

namespace huddle::calibrate {

class PeerProcess {
 public:
  enum class Idle { sleeps, yields };
  // Returns once the child has filled its memory, on that processor of the crew, which has to
  // outlive it. The child goes with us, however we go. Throws FailureError when there can be no
  // child.
  PeerProcess(Crew& crew, int pu, std::size_t bytes, Idle idle = Idle::sleeps);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  pid_t pid() const { return pid_; }
  // A pidfd of it; -1 where the system has none.
  int watch() const { return watch_.number(); }
  // Where its memory lies, there; every byte is `fill` at first.
  const std::byte* remote_data() const { return buffer_.data(); }
  static constexpr std::byte fill{0x5A};

 private:
  void start(Idle idle);

  memory::PageBuffer buffer_;  // mapped before the fork: the child has it at the same address
  pid_t pid_ = -1;
  FileDescriptor watch_;
};

// Reads from so far into the peer's memory with process_vm_readv, and sees whether it is the peer's
// still, as ranks do. Throws FailureError where not everything comes.
void read_from_peer(const PeerProcess& peer, std::byte* target, std::size_t bytes,
                    std::size_t offset = 0);

// Writes there with process_vm_writev. Throws FailureError where not everything goes.
void write_to_peer(const PeerProcess& peer, std::size_t offset, std::span<std::byte> data);

// Why the system refuses process_vm_readv between us and a child of ours; empty where it does not.
std::string why_no_cma(const PeerProcess& peer);

}  // namespace huddle::calibrate
