// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Finds the description of this machine: that of an earlier job, or the output of huddle-look,
// which is installed beside this library.
#pragma once

#include <optional>
#include <string>

#include "common/file.h"

namespace huddle::mpi {

// Returns the machine file that an earlier job has stored, if it is still valid. `machine_file` is
// the file that the user named; empty if there is none.
std::optional<std::string> stored_machine_text(const std::string& machine_file);

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
