// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs huddle-look, which is installed beside this library, to discover the machine's topology.
#pragma once

#include <string>

#include "common/file.h"

namespace huddle::mpi {

// One run of huddle-look, which is invisible to the program: it is no child of this process. It
// takes a few milliseconds, so a run that is started early has ended when its result is needed.
class MachineDiscovery {
 public:
  // Starts huddle-look. `machine_file` is the file that the user named; if it is empty, huddle-look
  // searches for one. Throws FailureError.
  explicit MachineDiscovery(const std::string& machine_file);

  // Blocks until huddle-look has ended and returns its machine file. Call once. Throws FailureError
  // with huddle-look's output if it failed.
  std::string text();

 private:
  FileDescriptor output_;
};

}  // namespace huddle::mpi
