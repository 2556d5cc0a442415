// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A child process that waits with its exec() until those who watch it are ready.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "common/file_descriptor.h"

namespace huddle::threads {

class GatedStart {
 public:
  // `mask`: the signals that are blocked for the program. Throws FailureError.
  GatedStart(const std::string& file, std::vector<std::string> words,
             std::vector<std::string> environment, const sigset_t& mask);
  // Of a child that was never let go: it ends.
  ~GatedStart();
  GatedStart(const GatedStart&) = delete;
  GatedStart& operator=(const GatedStart&) = delete;

  pid_t process() const { return process_; }
  // Lets it become the program. Throws FailureError where it cannot.
  void go();

 private:
  std::string file_;
  FileDescriptor gate_;    // closed or written to
  FileDescriptor report_;  // an errno, or its end once exec() has been done
  pid_t process_ = -1;
};

}  // namespace huddle::threads
