// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reading straight out of another process's memory, by a path of the table of paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/single_copy/peer_path.h"
#include "tools/calibrate/cores.h"
#include "tools/calibrate/crew.h"
#include "tools/calibrate/peer_process.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

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
