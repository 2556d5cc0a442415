// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the attempts between two sibling processes mean for huddle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "runtime/single_copy/peer_memory.h"
#include "tools/doctor/doctor.h"

namespace huddle::doctor {

// Tries, for real, what two ranks of a node do with each other. Whether it is allowed depends on
// the kernel, Yama, seccomp filters, user namespaces and the processes' past: probe, never assume.

// How each attempt ended: an errno value, 0 for success.
struct SiblingResults {
  int descriptor_by_socket = 0;        // SCM_RIGHTS
  int descriptor_by_proc = 0;          // opening /proc/PID/fd/N
  int descriptor_by_pidfd = 0;         // pidfd_getfd
  std::vector<int> memory_reads = {};  // by path into a peer's memory

  // By the path of that number; one that was not tried works.
  int memory_read(std::size_t path) const {
    return path < memory_reads.size() ? memory_reads[path] : 0;
  }
  // Whether there is a path that works.
  bool reads_memory() const {
    return memory_reads.empty() ||
           std::find(memory_reads.begin(), memory_reads.end(), 0) != memory_reads.end();
  }

  bool operator==(const SiblingResults&) const = default;
};

struct SiblingOptions {
  // The process that is read calls prctl(PR_SET_PTRACER) first, as huddle does where Yama asks it.
  bool allow_tracers = false;
  single_copy::PeerPaths paths = single_copy::peer_paths();
  // Called in both processes before anything else; tests drop rights here.
  void (*prepare)() = nullptr;
};

// The probe could not be set up; `number` is the errno value that says why.
class ProbeError : public FailureError {
 public:
  ProbeError(const std::string& what, int number)
      : FailureError(what + ": " + std::strerror(number)), number_(number) {}
  int number() const { return number_; }

 private:
  int number_;
};

// Starts two processes, lets one try to reach into the other, and ends both.
// Throws ProbeError when it cannot start them, FailureError when they do not answer.
SiblingResults probe_siblings(const SiblingOptions& options = {});

struct SiblingFacts {
  SiblingResults plain = {};           // as any two processes
  SiblingResults allowing = {};        // after PR_SET_PTRACER
  std::optional<long long> yama = {};  // kernel.yama.ptrace_scope; nothing: no Yama in this kernel
  single_copy::PeerPaths paths = single_copy::peer_paths();  // that were tried
};

std::vector<Finding> judge_siblings(const SiblingFacts& facts);

// Where the probe could not be set up: which limit, by its errno value, has to be raised.
std::string setup_remedy(int error);

}  // namespace huddle::doctor
