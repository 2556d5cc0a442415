// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What ranks of a job tell each other across nodes before their MPI comes up: by PMIx, where that
// is their launcher's. What is put there before the MPI begins has arrived everywhere once it has
// begun, for it exchanges its own addresses so.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::mpi {

class KeySpace {
 public:
  // Of an environment of "NAME=value" lines.
  explicit KeySpace(const std::vector<std::string>& environment);
  ~KeySpace();
  KeySpace(const KeySpace&) = delete;
  KeySpace& operator=(const KeySpace&) = delete;

  // Whether the job has one. If so, and this process cannot use it, the others see nothing of it.
  bool is_there() const { return !job_.empty(); }
  // Before the MPI comes up, once. False: nobody will hear it.
  bool tell(const std::string& value);
  // Whether that rank told just this; after it has. pre: tell() was true. May take some seconds
  // where the rank is on this node and has told nothing.
  bool has_told(int rank, std::string_view value);
  // As early as may be: the MPI's own end of it is the last.
  void close();

 private:
  struct Functions;

  std::string job_;
  std::string version_;                   // of the launcher's side
  std::unique_ptr<Functions> functions_;  // while it is open
};

}  // namespace huddle::mpi
