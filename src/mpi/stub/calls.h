/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Every MPI call that huddle intercepts: its name and its number of arguments, which are the same
 * in every ABI. The stub needs no more than that.
 */
#ifndef HUDDLE_MPI_STUB_CALLS_H
#define HUDDLE_MPI_STUB_CALLS_H

/* Begin and end of the world model. */
#define HUDDLE_LIFETIME_CALLS(CALL) \
  CALL(Init, 2)                     \
  CALL(Init_thread, 4)              \
  CALL(Finalize, 0)                 \
  CALL(Abort, 2)

/* Begin and end of MPI 4's sessions. */
#define HUDDLE_SESSION_CALLS(CALL) \
  CALL(Session_init, 3)            \
  CALL(Session_finalize, 1)

/* Memory that the MPI allocates for the program. */
#define HUDDLE_MEMORY_CALLS(CALL) \
  CALL(Alloc_mem, 3)              \
  CALL(Free_mem, 1)

/* The end of a communicator: the MPI runs the delete callbacks of its attributes. */
#define HUDDLE_COMMUNICATOR_CALLS(CALL) \
  CALL(Comm_free, 1)                    \
  CALL(Comm_disconnect, 1)

/* huddle repeats this test, because an epoch may have ended while a rank waited in huddle. */
#define HUDDLE_WINDOW_CALLS(CALL) CALL(Win_test, 2)

/* Blocking collectives of MPI 3.1. */
#define HUDDLE_BLOCKING_CALLS(CALL) \
  CALL(Barrier, 1)                  \
  CALL(Bcast, 5)                    \
  CALL(Gather, 8)                   \
  CALL(Gatherv, 9)                  \
  CALL(Scatter, 8)                  \
  CALL(Scatterv, 9)                 \
  CALL(Allgather, 7)                \
  CALL(Allgatherv, 8)               \
  CALL(Alltoall, 7)                 \
  CALL(Alltoallv, 9)                \
  CALL(Alltoallw, 9)                \
  CALL(Reduce, 7)                   \
  CALL(Allreduce, 6)                \
  CALL(Reduce_scatter, 6)           \
  CALL(Reduce_scatter_block, 6)     \
  CALL(Scan, 6)                     \
  CALL(Exscan, 6)                   \
  CALL(Neighbor_allgather, 7)       \
  CALL(Neighbor_allgatherv, 8)      \
  CALL(Neighbor_alltoall, 7)        \
  CALL(Neighbor_alltoallv, 9)       \
  CALL(Neighbor_alltoallw, 9)

/* Nonblocking collectives, with one more argument than the blocking form: the request. */
#define HUDDLE_NONBLOCKING_CALLS(CALL) \
  CALL(Ibarrier, 2)                    \
  CALL(Ibcast, 6)                      \
  CALL(Igather, 9)                     \
  CALL(Igatherv, 10)                   \
  CALL(Iscatter, 9)                    \
  CALL(Iscatterv, 10)                  \
  CALL(Iallgather, 8)                  \
  CALL(Iallgatherv, 9)                 \
  CALL(Ialltoall, 8)                   \
  CALL(Ialltoallv, 10)                 \
  CALL(Ialltoallw, 10)                 \
  CALL(Ireduce, 8)                     \
  CALL(Iallreduce, 7)                  \
  CALL(Ireduce_scatter, 7)             \
  CALL(Ireduce_scatter_block, 7)       \
  CALL(Iscan, 7)                       \
  CALL(Iexscan, 7)                     \
  CALL(Ineighbor_allgather, 8)         \
  CALL(Ineighbor_allgatherv, 9)        \
  CALL(Ineighbor_alltoall, 8)          \
  CALL(Ineighbor_alltoallv, 10)        \
  CALL(Ineighbor_alltoallw, 10)

/* MPI 4: collectives with large counts. */
#define HUDDLE_LARGE_CALLS(CALL)   \
  CALL(Bcast_c, 5)                 \
  CALL(Gather_c, 8)                \
  CALL(Gatherv_c, 9)               \
  CALL(Scatter_c, 8)               \
  CALL(Scatterv_c, 9)              \
  CALL(Allgather_c, 7)             \
  CALL(Allgatherv_c, 8)            \
  CALL(Alltoall_c, 7)              \
  CALL(Alltoallv_c, 9)             \
  CALL(Alltoallw_c, 9)             \
  CALL(Reduce_c, 7)                \
  CALL(Allreduce_c, 6)             \
  CALL(Reduce_scatter_c, 6)        \
  CALL(Reduce_scatter_block_c, 6)  \
  CALL(Scan_c, 6)                  \
  CALL(Exscan_c, 6)                \
  CALL(Neighbor_allgather_c, 7)    \
  CALL(Neighbor_allgatherv_c, 8)   \
  CALL(Neighbor_alltoall_c, 7)     \
  CALL(Neighbor_alltoallv_c, 9)    \
  CALL(Neighbor_alltoallw_c, 9)    \
  CALL(Ibcast_c, 6)                \
  CALL(Igather_c, 9)               \
  CALL(Igatherv_c, 10)             \
  CALL(Iscatter_c, 9)              \
  CALL(Iscatterv_c, 10)            \
  CALL(Iallgather_c, 8)            \
  CALL(Iallgatherv_c, 9)           \
  CALL(Ialltoall_c, 8)             \
  CALL(Ialltoallv_c, 10)           \
  CALL(Ialltoallw_c, 10)           \
  CALL(Ireduce_c, 8)               \
  CALL(Iallreduce_c, 7)            \
  CALL(Ireduce_scatter_c, 7)       \
  CALL(Ireduce_scatter_block_c, 7) \
  CALL(Iscan_c, 7)                 \
  CALL(Iexscan_c, 7)               \
  CALL(Ineighbor_allgather_c, 8)   \
  CALL(Ineighbor_allgatherv_c, 9)  \
  CALL(Ineighbor_alltoall_c, 8)    \
  CALL(Ineighbor_alltoallv_c, 10)  \
  CALL(Ineighbor_alltoallw_c, 10)

/* MPI 4: persistent collectives, with two more arguments than the blocking form: the info and the
 * request. */
#define HUDDLE_PERSISTENT_CALLS(CALL)  \
  CALL(Barrier_init, 3)                \
  CALL(Bcast_init, 7)                  \
  CALL(Bcast_init_c, 7)                \
  CALL(Gather_init, 10)                \
  CALL(Gather_init_c, 10)              \
  CALL(Gatherv_init, 11)               \
  CALL(Gatherv_init_c, 11)             \
  CALL(Scatter_init, 10)               \
  CALL(Scatter_init_c, 10)             \
  CALL(Scatterv_init, 11)              \
  CALL(Scatterv_init_c, 11)            \
  CALL(Allgather_init, 9)              \
  CALL(Allgather_init_c, 9)            \
  CALL(Allgatherv_init, 10)            \
  CALL(Allgatherv_init_c, 10)          \
  CALL(Alltoall_init, 9)               \
  CALL(Alltoall_init_c, 9)             \
  CALL(Alltoallv_init, 11)             \
  CALL(Alltoallv_init_c, 11)           \
  CALL(Alltoallw_init, 11)             \
  CALL(Alltoallw_init_c, 11)           \
  CALL(Reduce_init, 9)                 \
  CALL(Reduce_init_c, 9)               \
  CALL(Allreduce_init, 8)              \
  CALL(Allreduce_init_c, 8)            \
  CALL(Reduce_scatter_init, 8)         \
  CALL(Reduce_scatter_init_c, 8)       \
  CALL(Reduce_scatter_block_init, 8)   \
  CALL(Reduce_scatter_block_init_c, 8) \
  CALL(Scan_init, 8)                   \
  CALL(Scan_init_c, 8)                 \
  CALL(Exscan_init, 8)                 \
  CALL(Exscan_init_c, 8)               \
  CALL(Neighbor_allgather_init, 9)     \
  CALL(Neighbor_allgather_init_c, 9)   \
  CALL(Neighbor_allgatherv_init, 10)   \
  CALL(Neighbor_allgatherv_init_c, 10) \
  CALL(Neighbor_alltoall_init, 9)      \
  CALL(Neighbor_alltoall_init_c, 9)    \
  CALL(Neighbor_alltoallv_init, 11)    \
  CALL(Neighbor_alltoallv_init_c, 11)  \
  CALL(Neighbor_alltoallw_init, 11)    \
  CALL(Neighbor_alltoallw_init_c, 11)

/* OLD_CALLS exist in every MPI, NEW_CALLS only since MPI 4. */
#define HUDDLE_OLD_CALLS(CALL)    \
  HUDDLE_LIFETIME_CALLS(CALL)     \
  HUDDLE_MEMORY_CALLS(CALL)       \
  HUDDLE_COMMUNICATOR_CALLS(CALL) \
  HUDDLE_WINDOW_CALLS(CALL)       \
  HUDDLE_BLOCKING_CALLS(CALL)     \
  HUDDLE_NONBLOCKING_CALLS(CALL)
#define HUDDLE_NEW_CALLS(CALL) \
  HUDDLE_SESSION_CALLS(CALL)   \
  HUDDLE_LARGE_CALLS(CALL)     \
  HUDDLE_PERSISTENT_CALLS(CALL)
#define HUDDLE_CALLS(CALL) \
  HUDDLE_OLD_CALLS(CALL)   \
  HUDDLE_NEW_CALLS(CALL)

#endif
