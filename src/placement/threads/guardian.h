// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A process that waits for the end of the one that has started it, and then gives back what that
// one has not. It does nothing else, so that there is no reason to end it.
#pragma once

#include "common/file_descriptor.h"
#include "placement/threads/state_folder.h"

namespace huddle::threads {

class Guardian {
 public:
  // Throws FailureError where there can be none.
  Guardian(const StateFolder& folder, const StateFile& file);
  // pre: nothing is left to be given back.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  Identity identity() const { return identity_; }
  bool is_alive() const;

 private:
  Identity identity_;
  FileDescriptor hold_;
};

}  // namespace huddle::threads
