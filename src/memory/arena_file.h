// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The file behind an arena. It never has a name: when the last process that has it open or mapped
// is gone, however it went, so is the file.
#pragma once

#include <string>

#include "memory/arena_space.h"
#include "memory/descriptor.h"

namespace huddle::memory {

class ArenaFile {
 public:
  enum class Kind {
    memfd_first,  // kernel memory; where that is refused, in the folder
    memfd,        // kernel memory or nothing: no quota of a file system ends it in mid-use
    in_folder,    // a file without a name on the tmpfs at `folder`
  };
  // Throws FailureError.
  ArenaFile(Kind kind, const std::string& folder);

  int descriptor() const { return descriptor_.number(); }
  // What it takes of the machine.
  std::size_t memory_bytes() const;
  // This process has no more to do with it.
  void close() { descriptor_ = Descriptor(); }
  // By that number the program has another file now.
  void forget() { descriptor_.release(); }

  // Makes the file so long, with no memory behind it: pages come when they are touched. Returns
  // `bytes`. Throws FailureError.
  std::size_t extend(std::size_t bytes) const;

  // Gives these pages memory, now, by the memory policy of the calling thread: its own NUMA node,
  // if it has asked for nothing else. Throws FailureError, and nothing has changed, where the
  // memory is not to be had. pre: whole pages.
  void reserve(Piece pages) const;
  // The memory of these pages goes back to the system. pre: whole pages.
  void give_back(Piece pages) const;

 private:
  Descriptor descriptor_;
  std::string place_;  // for messages
};

}  // namespace huddle::memory
