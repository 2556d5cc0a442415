// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// This rank, in a communicator that it makes without the others.
#pragma once

#include "mpi/back_end/real.h"

namespace huddle::mpi {

class Alone {
 public:
  Alone(const Real& real, Comm comm);
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone();

  // Whether the MPI did it.
  bool is_made() const { return is_made_; }
  Comm comm() const { return comm_; }

 private:
  const Real& real_;
  Comm comm_{};
  bool is_made_ = false;
};

}  // namespace huddle::mpi
