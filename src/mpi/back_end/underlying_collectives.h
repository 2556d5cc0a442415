// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The collectives of the MPI that huddle takes, under their profiling names. The forms with large
// counts are null before MPI 4.
#pragma once

#include "abi.h"

namespace huddle::mpi {

struct UnderlyingCollectives {
  explicit UnderlyingCollectives(Find find);

  int (*barrier)(Comm);
  int (*bcast)(void*, int, Datatype, int, Comm);
  int (*bcast_c)(void*, Count, Datatype, int, Comm);
  int (*reduce)(const void*, void*, int, Datatype, Op, int, Comm);
  int (*reduce_c)(const void*, void*, Count, Datatype, Op, int, Comm);
  int (*allreduce)(const void*, void*, int, Datatype, Op, Comm);
  int (*allreduce_c)(const void*, void*, Count, Datatype, Op, Comm);
  int (*allgather)(const void*, int, Datatype, void*, int, Datatype, Comm);
  int (*allgather_c)(const void*, Count, Datatype, void*, Count, Datatype, Comm);
  int (*allgatherv)(const void*, int, Datatype, void*, const int*, const int*, Datatype, Comm);
  int (*allgatherv_c)(const void*, Count, Datatype, void*, const Count*, const Aint*, Datatype,
                      Comm);
  int (*alltoall)(const void*, int, Datatype, void*, int, Datatype, Comm);
  int (*alltoall_c)(const void*, Count, Datatype, void*, Count, Datatype, Comm);
  int (*alltoallv)(const void*, const int*, const int*, Datatype, void*, const int*, const int*,
                   Datatype, Comm);
  int (*alltoallv_c)(const void*, const Count*, const Aint*, Datatype, void*, const Count*,
                     const Aint*, Datatype, Comm);
  int (*alltoallw)(const void*, const int*, const int*, const Datatype*, void*, const int*,
                   const int*, const Datatype*, Comm);
  int (*alltoallw_c)(const void*, const Count*, const Aint*, const Datatype*, void*, const Count*,
                     const Aint*, const Datatype*, Comm);
  int (*gather)(const void*, int, Datatype, void*, int, Datatype, int, Comm);
  int (*gather_c)(const void*, Count, Datatype, void*, Count, Datatype, int, Comm);
  int (*gatherv)(const void*, int, Datatype, void*, const int*, const int*, Datatype, int, Comm);
  int (*gatherv_c)(const void*, Count, Datatype, void*, const Count*, const Aint*, Datatype, int,
                   Comm);
  int (*scatter)(const void*, int, Datatype, void*, int, Datatype, int, Comm);
  int (*scatter_c)(const void*, Count, Datatype, void*, Count, Datatype, int, Comm);
  int (*scatterv)(const void*, const int*, const int*, Datatype, void*, int, Datatype, int, Comm);
  int (*scatterv_c)(const void*, const Count*, const Aint*, Datatype, void*, Count, Datatype, int,
                    Comm);
  int (*reduce_scatter)(const void*, void*, const int*, Datatype, Op, Comm);
  int (*reduce_scatter_c)(const void*, void*, const Count*, Datatype, Op, Comm);
  int (*reduce_scatter_block)(const void*, void*, int, Datatype, Op, Comm);
  int (*reduce_scatter_block_c)(const void*, void*, Count, Datatype, Op, Comm);
  int (*scan)(const void*, void*, int, Datatype, Op, Comm);
  int (*scan_c)(const void*, void*, Count, Datatype, Op, Comm);
  int (*exscan)(const void*, void*, int, Datatype, Op, Comm);
  int (*exscan_c)(const void*, void*, Count, Datatype, Op, Comm);
};

}  // namespace huddle::mpi
