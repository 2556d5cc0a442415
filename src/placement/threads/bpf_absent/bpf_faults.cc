// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Replaces bpf_built/bpf_faults.cc if libbpf, clang or bpftool is missing at build time.
#include "placement/threads/page_faults.h"

#include "common/error.h"

namespace huddle::threads {

struct BpfFaults::Loaded {};

BpfFaults::BpfFaults() {
  throw FailureError(
      "this huddle was built without its BPF program, which requires libbpf, clang and bpftool");
}
BpfFaults::~BpfFaults() = default;
BpfFaults::BpfFaults(BpfFaults&&) noexcept = default;
BpfFaults& BpfFaults::operator=(BpfFaults&&) noexcept = default;
bool BpfFaults::attach(int /*event*/) const { return false; }
void BpfFaults::drain(std::vector<PageFault>& /*faults*/) {}
std::uint64_t BpfFaults::seen() const { return 0; }
std::uint64_t BpfFaults::lost() const { return 0; }

}  // namespace huddle::threads
