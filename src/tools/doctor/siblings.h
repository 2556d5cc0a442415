// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Probes what two ranks of a node can do with each other, and evaluates the results.
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

// Result of each attempt: an errno, or 0 for success. Each way is actually tried, because
// permission depends on the kernel, Yama, seccomp filters, user namespaces and the history of the
// processes.
struct SiblingResults {
  int descriptor_by_socket = 0;        // SCM_RIGHTS
  int descriptor_by_proc = 0;          // opening /proc/PID/fd/N
  int descriptor_by_pidfd = 0;         // pidfd_getfd
  std::vector<int> memory_reads = {};  // by path into a peer's memory

  // Returns the result of path number `path`; 0 if it was not tried.
  int memory_read(std::size_t path) const {
    return path < memory_reads.size() ? memory_reads[path] : 0;
  }
  // Returns whether at least one path works.
  bool reads_memory() const {
    return memory_reads.empty() ||
           std::find(memory_reads.begin(), memory_reads.end(), 0) != memory_reads.end();
  }

  bool operator==(const SiblingResults&) const = default;
};

struct SiblingOptions {
  // The owner calls prctl(PR_SET_PTRACER) first, as huddle does if Yama requires it.
  bool allow_tracers = false;
  single_copy::PeerPaths paths = single_copy::peer_paths();
  // Called in both processes before anything else; tests drop privileges here.
  void (*prepare)() = nullptr;
};

// The probe could not be set up; number() is the errno.
class ProbeError : public FailureError {
 public:
  ProbeError(const std::string& what, int number)
      : FailureError(what + ": " + std::strerror(number)), number_(number) {}
  int number() const { return number_; }

 private:
  int number_;
};

// Starts two processes, lets one try to access the other, and ends both. Throws ProbeError if they
// cannot be started, and FailureError if they do not answer.
SiblingResults probe_siblings(const SiblingOptions& options = {});

struct SiblingFacts {
  SiblingResults plain = {};           // without permission
  SiblingResults allowing = {};        // after PR_SET_PTRACER
  std::optional<long long> yama = {};  // kernel.yama.ptrace_scope; nothing without Yama
  single_copy::PeerPaths paths = single_copy::peer_paths();  // the paths that were tried
};

std::vector<Finding> judge_siblings(const SiblingFacts& facts);

// Returns which limit has to be raised if the probe fails with this errno during set-up.
std::string setup_remedy(int error);

}  // namespace huddle::doctor
