// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whoever leaves a barrier of the MPI's has seen, on the way, what was sent before it. A barrier of
// huddle's goes by other ways, and moves the MPI only where somebody waits long. Some MPIs look at
// a window first and move then, and so would tell of an access epoch that ended before the barrier
// that it has not.
#include "mpi/back_end/exports/export.h"
#include "mpi/back_end/process.h"

using namespace huddle::mpi;

namespace {

// How many ranks may have something to say of the window.
int ranks_of(const UnderlyingMpi& real, Win window) {
  int ranks = 0;
  Group group{};
  if (real.win_get_group(window, &group) != success) return ranks;
  real.group_size(group, &ranks);
  real.group_free(&group);
  return ranks;
}

}  // namespace

HUDDLE_EXPORT int MPI_Win_test(Win window, int* has_ended) {
  const UnderlyingMpi& real = process().real();
  int status = real.win_test(window, has_ended);
  if (status != success || *has_ended != 0 || !process().has_joined()) return status;
  // Each look moves the MPI by what one rank has sent.
  for (int left = ranks_of(real, window); left > 0 && status == success && *has_ended == 0;
       --left) {
    status = real.win_test(window, has_ended);
  }
  return status;
}
