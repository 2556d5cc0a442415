// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A BPF program that the kernel runs at each page fault of the software event: one ring for all
// processors, and a count. It needs root, or CAP_BPF and CAP_PERFMON; no kprobes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "placement/threads/page_fault.h"

namespace huddle::threads {

class BpfFaults {
 public:
  // Loads it. Throws FailureError that says why not: it was not built, or may not be loaded.
  BpfFaults();
  ~BpfFaults();
  BpfFaults(BpfFaults&&) noexcept;
  BpfFaults& operator=(BpfFaults&&) noexcept;

  // From now on it sees what that event counts, in the place of the event's own ring. False where
  // the kernel refuses it: errno says why.
  bool attach(int event) const;
  // Adds what has come since the last call.
  void drain(std::vector<PageFault>& faults);
  // As counted in the kernel, those without room in the ring among them.
  std::uint64_t seen() const;
  std::uint64_t lost() const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace huddle::threads
