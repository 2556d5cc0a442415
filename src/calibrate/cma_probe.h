// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reading straight out of another process's memory (process_vm_readv, "cross memory attach").
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calibrate/crew.h"
#include "calibrate/peer_process.h"
#include "calibrate/sampling.h"

namespace huddle::calibrate {

class CmaProbe {
 public:
  // Each processor reads from a process of its own, whose memory the next processor has filled.
  // Throws FailureError when there is no memory or no process to be had.
  CmaProbe(Crew& crew, std::span<const int> pus, std::size_t most_bytes);

  // Why it cannot be measured; empty where it can.
  std::string refusal() const;

  // pre: refusal() is empty, bytes <= most_bytes.
  Samples time(std::size_t bytes, const Extent& extent, const Budget& budget);

 private:
  Crew& crew_;
  std::vector<int> pus_;
  std::vector<std::unique_ptr<PeerProcess>> peers_;
  std::vector<memory::PageBuffer> targets_;
};

}  // namespace huddle::calibrate
