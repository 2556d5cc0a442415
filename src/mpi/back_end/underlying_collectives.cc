// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/underlying_collectives.h"

#include "mpi/back_end/look_up.h"

namespace huddle::mpi {

UnderlyingCollectives::UnderlyingCollectives(Find find) {
  look_up(find, "PMPI_Barrier", barrier);
  look_up(find, "PMPI_Bcast", bcast);
  look_up(find, "PMPI_Bcast_c", bcast_c);
  look_up(find, "PMPI_Reduce", reduce);
  look_up(find, "PMPI_Reduce_c", reduce_c);
  look_up(find, "PMPI_Allreduce", allreduce);
  look_up(find, "PMPI_Allreduce_c", allreduce_c);
  look_up(find, "PMPI_Allgather", allgather);
  look_up(find, "PMPI_Allgather_c", allgather_c);
  look_up(find, "PMPI_Allgatherv", allgatherv);
  look_up(find, "PMPI_Allgatherv_c", allgatherv_c);
  look_up(find, "PMPI_Alltoall", alltoall);
  look_up(find, "PMPI_Alltoall_c", alltoall_c);
  look_up(find, "PMPI_Alltoallv", alltoallv);
  look_up(find, "PMPI_Alltoallv_c", alltoallv_c);
  look_up(find, "PMPI_Alltoallw", alltoallw);
  look_up(find, "PMPI_Alltoallw_c", alltoallw_c);
  look_up(find, "PMPI_Gather", gather);
  look_up(find, "PMPI_Gather_c", gather_c);
  look_up(find, "PMPI_Gatherv", gatherv);
  look_up(find, "PMPI_Gatherv_c", gatherv_c);
  look_up(find, "PMPI_Scatter", scatter);
  look_up(find, "PMPI_Scatter_c", scatter_c);
  look_up(find, "PMPI_Scatterv", scatterv);
  look_up(find, "PMPI_Scatterv_c", scatterv_c);
  look_up(find, "PMPI_Reduce_scatter", reduce_scatter);
  look_up(find, "PMPI_Reduce_scatter_c", reduce_scatter_c);
  look_up(find, "PMPI_Reduce_scatter_block", reduce_scatter_block);
  look_up(find, "PMPI_Reduce_scatter_block_c", reduce_scatter_block_c);
  look_up(find, "PMPI_Scan", scan);
  look_up(find, "PMPI_Scan_c", scan_c);
  look_up(find, "PMPI_Exscan", exscan);
  look_up(find, "PMPI_Exscan_c", exscan_c);
}

}  // namespace huddle::mpi
