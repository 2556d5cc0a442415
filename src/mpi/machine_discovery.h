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
  // Starts the run. `machine_file` is the machine file that the user named, or empty to search for
  // one. Throws FailureError.
  explicit MachineDiscovery(const std::string& machine_file);
  // Blocks until the child has ended.
  ~MachineDiscovery();
  MachineDiscovery(const MachineDiscovery&) = delete;
  MachineDiscovery& operator=(const MachineDiscovery&) = delete;

  // Returns the text of the machine file. Call at most once. Throws FailureError with the output of
  // huddle-look if it fails.
  std::string text();

 private:
  bool ended_well();

  pid_t child_ = 0;
  FileDescriptor output_;
};

}  // namespace huddle::mpi
