// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// By which a child tells its parent that it is ready. A child that dies, or was never made, keeps
// nobody waiting.
#pragma once

#include "common/file_descriptor.h"

namespace huddle::memory {

class ForkLine {
 public:
  // Before the fork. False where the process has no descriptors left.
  bool open() noexcept;
  // After the fork, in each of the two; nothing where it is not open.
  void wait_in_parent() noexcept;
  void tell_in_child() noexcept;

 private:
  FileDescriptor parents_;
  FileDescriptor childs_;
};

}  // namespace huddle::memory
