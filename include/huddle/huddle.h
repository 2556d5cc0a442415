/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/**
 * The C interface of huddle: collectives for any group of processes, or threads, on one machine.
 * For C99 and later, and for C++11 and later. docs/guide.md tells how it is used.
 *
 *     context    what a process has: a machine model, memory to share
 *     meeting    a way for ranks to find each other, where nothing else has brought them together
 *     team       a group of ranks that call collectives together
 *
 * Every call that can fail returns a status, and a sentence says why. Calls marked "collective" are
 * made by all ranks of a team, in the same order, with equal counts, types, operators and roots.
 *
 * Nothing here starts threads, prints, installs signal handlers, or keeps anything outside the
 * handles. A context may be used by several threads at once, a team or a meeting by one thread at a
 * time; a process may have several ranks, each in a thread and a team handle of its own. A process
 * that is forked uses none of its parent's contexts and teams, not even to free them. Callbacks
 * return to their caller and do not call the team that they are called for.
 */
#ifndef HUDDLE_HUDDLE_H
#define HUDDLE_HUDDLE_H

#include <stddef.h>

/* The version of this header; huddle_version() is that of the library. Programs go on working, with
 * no new compilation, as long as the major version (and before 1.0 the minor) is the same. */
#define HUDDLE_VERSION_MAJOR 0
#define HUDDLE_VERSION_MINOR 1
#define HUDDLE_VERSION_PATCH 0

/* Enumerations are an int in both languages, so that the library can look at any value. */
#ifdef __cplusplus
#define HUDDLE_AS_INT : int
extern "C" {
#else
#define HUDDLE_AS_INT
#endif

/* ---- status ------------------------------------------------------------------------------ */

/** What a call came to. Zero is success; the values never change their meaning. */
typedef enum huddle_status HUDDLE_AS_INT {
  HUDDLE_OK = 0,
  HUDDLE_FAILED = 1,    /**< the operation did not succeed: memory, a limit, the machine */
  HUDDLE_MISUSED = 2,   /**< the call itself is wrong: an argument out of range, a null handle, a
                             size that is not the one which another rank says */
  HUDDLE_BAD_INPUT = 3, /**< something read from outside is damaged: a file, a setting */
  HUDDLE_PEER_LOST = 4, /**< a rank of the team has died; the team cannot be used any more */
} huddle_status;

/** A word or two for a status, never null; a static string. */
const char* huddle_status_text(huddle_status status);

/** The version of the library that is loaded, as "major.minor.patch"; a static string. */
const char* huddle_version(void);

/** Why a call failed, in one sentence; "" where it did not. Null where nobody will read it. */
typedef struct huddle_message {
  char text[512];
} huddle_message;

/* ---- context ----------------------------------------------------------------------------- */

typedef struct huddle_context huddle_context;

/** Fill it with zeros, set `size`, then what should not have its default: whatever is zero has.
 *      huddle_settings settings = {0};
 *      settings.size = sizeof settings; */
typedef struct huddle_settings {
  /** sizeof(huddle_settings): tells the library which fields its caller knows. */
  size_t size;
  /** The machine file to decide by. Null: HUDDLE_MACHINE, the configuration files, the file that
   *  `huddle calibrate` left for this kind of machine, else documented generic figures. */
  const char* machine_file;
  /** The most memory that this process shares with its peers, taken as it is needed. 0: 1 GiB. */
  size_t cap_bytes;
  /** What a rank gives to each algorithm that moves much; rank 0's counts. 0: 1 MiB. At most 1 GiB,
   *  and not over cap_bytes. */
  size_t queue_bytes;
  /** Called about once a microsecond by whoever waits for others; null: nobody is. */
  void (*progress)(void* arg);
  void* progress_arg;
  /** The most that huddle_alloc() gives out at a time, all blocks together; costs addresses, not
   *  memory. 0: as much as the machine has memory. */
  size_t heap_bytes;
} huddle_settings;

/** settings: null for the defaults. Reads the machine file; shares no memory yet with anybody. */
huddle_status huddle_context_create(const huddle_settings* settings, huddle_context** context,
                                    huddle_message* message);
/** Its teams may go on: what they need of it stays until they are freed. Null is fine. */
void huddle_context_free(huddle_context* context);

/** A block of memory that the process's peers can map: collectives read, and reduce, large data
 * that lie in such blocks on all ranks straight where they are. Aligned for any type, and to its
 * own cache lines; placed on the NUMA node of the thread that touches it first; what it holds is
 * not said. A child of fork() does not have it. `block` is null where this fails. */
huddle_status huddle_alloc(huddle_context* context, size_t bytes, void** block,
                           huddle_message* message);
/** Gives a block back, as long as the context is there; no collective may still be at it. What is
 *  left goes when the context and the last of its teams have. Null is fine. */
void huddle_free(huddle_context* context, void* block);

/* ---- meeting ----------------------------------------------------------------------------- */

/** Gives every rank everybody's bytes, in rank order: rank r's at all + r * bytes. Returns 0, or
 *  anything else where it failed. */
typedef int (*huddle_gather_function)(void* arg, const void* mine, size_t bytes, void* all);

/** What a team is made from: one's own (over MPI, PMIx, sockets, ...), or that of a meeting. It is
 *  called a few times while a team is made, and never after. */
typedef struct huddle_bootstrap {
  int rank;
  int ranks;
  huddle_gather_function allgather;
  void* arg;
} huddle_bootstrap;

typedef struct huddle_meeting huddle_meeting;

/** For processes that one process forks: made before the forks. The process that forks frees it
 *  after them; as long as it does not, it passes for a rank that is still to come. */
huddle_status huddle_meeting_before_fork(int ranks, huddle_meeting** meeting,
                                         huddle_message* message);
/** Each child then takes its place, once. */
huddle_status huddle_meeting_take_place(huddle_meeting* meeting, int rank, huddle_message* message);

/** For processes of one user that were started apart, and for threads: all name the same path. It
 *  is a name only: nothing is made there, nothing stays behind. Waits for all of them, so many
 *  milliseconds at most. Collective. */
huddle_status huddle_meeting_at_path(const char* path, int rank, int ranks, int timeout_ms,
                                     huddle_meeting** meeting, huddle_message* message);

/** What a team is made from; good as long as the meeting, for any number of teams, one after the
 *  other. Of a meeting where this process has not taken its place: one that makes no team. */
huddle_bootstrap huddle_meeting_bootstrap(huddle_meeting* meeting);

/** Once the teams are made; they do not need it. Null is fine. */
void huddle_meeting_free(huddle_meeting* meeting);

/* ---- team -------------------------------------------------------------------------------- */

typedef struct huddle_team huddle_team;

/** Collective. All ranks get a team, or all get the same failure: where they have different builds
 * of this library, run on different machines or as different users, too. (A null argument, or a
 * rank that is none, is seen before anybody is asked: only that rank is told.) */
huddle_status huddle_team_create(huddle_context* context, const huddle_bootstrap* bootstrap,
                                 huddle_team** team, huddle_message* message);
/** Waits for nobody: others may still be in the team's last collective. Null is fine. */
void huddle_team_free(huddle_team* team);

/** This rank, and how many there are; -1 and 0 of null. */
int huddle_team_rank(const huddle_team* team);
int huddle_team_ranks(const huddle_team* team);

/** Why the last call on this team that failed did, in a sentence; "" where none has. Never null;
 *  good until the next call on the team. */
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
  HUDDLE_FLOAT_INT, /**< struct { float value; int where; }, and so on: for the locations */
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

/** The bytes of an element; 0 where there is no such type. */
size_t huddle_type_bytes(huddle_type type);

/** An operator of one's own: result[i] = left[i] op right[i]. It has to be associative; it need not
 *  be commutative: contributions are joined in rank order. `result` may be `left` or `right`. */
typedef struct huddle_reduction {
  size_t element_bytes;
  void (*combine)(void* result, const void* left, const void* right, size_t count, void* arg);
  void* arg;
} huddle_reduction;

/** All collective. HUDDLE_FAILED, for want of memory at a call that is the first of its kind, is on
 *  all ranks alike, and the team stays usable. HUDDLE_PEER_LOST is not: a rank that had its part
 *  already has HUDDLE_OK, and learns from its next call. HUDDLE_MISUSED is seen before anybody is
 *  asked, but for blocks of which only two ranks know the size. Where there is nothing to move
 *  buffers may be null, and nobody waits for anybody. */

/** Nobody returns before all have called. */
huddle_status huddle_barrier(huddle_team* team);
/** The root's buffer is only read. */
huddle_status huddle_bcast(huddle_team* team, void* buffer, size_t bytes, int root);

/** `count` elements a rank. `input` may be `output`; they do not overlap otherwise. Only the root's
 *  output is written; elsewhere it may be null.
 *
 *  Every type has sum and product but the pairs and HUDDLE_BOOL; min and max are for real numbers,
 *  logical operators for integers and HUDDLE_BOOL, bitwise ones for integers, locations for pairs.
 *  The bits of a result depend on the operation, the type, the count and the team (its size, and
 *  where its ranks sit), on nothing else: every algorithm joins in the same order. */
huddle_status huddle_reduce(huddle_team* team, const void* input, void* output, size_t count,
                            huddle_type type, huddle_operator op, int root);
huddle_status huddle_allreduce(huddle_team* team, const void* input, void* output, size_t count,
                               huddle_type type, huddle_operator op);
/** The same by an operator of one's own. */
huddle_status huddle_reduce_by(huddle_team* team, const void* input, void* output, size_t count,
                               const huddle_reduction* reduction, int root);
huddle_status huddle_allreduce_by(huddle_team* team, const void* input, void* output, size_t count,
                                  const huddle_reduction* reduction);

/** Where a block lies in its buffer: so many bytes, so far from the beginning. */
typedef struct huddle_block {
  ptrdiff_t offset;
  size_t bytes;
} huddle_block;

/** A block from each rank for all, in rank order. `input` may be this rank's own block of
 *  `output`. */
huddle_status huddle_allgather(huddle_team* team, const void* input, void* output, size_t bytes);
/** With blocks of any sizes anywhere in the output: as many as ranks, of equal sizes on all. */
huddle_status huddle_allgatherv(huddle_team* team, const void* input, void* output,
                                const huddle_block* blocks);
/** A block from each rank for each, in rank order. `input` may be `output`, on all ranks or on
 *  none. */
huddle_status huddle_alltoall(huddle_team* team, const void* input, void* output, size_t bytes);
/** With blocks of any sizes: the two of a pair have to agree, here as in huddle_gatherv and
 *  huddle_scatterv. In place, that is where `input` is `output`, on all ranks or on none, what
 *  comes from a rank takes the place of what goes there: both have one size.
 *
 *  Whoever gets a larger or a smaller block than it says has HUDDLE_MISUSED and nothing of that
 *  block; all other blocks come, on all ranks, and the team stays usable. Not seen are sizes that
 *  differ by a multiple of 4 GiB, and that only one of the two says that there is nothing to move:
 *  then the other may wait for ever, or what it sent is taken for the block of a later call. */
huddle_status huddle_alltoallv(huddle_team* team, const void* input, const huddle_block* outgoing,
                               void* output, const huddle_block* incoming);
/** A block from each rank for the root, in rank order; only the root's output and blocks are looked
 *  at. There `input` may be its own block of `output`. */
huddle_status huddle_gather(huddle_team* team, const void* input, void* output, size_t bytes,
                            int root);
huddle_status huddle_gatherv(huddle_team* team, const void* input, size_t bytes, void* output,
                             const huddle_block* blocks, int root);
/** A block from the root for each rank, in rank order; only the root's input and blocks are looked
 *  at. There `output` may be its own block of `input`. */
huddle_status huddle_scatter(huddle_team* team, const void* input, void* output, size_t bytes,
                             int root);
huddle_status huddle_scatterv(huddle_team* team, const void* input, const huddle_block* blocks,
                              void* output, size_t bytes, int root);

/** Each rank gets its block of what all contribute: `count` elements, or counts[rank] of them; the
 *  input holds all blocks in rank order. `input` may be `output`. */
huddle_status huddle_reduce_scatter_block(huddle_team* team, const void* input, void* output,
                                          size_t count, huddle_type type, huddle_operator op);
huddle_status huddle_reduce_scatter(huddle_team* team, const void* input, void* output,
                                    const size_t* counts, huddle_type type, huddle_operator op);
huddle_status huddle_reduce_scatter_by(huddle_team* team, const void* input, void* output,
                                       const size_t* counts, const huddle_reduction* reduction);

/** What all ranks up to this one contribute (scan), or all before it (exscan: rank 0's output is
 *  left alone), joined in rank order. `input` may be `output`. */
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
  HUDDLE_ALLTOALLW, /**< as HUDDLE_ALLTOALLV: for those who speak MPI */
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

/** What would run for a call with `count` elements of so many bytes, what else could, and what each
 *  is predicted to cost. The elements are all that a rank has in a reduction, else those of one
 *  block; where nothing is reduced they are bytes, of 1; a barrier ignores both. Not
 *  collective. Writes `capacity` bytes at most, the closing 0 included; `needed`, where not null,
 *  gets how many the whole takes. HUDDLE_OK also where it was cut. */
huddle_status huddle_explain(huddle_team* team, huddle_operation operation, size_t count,
                             size_t element_bytes, huddle_format format, char* buffer,
                             size_t capacity, size_t* needed);

#undef HUDDLE_AS_INT

#ifdef __cplusplus
}
#endif

#endif
