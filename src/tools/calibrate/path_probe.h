// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times reads from another process's memory by one of the single-copy paths.
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

// A child process whose memory can be read. It sleeps, or it calls sched_yield() all the time.
class PeerProcess {
 public:
  enum class Idle { sleeps, yields };
  // Returns once the child has filled its memory on hardware thread `pu` of the crew. The child
  // must not outlive the crew; it is killed when this process ends. Throws FailureError if the
  // child cannot be started.
  PeerProcess(MeasuringThreads& crew, int pu, std::size_t bytes, Idle idle = Idle::sleeps);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Returns its pidfd; -1 if the system does not support it.
  int watch() const { return watch_.number(); }
  // Returns the address of its memory in the child. Every byte is initially `fill`.
  const std::byte* remote_data() const { return buffer_.data(); }
  static constexpr std::byte fill{0x5A};

 private:
  void start(Idle idle);

  memory::PageBuffer buffer_;  // mapped before the fork, therefore at the same address in the child
  pid_t pid_ = -1;
  FileDescriptor watch_;
};

// Opens access to the peer's memory by `path`.
std::unique_ptr<single_copy::PeerMemory> memory_of(const PeerProcess& peer,
                                                   const single_copy::PeerPath& path);

// Both access the peer's memory, `offset` bytes after its start. Throw FailureError if not all
// bytes are transferred.
void read_from_peer(single_copy::PeerMemory& memory, const PeerProcess& peer,
                    std::span<std::byte> target, std::size_t offset = 0);
void write_to_peer(single_copy::PeerMemory& memory, const PeerProcess& peer, std::size_t offset,
                   std::span<const std::byte> data);

// Returns why the peer's memory cannot be accessed; empty if it can.
// Requires: its memory still contains `fill`.
std::string refusal_of(single_copy::PeerMemory& memory, const PeerProcess& peer);

// Number of buffers per copier: the peer's memory, data to write there, and the target.
inline constexpr std::size_t path_buffers = 3;

class PathProbe {
 public:
  // The first hardware thread of each pair reads from a process that sleeps on the second. The
  // second writes that memory before each read, because unchanged data would be read from the
  // reader's own cache. Throws FailureError if memory or a process is not available. Keeps a
  // reference to `path`.
  // Requires: no reader occurs twice.
  PathProbe(MeasuringThreads& crew, const single_copy::PeerPath& path, std::span<const Pair> pairs,
            std::size_t most_bytes);

  // Returns why the path cannot be measured; empty if it can.
  std::string refusal() const;

  // Requires: refusal() is empty, bytes <= most_bytes.
  Samples time(std::size_t bytes, const Extent& extent, const Budget& budget);

 private:
  void write_anew(std::size_t who, std::size_t bytes, std::uint32_t round) const;
  void check_arrival(std::uint32_t round) const;

  MeasuringThreads& crew_;
  const single_copy::PeerPath& path_;
  std::size_t readers_;
  std::vector<int> members_;          // hardware threads: all readers, then those that only write
  std::vector<std::size_t> writers_;  // by reader: index of the member that writes for it
  // By reader. Writers and readers use them in different phases of a round.
  std::vector<std::unique_ptr<PeerProcess>> peers_;
  std::vector<std::unique_ptr<single_copy::PeerMemory>> memories_;
  std::vector<memory::PageBuffer> sources_;  // by member
  std::vector<memory::PageBuffer> targets_;  // by reader
};

}  // namespace huddle::calibrate
