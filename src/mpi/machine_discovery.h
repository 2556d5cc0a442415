// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs huddle-look, which is installed beside this library, to discover the machine's topology.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/file.h"

namespace huddle::mpi {

// One run of huddle-look. It takes a few milliseconds, so a run that is started early has ended
// when its result is needed. The rest of the process does not notice the child: no signal is sent
// when it ends, and wait() does not return it.
class MachineDiscovery {
 public:
  // `machine_file` is the file that the user named; empty: search. Throws FailureError.
  explicit MachineDiscovery(const std::string& machine_file);
  // Blocks until the child has ended.
  ~MachineDiscovery();
  MachineDiscovery(const MachineDiscovery&) = delete;
  MachineDiscovery& operator=(const MachineDiscovery&) = delete;

  // Returns a machine file's text. Call once. Throws FailureError with huddle-look's output.
  std::string text();

 private:
  bool ended_well();

  pid_t child_ = 0;
  FileDescriptor output_;
};

}  // namespace huddle::mpi
