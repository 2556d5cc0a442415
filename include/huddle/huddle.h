/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/**
 * The C interface of huddle: collectives for any group of processes, or threads, on one machine.
 * For C99 and later, and for C++11 and later. docs/api.md describes how to use it.
 *
 *     context      the resources of a process: a machine model and shared memory
 *     rendezvous   a bootstrap for ranks that have no other means to communicate
 *     team         a group of ranks that call collectives together
 *
 * Every call that can fail returns a status, and describes a failure in one sentence. Calls marked
 * "collective" are made by all ranks of a team, in the same order, with equal counts, types,
 * operators and roots.
 *
 * The library does not start threads, print, install signal handlers, or keep state outside the
 * handles. Several threads may use a context at the same time, but only one thread at a time may
 * use a team or a rendezvous. A process may have several ranks, each with its own thread and team
 * handle. A forked process must not use the contexts and teams of its parent, not even to free
 * them. Callbacks must return to their caller and must not call the team that calls them.
 */
#ifndef HUDDLE_HUDDLE_H
#define HUDDLE_HUDDLE_H

#include <stddef.h>

/* The version of this header; huddle_version() returns that of the library. Programs need not be
 * recompiled as long as the major version (before 1.0 also the minor version) stays the same. */
#define HUDDLE_VERSION_MAJOR 0
#define HUDDLE_VERSION_MINOR 1
#define HUDDLE_VERSION_PATCH 0

/* Enumerations have the type int in both languages, so that the library can check any value. */
#ifdef __cplusplus
#define HUDDLE_AS_INT : int
extern "C" {
#else
#define HUDDLE_AS_INT
#endif

/* ---- status ------------------------------------------------------------------------------ */

/** The result of a call. Zero is success. Values never change their meaning. */
typedef enum huddle_status HUDDLE_AS_INT {
  HUDDLE_OK = 0,
  HUDDLE_FAILED = 1,    /**< the operation failed, for example for lack of memory */
  HUDDLE_MISUSED = 2,   /**< the call is invalid: an argument out of range, a null handle, a
                             size that differs from another rank's */
  HUDDLE_BAD_INPUT = 3, /**< a file or an environment variable is invalid */
  HUDDLE_PEER_LOST = 4, /**< a rank of the team has died, or is later than the team's time limit;
                             the team is unusable */
} huddle_status;

/** Returns a short description of a status, never null. The string is static. */
const char* huddle_status_text(huddle_status status);

/** Returns the version of the loaded library as "major.minor.patch". The string is static. */
const char* huddle_version(void);

/** Receives the reason why a call failed, in one sentence; "" if it succeeded. Callers that do
 *  not need it pass null. */
typedef struct huddle_message {
  char text[512];
} huddle_message;

/* ---- context ----------------------------------------------------------------------------- */

typedef struct huddle_context huddle_context;

/** Options of huddle_context_create(). Zero-initialize the structure, set `size`, and then set the
 *  fields that should not have their defaults.
 *      huddle_settings settings = {0};
 *      settings.size = sizeof settings; */
typedef struct huddle_settings {
  /** Must be sizeof(huddle_settings), from which the library infers the fields that exist. */
  size_t size;
  /** Path of the machine file, whose measurements determine the choice of algorithms. Null: the
   *  environment variable HUDDLE_MACHINE, else the configuration files, else the file that
   *  `huddle calibrate` saved for this kind of machine, else generic figures. */
  const char* machine_file;
  /** Maximum size of the memory that this process shares with its peers. The memory is allocated as
   *  needed. 0: 1 GiB. */
  size_t cap_bytes;
  /** Size of the shared memory that a rank allocates for each large-message algorithm it uses. Rank
   *  0's value applies to the whole team. 0: 1 MiB. At most 1 GiB and at most cap_bytes. */
  size_t queue_bytes;
  /** Called about once per microsecond by a rank that waits for others. Null: no callback. */
  void (*progress)(void* arg);
  void* progress_arg;
  /** Maximum total size of the blocks that huddle_alloc() provides at the same time. Reserves only
   *  address space, in each rank that accesses them. 0: 64 GiB, or the size of the machine's memory
   *  if that is less. */
  size_t heap_bytes;
} huddle_settings;

/** Creates a context. `settings` may be null for the defaults. Reads the machine file; does not
 *  share any memory yet. */
huddle_status huddle_context_create(const huddle_settings* settings, huddle_context** context,
                                    huddle_message* message);
/** Frees a context. Its teams remain usable: the resources that they need are released when the
 *  last of them is freed. `context` may be null. */
void huddle_context_free(huddle_context* context);

/** Allocates a block of memory that the process's peers can map. If the large buffers of all ranks
 *  are in such blocks, collectives access the peers' buffers directly. The block is aligned for any
 *  type and does not share cache lines with other data; its pages are placed on the NUMA node of
 *  the thread that touches them first; its contents are undefined. A child of fork() must not use
 *  it. Sets `*block` to null on failure. */
huddle_status huddle_alloc(huddle_context* context, size_t bytes, void** block,
                           huddle_message* message);
/** Frees a block. The context must still exist, and no collective may be using the block. Remaining
 *  blocks are released when the context and all of its teams have been freed. `block` may be
 *  null. */
void huddle_free(huddle_context* context, void* block);

/* ---- rendezvous ----------------------------------------------------------------------------- */

/** Gathers `bytes` bytes from each rank on all ranks, in rank order: the bytes of rank r are stored
 *  at all + r * bytes. Returns 0 on success and any other value on failure. */
typedef int (*huddle_gather_function)(void* arg, const void* mine, size_t bytes, void* all);

/** The allgather by which ranks communicate while they create a team: one that the caller provides
 *  (over MPI, PMIx, sockets, ...) or that of a rendezvous. It is called a few times while a team is
 *  created, and never afterwards. */
typedef struct huddle_bootstrap {
  int rank;
  int ranks;
  huddle_gather_function allgather;
  void* arg;
} huddle_bootstrap;

typedef struct huddle_rendezvous huddle_rendezvous;

/** Creates a rendezvous for processes that are forked afterwards. A parent that is not a rank frees
 *  it after the forks: until then the ranks cannot notice the death of a rank. */
huddle_status huddle_rendezvous_before_fork(int ranks, huddle_rendezvous** rendezvous,
                                            huddle_message* message);
/** Attaches this process as `rank`. Each child calls it once. */
huddle_status huddle_rendezvous_attach(huddle_rendezvous* rendezvous, int rank,
                                       huddle_message* message);

/** Creates a rendezvous of threads, or of processes of one user that were started independently.
 *  All ranks pass the same path, which is only a name: no file is created. Fails if rank 0 is not
 *  there within timeout_ms milliseconds, or another rank is not within timeout_ms after rank 0. The
 *  limit does not concern teams that are created later. Collective. */
huddle_status huddle_rendezvous_at_path(const char* path, int rank, int ranks, int timeout_ms,
                                        huddle_rendezvous** rendezvous, huddle_message* message);

/** Returns the bootstrap of a rendezvous. It is valid as long as the rendezvous exists, and can
 *  create any number of teams, one after the other. If this process is not attached, the result
 *  cannot create a team. */
huddle_bootstrap huddle_rendezvous_bootstrap(huddle_rendezvous* rendezvous);

/** Frees a rendezvous. Teams that were created with it do not need it. `rendezvous` may be null. */
void huddle_rendezvous_free(huddle_rendezvous* rendezvous);

/* ---- team -------------------------------------------------------------------------------- */

typedef struct huddle_team huddle_team;

/** Creates a team. Collective. Either all ranks get a team or all return the same error. Ranks with
 *  different builds of this library, on different machines or of different users cannot form a
 *  team. (A null argument or an invalid rank is detected before any communication: only that rank
 *  gets the error.) */
huddle_status huddle_team_create(huddle_context* context, const huddle_bootstrap* bootstrap,
                                 huddle_team** team, huddle_message* message);
/** Frees a team. Does not wait: other ranks may still be in the team's last collective. If they
 *  make further calls, these return HUDDLE_PEER_LOST. `team` may be null. */
void huddle_team_free(huddle_team* team);

/** Return this rank and the number of ranks; -1 and 0 if `team` is null. */
int huddle_team_rank(const huddle_team* team);
int huddle_team_ranks(const huddle_team* team);

/** Limits the time that this rank waits in a call for other ranks, to at least timeout_ms
 *  milliseconds and at most about a second more. After that the call returns HUDDLE_PEER_LOST, and
 *  so do later calls on all ranks. 0, the default: no limit. */
huddle_status huddle_team_set_timeout(huddle_team* team, int timeout_ms);

/** Returns the reason why the last failed call on this team failed, in one sentence; "" if no call
 *  has failed. Never null; valid until the next call on the team. */
const char* huddle_team_message(const huddle_team* team);

/* ---- collectives ------------------------------------------------------------------------- */

typedef enum huddle_type HUDDLE_AS_INT {
  HUDDLE_INT8,
  HUDDLE_INT16,
  HUDDLE_INT32,
  HUDDLE_INT64,
  HUDDLE_UINT8,
  HUDDLE_UINT16,
  HUDDLE_UINT32,
  HUDDLE_UINT64,
  HUDDLE_BOOL, /**< a byte: 0 is false; results are 0 or 1 */
  HUDDLE_FLOAT16,
  HUDDLE_BFLOAT16,
  HUDDLE_FLOAT,
  HUDDLE_DOUBLE,
  HUDDLE_LONG_DOUBLE,
  HUDDLE_COMPLEX_FLOAT,
  HUDDLE_COMPLEX_DOUBLE,
  HUDDLE_COMPLEX_LONG_DOUBLE,
  HUDDLE_FLOAT_INT, /**< struct { float value; int where; }, as MPI_FLOAT_INT */
  HUDDLE_DOUBLE_INT,
  HUDDLE_SHORT_INT,
  HUDDLE_INT_INT,
  HUDDLE_LONG_INT,
  HUDDLE_LONG_DOUBLE_INT,
} huddle_type;

typedef enum huddle_operator HUDDLE_AS_INT {
  HUDDLE_SUM,
  HUDDLE_PRODUCT,
  HUDDLE_MIN,
  HUDDLE_MAX,
  HUDDLE_LOGICAL_AND,
  HUDDLE_LOGICAL_OR,
  HUDDLE_LOGICAL_XOR,
  HUDDLE_BITWISE_AND,
  HUDDLE_BITWISE_OR,
  HUDDLE_BITWISE_XOR,
  HUDDLE_MIN_LOCATION,
  HUDDLE_MAX_LOCATION,
} huddle_operator;

/** Returns the size of an element in bytes; 0 if the type does not exist. */
size_t huddle_type_bytes(huddle_type type);

/** A user-defined operator: result[i] = left[i] op right[i]. It must be associative but need not be
 *  commutative, because contributions are combined in rank order. `result` may be `left` or
 *  `right`. Elements may be copied; copies are aligned like max_align_t, not more. */
typedef struct huddle_reduction {
  size_t element_bytes;
  void (*combine)(void* result, const void* left, const void* right, size_t count, void* arg);
  void* arg;
} huddle_reduction;

/** All following functions are collective. If there is no memory for an algorithm that is used for
 *  the first time, all ranks return HUDDLE_FAILED and the team remains usable. If a rank dies, the
 *  others may return HUDDLE_PEER_LOST from different calls: a rank that has already completed its
 *  part of a call returns HUDDLE_OK, and HUDDLE_PEER_LOST from its next call. Invalid arguments
 *  (HUDDLE_MISUSED) are detected before any communication, except for arguments that differ between
 *  ranks. If sizes, roots or operations differ, the ranks return HUDDLE_MISUSED or
 *  HUDDLE_PEER_LOST, and the team is unusable; blocks are an exception, see huddle_alltoallv(). If
 *  there are no data to move, buffers may be null, and no rank waits unless it is 32 such calls
 *  ahead of another. */

/** Returns after all ranks have called it. */
huddle_status huddle_barrier(huddle_team* team);
/** Broadcasts `bytes` bytes from the root. Does not write to the root's buffer. */
huddle_status huddle_bcast(huddle_team* team, void* buffer, size_t bytes, int root);

/** Reduces `count` elements from each rank. `input` may be `output`; otherwise they must not
 *  overlap. huddle_reduce() writes only the root's output; on other ranks it may be null.
 *
 *  Sum and product are defined for all types except pairs and HUDDLE_BOOL; min and max for real
 *  numbers; logical operators for integers and HUDDLE_BOOL; bitwise operators for integers;
 *  locations for pairs. The bits of a result depend only on the operation, the type, the count and
 *  the team (its size and the placement of its ranks), because every algorithm combines
 *  contributions in the same order. */
huddle_status huddle_reduce(huddle_team* team, const void* input, void* output, size_t count,
                            huddle_type type, huddle_operator op, int root);
huddle_status huddle_allreduce(huddle_team* team, const void* input, void* output, size_t count,
                               huddle_type type, huddle_operator op);
/** The same with user-defined operators. */
huddle_status huddle_reduce_by(huddle_team* team, const void* input, void* output, size_t count,
                               const huddle_reduction* reduction, int root);
huddle_status huddle_allreduce_by(huddle_team* team, const void* input, void* output, size_t count,
                                  const huddle_reduction* reduction);

/** A block of a buffer: its offset from the beginning of the buffer, and its size. */
typedef struct huddle_block {
  ptrdiff_t offset;
  size_t bytes;
} huddle_block;

/** Gathers a block from each rank on all ranks, in rank order. `input` may be this rank's own block
 *  of `output`. */
huddle_status huddle_allgather(huddle_team* team, const void* input, void* output, size_t bytes);
/** The same with blocks of any sizes at any offsets in the output. `blocks` has one entry per rank;
 *  all ranks must pass the same sizes. */
huddle_status huddle_allgatherv(huddle_team* team, const void* input, void* output,
                                const huddle_block* blocks);
/** Sends a block from each rank to each rank, in rank order. `input` may be `output`, on all ranks
 *  or on none. */
huddle_status huddle_alltoall(huddle_team* team, const void* input, void* output, size_t bytes);
/** The same with blocks of any sizes. As in huddle_gatherv() and huddle_scatterv(), the sender and
 *  the receiver of a block must pass the same size. In place (`input` is `output`, on all ranks or
 *  on none) the block that arrives from a rank replaces the block sent to it, so both must have the
 *  same size.
 *
 *  A rank that receives a block of an unexpected size returns HUDDLE_MISUSED and gets no data of
 *  that block. All other blocks arrive, on all ranks, and the team remains usable. Two errors are
 *  not detected: sizes that differ by a multiple of 4 GiB, and a block that is empty according to
 *  either its sender or its receiver, but not to both. In the second case the other rank may wait
 *  forever, or a later call may receive the block. */
huddle_status huddle_alltoallv(huddle_team* team, const void* input, const huddle_block* outgoing,
                               void* output, const huddle_block* incoming);
/** Gathers a block from each rank on the root, in rank order. Only the root uses `output` and
 *  `blocks`. The root's `input` may be its own block of `output`. */
huddle_status huddle_gather(huddle_team* team, const void* input, void* output, size_t bytes,
                            int root);
huddle_status huddle_gatherv(huddle_team* team, const void* input, size_t bytes, void* output,
                             const huddle_block* blocks, int root);
/** Sends a block from the root to each rank, in rank order. Only the root uses `input` and
 *  `blocks`. The root's `output` may be its own block of `input`. */
huddle_status huddle_scatter(huddle_team* team, const void* input, void* output, size_t bytes,
                             int root);
huddle_status huddle_scatterv(huddle_team* team, const void* input, const huddle_block* blocks,
                              void* output, size_t bytes, int root);

/** Reduces the inputs of all ranks and gives each rank its block of the result: `count` elements,
 *  or counts[rank] elements. An input contains the blocks of all ranks in rank order. `input` may
 *  be `output`. */
huddle_status huddle_reduce_scatter_block(huddle_team* team, const void* input, void* output,
                                          size_t count, huddle_type type, huddle_operator op);
huddle_status huddle_reduce_scatter(huddle_team* team, const void* input, void* output,
                                    const size_t* counts, huddle_type type, huddle_operator op);
huddle_status huddle_reduce_scatter_by(huddle_team* team, const void* input, void* output,
                                       const size_t* counts, const huddle_reduction* reduction);

/** Reduces the inputs of the ranks up to and including this one (scan) or before it (exscan).
 *  huddle_exscan() leaves the output of rank 0 unchanged. `input` may be `output`. */
huddle_status huddle_scan(huddle_team* team, const void* input, void* output, size_t count,
                          huddle_type type, huddle_operator op);
huddle_status huddle_exscan(huddle_team* team, const void* input, void* output, size_t count,
                            huddle_type type, huddle_operator op);
huddle_status huddle_scan_by(huddle_team* team, const void* input, void* output, size_t count,
                             const huddle_reduction* reduction);
huddle_status huddle_exscan_by(huddle_team* team, const void* input, void* output, size_t count,
                               const huddle_reduction* reduction);

/* ---- explanations ------------------------------------------------------------------------ */

typedef enum huddle_operation HUDDLE_AS_INT {
  HUDDLE_BARRIER,
  HUDDLE_BCAST,
  HUDDLE_REDUCE,
  HUDDLE_ALLREDUCE,
  HUDDLE_ALLGATHER,
  HUDDLE_ALLGATHERV,
  HUDDLE_ALLTOALL,
  HUDDLE_ALLTOALLV,
  HUDDLE_ALLTOALLW, /**< MPI_Alltoallw; same as HUDDLE_ALLTOALLV */
  HUDDLE_GATHER,
  HUDDLE_GATHERV,
  HUDDLE_SCATTER,
  HUDDLE_SCATTERV,
  HUDDLE_REDUCE_SCATTER,
  HUDDLE_REDUCE_SCATTER_BLOCK,
  HUDDLE_SCAN,
  HUDDLE_EXSCAN,
} huddle_operation;

typedef enum huddle_format HUDDLE_AS_INT {
  HUDDLE_TEXT,
  HUDDLE_JSON, /**< one object, "schema": 1 */
} huddle_format;

/** Explains which algorithm would run for a call with `count` elements of element_bytes bytes,
 *  which others could, and the predicted time of each. `count` includes all elements of a rank in a
 *  reduction, and those of one block otherwise. If the operation does not reduce, elements are
 *  bytes and element_bytes is 1. A barrier ignores both. Not collective. Writes at most `capacity`
 *  bytes to `buffer`, including the terminating 0. If `needed` is not null, it receives the size of
 *  the whole text. Returns HUDDLE_OK even if the text is truncated. */
huddle_status huddle_explain(huddle_team* team, huddle_operation operation, size_t count,
                             size_t element_bytes, huddle_format format, char* buffer,
                             size_t capacity, size_t* needed);

#undef HUDDLE_AS_INT

#ifdef __cplusplus
}
#endif

#endif
