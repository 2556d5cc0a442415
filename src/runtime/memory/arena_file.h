// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The file behind an arena. It never has a name: when the last process that has it open or mapped
// is gone, however it went, so is the file.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/file_descriptor.h"
#include "runtime/memory/arena_space.h"

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
  ~ArenaFile() { close(); }
  ArenaFile(const ArenaFile&) = delete;
  ArenaFile& operator=(const ArenaFile&) = delete;

  // A program may have closed what it does not know, and have a file of its own by that number:
  // then this is false, and that file is left alone.
  bool is_there() const;

  int descriptor() const { return descriptor_.number(); }
  // What it takes of the machine.
  std::size_t memory_bytes() const;
  // This process has no more to do with it.
  void close();

  // Makes the file so long, with no memory behind it: pages come when they are touched. Returns
  // `bytes`. Throws FailureError.
  std::size_t extend(std::size_t bytes) const;

  // Gives these pages memory, now, by the memory policy of the calling thread: its own NUMA node,
  // if it has asked for nothing else. Throws FailureError, and nothing has changed, where the
  // memory, or the file, is not there. pre: whole pages.
  void reserve(Piece pages) const;
  // The memory of these pages goes back to the system. pre: whole pages.
  void give_back(Piece pages) const;

 private:
  FileDescriptor descriptor_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string place_ = "the machine";  // for messages
};

}  // namespace huddle::memory
