// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A child process that holds memory, so that it can be read from outside, and sleeps; or one that
// wants its processor all the time and gives way to everybody.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "common/file_descriptor.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/single_copy/peer_path.h"
#include "tools/calibrate/crew.h"

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

// Its memory by that path.
std::unique_ptr<single_copy::PeerMemory> memory_of(const PeerProcess& peer,
                                                   const single_copy::PeerPath& path);

// Both: so far into the peer's memory. Throw FailureError where not everything comes, or goes.
void read_from_peer(single_copy::PeerMemory& memory, const PeerProcess& peer,
                    std::span<std::byte> target, std::size_t offset = 0);
void write_to_peer(single_copy::PeerMemory& memory, const PeerProcess& peer, std::size_t offset,
                   std::span<const std::byte> data);

// Why a child of ours cannot be reached; empty where it can. pre: it still holds `fill`.
std::string refusal_of(single_copy::PeerMemory& memory, const PeerProcess& peer);

}  // namespace huddle::calibrate
