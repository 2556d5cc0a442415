// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reading straight out of another process's memory, by a path of the table of paths.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/file.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/single_copy/peer_memory.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// A child process that holds memory, so that it can be read from outside, and sleeps; or one that
// wants its processor all the time and gives way to everybody.
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

// Buffers of a copier: the peer's, the one it is written from, and the reader's.
inline constexpr std::size_t path_buffers = 3;

class PathProbe {
 public:
  // The first of each pair reads from a process of its own that sleeps on the second, which writes
  // that memory anew before each read: data that has not changed would be read out of the reader's
  // own cache. Throws FailureError when there is no memory or no process to be had.
  // pre: no reader twice. Keeps a reference to the path.
  PathProbe(Crew& crew, const single_copy::PeerPath& path, std::span<const Pair> pairs,
            std::size_t most_bytes);

  // Why it cannot be measured; empty where it can.
  std::string refusal() const;

  // pre: refusal() is empty, bytes <= most_bytes.
  Samples time(std::size_t bytes, const Extent& extent, const Budget& budget);

 private:
  void write_anew(std::size_t who, std::size_t bytes, std::uint32_t round) const;
  void check_arrival(std::uint32_t round) const;

  Crew& crew_;
  const single_copy::PeerPath& path_;
  std::size_t readers_;
  std::vector<int> members_;          // processors: the readers, and after them who only writes
  std::vector<std::size_t> writers_;  // by reader: which member writes for it
  // By reader. Never used by two at a time: who writes there is through when it is read.
  std::vector<std::unique_ptr<PeerProcess>> peers_;
  std::vector<std::unique_ptr<single_copy::PeerMemory>> memories_;
  std::vector<memory::PageBuffer> sources_;  // by member
  std::vector<memory::PageBuffer> targets_;  // by reader
};

}  // namespace huddle::calibrate
