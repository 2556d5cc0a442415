// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/alone.h"

namespace huddle::mpi {

Alone::Alone(const Real& real, Comm comm) : real_(real) {
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

Alone::~Alone() {
  if (is_made_) real_.comm_free(&comm_);
}

}  // namespace huddle::mpi
