// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// This rank, in a communicator that it makes without the others.
#pragma once

#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

class Alone {
 public:
  Alone(const UnderlyingMpi& real, Comm comm) : real_(real) {
    Group all{};
    Group mine{};
    int rank = 0;
    real.comm_rank(comm, &rank);
    real.comm_group(comm, &all);
    real.group_incl(all, 1, &rank, &mine);
    is_made_ = real.comm_create_group(comm, mine, /*tag=*/0, &comm_) == success;
    real.group_free(&mine);
    real.group_free(&all);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone() {
    if (is_made_) real_.comm_free(&comm_);
  }

  // Whether the MPI did it.
  bool is_made() const { return is_made_; }
  Comm comm() const { return comm_; }

 private:
  const UnderlyingMpi& real_;
  Comm comm_{};
  bool is_made_ = false;
};

}  // namespace huddle::mpi
