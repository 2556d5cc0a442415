// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Asks the program beside this library what machine this is.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/file.h"

namespace huddle::mpi {

// One run of that program, which takes a few milliseconds: started early, it is over when it is
// asked for. To the rest of the process it is no child: no signal comes when it ends, and wait()
// does not find it.
class MachineDiscovery {
 public:
  // machine_file: the one that was named; empty: whichever is found. Throws FailureError.
  explicit MachineDiscovery(const std::string& machine_file);
  // Waits for its end.
  ~MachineDiscovery();
  MachineDiscovery(const MachineDiscovery&) = delete;
  MachineDiscovery& operator=(const MachineDiscovery&) = delete;

  // The text of a machine file. Once. Throws FailureError with what the program says.
  std::string text();

 private:
  bool ended_well();

  pid_t child_ = 0;
  FileDescriptor output_;
};

}  // namespace huddle::mpi
