/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/**
 * The C interface of huddle: collectives for any group of processes, or threads, on one machine.
 *
 *     context    what a process has: a machine model, memory to share
 *     team       a group of ranks that call collectives together
 *     meeting    a way for ranks to find each other, where nothing else has brought them together
 *
 * Every call returns a status. Calls marked "collective" are made by all ranks of a team, in the
 * same order, with equal counts, types, operators and roots. Nothing here starts threads, prints,
 * or keeps anything outside the handles. A context may be used by several threads at once, a team
 * by one thread at a time.
 */
#ifndef HUDDLE_HUDDLE_H
#define HUDDLE_HUDDLE_H

#include <stddef.h>

#define HUDDLE_VERSION_MAJOR 0
#define HUDDLE_VERSION_MINOR 1
#define HUDDLE_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. Zero is success; the values never change their meaning. */
typedef enum huddle_status {
  HUDDLE_OK = 0,
  HUDDLE_FAILED = 1,    /**< the operation did not succeed: memory, a limit, the machine */
  HUDDLE_MISUSED = 2,   /**< the call itself is wrong: an argument out of range, a null handle */
  HUDDLE_BAD_INPUT = 3, /**< something read from outside is damaged: a file, a setting */
  HUDDLE_PEER_LOST = 4, /**< a rank of the team has died; the team cannot be used any more */
} huddle_status;

/** A word for a status, never null; a static string. */
const char* huddle_status_text(huddle_status status);

/** The version of the library that is loaded, as "major.minor.patch"; a static string. */
const char* huddle_version(void);

/** What went wrong, in a sentence. Filled in where a call that takes one fails. */
typedef struct huddle_message {
  char text[512];
} huddle_message;

/* ---- context ----------------------------------------------------------------------------------
 */

typedef struct huddle_context huddle_context;

typedef struct huddle_settings {
  /** sizeof(huddle_settings) of the caller; huddle_settings_default fills it in. */
  size_t size;
  /** The machine file to decide by. Null: HUDDLE_MACHINE, the configuration files, the file that
   *  `huddle calibrate` left for this kind of machine, else documented generic figures. */
  const char* machine_file;
  /** The most memory that this process shares with its peers. It is taken as it is needed. */
  size_t cap_bytes;
  /** What a rank gives to each algorithm that moves much; rank 0's counts. */
  size_t queue_bytes;
  /** Called about once a microsecond by whoever waits for others; null: nobody. */
  void (*progress)(void* arg);
  void* progress_arg;
} huddle_settings;

void huddle_settings_default(huddle_settings* settings);

/** settings: null for the defaults. message: null where nobody will read it. */
huddle_status huddle_context_create(const huddle_settings* settings, huddle_context** context,
                                    huddle_message* message);
/** After its teams. Null is fine. */
void huddle_context_free(huddle_context* context);

/* ---- meeting ----------------------------------------------------------------------------------
 */

/** Gives every rank everybody's bytes, in rank order. Returns 0, or anything else where it failed.
 */
typedef int (*huddle_allgather)(void* arg, const void* mine, size_t bytes, void* all);

typedef struct huddle_bootstrap {
  int rank;
  int ranks;
  huddle_allgather allgather;
  void* arg;
} huddle_bootstrap;

typedef struct huddle_meeting huddle_meeting;

/** For processes that one process forks: made before the forks; each child then takes its place.
 * The process that forks frees the meeting, too. */
huddle_status huddle_meeting_before_fork(int ranks, huddle_meeting** meeting,
                                         huddle_message* message);
huddle_status huddle_meeting_take_place(huddle_meeting* meeting, int rank, huddle_message* message);

/** For processes started apart, by one user: all name the same path. Nothing is made there. Waits
 *  for all of them, so many milliseconds at most. Collective. */
huddle_status huddle_meeting_at_path(const char* path, int rank, int ranks, int timeout_ms,
                                     huddle_meeting** meeting, huddle_message* message);
/** What a team is made from. */
huddle_bootstrap huddle_meeting_bootstrap(huddle_meeting* meeting);
/** Once the team is made. Null is fine. */
void huddle_meeting_free(huddle_meeting* meeting);

/* ---- team -------------------------------------------------------------------------------------
 */

typedef struct huddle_team huddle_team;

/** Collective. All ranks get a team, or all get the same failure. */
huddle_status huddle_team_create(huddle_context* context, const huddle_bootstrap* bootstrap,
                                 huddle_team** team, huddle_message* message);
/** Waits for nobody: others may still be in the team's last collective. Null is fine. */
void huddle_team_free(huddle_team* team);

int huddle_team_rank(const huddle_team* team);
int huddle_team_ranks(const huddle_team* team);
/** Why the last collective of this rank did not succeed; "" where none has failed. */
const char* huddle_team_message(const huddle_team* team);

/* ---- collectives ------------------------------------------------------------------------------
 */

typedef enum huddle_type {
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

typedef enum huddle_operator {
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

/** An operator of one's own: result[i] = left[i] op right[i]. It has to be associative; it need not
 *  be commutative: ranks are joined in rank order. `result` may be `left` or `right`. */
typedef struct huddle_reduction {
  size_t element_bytes;
  void (*combine)(void* result, const void* left, const void* right, size_t count, void* arg);
  void* arg;
} huddle_reduction;

/** All collective. A floating-point result depends on the operation, the type, the count and the
 *  team, on nothing else: every algorithm joins in the same order. */
huddle_status huddle_barrier(huddle_team* team);
huddle_status huddle_bcast(huddle_team* team, void* buffer, size_t bytes, int root);
/** input may be output. Only the root's output is written; elsewhere it may be null. */
huddle_status huddle_reduce(huddle_team* team, const void* input, void* output, size_t count,
                            huddle_type type, huddle_operator op, int root);
huddle_status huddle_allreduce(huddle_team* team, const void* input, void* output, size_t count,
                               huddle_type type, huddle_operator op);
huddle_status huddle_reduce_by(huddle_team* team, const void* input, void* output, size_t count,
                               const huddle_reduction* reduction, int root);
huddle_status huddle_allreduce_by(huddle_team* team, const void* input, void* output, size_t count,
                                  const huddle_reduction* reduction);

/* ---- explanations -----------------------------------------------------------------------------
 */

typedef enum huddle_operation {
  HUDDLE_BARRIER,
  HUDDLE_BCAST,
  HUDDLE_REDUCE,
  HUDDLE_ALLREDUCE,
} huddle_operation;

typedef enum huddle_format {
  HUDDLE_TEXT,
  HUDDLE_JSON, /**< one object, "schema": 1 */
} huddle_format;

/** What would run for so many bytes on each rank, what else could, and what each is predicted to
 *  cost. Not collective. Writes at most `capacity` bytes, the closing 0 included; `needed`, where
 * not null, gets how many the whole takes. HUDDLE_OK also where it was cut. */
huddle_status huddle_explain(const huddle_team* team, huddle_operation operation, size_t bytes,
                             huddle_format format, char* buffer, size_t capacity, size_t* needed);

#ifdef __cplusplus
}
#endif

#endif
