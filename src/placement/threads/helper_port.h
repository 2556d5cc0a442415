// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where helpers that were preloaded into programs (helper/helper.c) hand over their userfaultfd.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "common/file_descriptor.h"

namespace huddle::threads {

struct Arrival {
  pid_t process = 0;
  FileDescriptor userfaultfd;  // not open: it could not be had
  int error = 0;               // an errno: why
};

class HelperPort {
 public:
  // Throws FailureError.
  HelperPort();
  // One that another process has made and named, by the socket that listens there.
  explicit HelperPort(FileDescriptor listening) : socket_(std::move(listening)) {}

  // "NAME=VALUE" for the environment of the program. pre: it was made here.
  std::string variable() const;
  int descriptor() const { return socket_.number(); }  // readable when somebody has come
  // The next one who has come. Does not wait.
  std::optional<Arrival> accept() const;

 private:
  std::string name_;
  FileDescriptor socket_;
};

}  // namespace huddle::threads
