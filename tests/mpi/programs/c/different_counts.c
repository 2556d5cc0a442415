/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * different_counts FILE OPERATION ROOT_BYTES OTHER_BYTES CALLS ERRORS: an erroneous program that
 * calls a collective CALLS times with a different count on rank 0 than on the other ranks. Each
 * rank appends one line to FILE about the first call that returns an error, or about the last call:
 *   rank R: success | truncated | another error, after N calls, at S s
 * and waits until all ranks have done so, because a launcher may end the others when a rank ends
 * without MPI_Finalize. ERRORS is "stop" (at the first error), "ignore", or "fatal", which keeps
 * the default error handler and thus ends the job.
 *
 * Each buffer ends at an inaccessible page, so that no rank reads or writes beyond it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

enum { page = 4096, first_byte = 'a', untouched = 'x' };
static const struct timespec a_millisecond = {.tv_sec = 0, .tv_nsec = 1000000};

static char* guarded(size_t bytes) {
  const size_t pages = (bytes + page - 1) / page * page;
  char* start =
      mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(start + pages, page, PROT_NONE);
  memset(start, untouched, pages);
  return start + pages - bytes;
}

struct call {
  const char* operation;
  int bytes;
  char* send;
  char* receive;
};

/* The operations whose send or receive buffer has a block for each rank. */
static const char* const sending_blocks[] = {"scatter", "alltoall", NULL};
static const char* const receiving_blocks[] = {"allgather", "gather", "alltoall", NULL};

static int is_among(const char* operation, const char* const* operations) {
  while (*operations != NULL && strcmp(operation, *operations) != 0) ++operations;
  return *operations != NULL;
}

static int make(const struct call* call) {
  const int is_root = rank_in(MPI_COMM_WORLD) == 0;
  if (strcmp(call->operation, "bcast") == 0) {
    memset(call->receive, is_root ? first_byte : untouched, (size_t)call->bytes);
    return MPI_Bcast(call->receive, call->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  if (strcmp(call->operation, "allreduce") == 0) {
    return MPI_Allreduce(call->send, call->receive, call->bytes / 4, MPI_INT, MPI_MAX,
                         MPI_COMM_WORLD);
  }
  if (strcmp(call->operation, "reduce") == 0) {
    return MPI_Reduce(call->send, call->receive, call->bytes / 4, MPI_INT, MPI_MAX, 0,
                      MPI_COMM_WORLD);
  }
  if (strcmp(call->operation, "allgather") == 0) {
    return MPI_Allgather(call->send, call->bytes, MPI_BYTE, call->receive, call->bytes, MPI_BYTE,
                         MPI_COMM_WORLD);
  }
  if (strcmp(call->operation, "gather") == 0) {
    return MPI_Gather(call->send, call->bytes, MPI_BYTE, call->receive, call->bytes, MPI_BYTE, 0,
                      MPI_COMM_WORLD);
  }
  if (strcmp(call->operation, "scatter") == 0) {
    return MPI_Scatter(call->send, call->bytes, MPI_BYTE, call->receive, call->bytes, MPI_BYTE, 0,
                       MPI_COMM_WORLD);
  }
  if (strcmp(call->operation, "alltoall") == 0) {
    return MPI_Alltoall(call->send, call->bytes, MPI_BYTE, call->receive, call->bytes, MPI_BYTE,
                        MPI_COMM_WORLD);
  }
  fprintf(stderr, "different_counts: what is %s?\n", call->operation);
  exit(2);
}

/* After a call without an error, the bytes within both counts must be right. */
static void expect_data(const struct call* call, int least_bytes) {
  if (strcmp(call->operation, "bcast") != 0) return;
  for (int i = 0; i < least_bytes; ++i) {
    expect(call->receive[i] == first_byte, "byte %d of a bcast without an error is wrong", i);
  }
}

static const char* name_of(int status) {
  int class = MPI_SUCCESS;
  if (status != MPI_SUCCESS) MPI_Error_class(status, &class);
  if (class == MPI_SUCCESS) return "success";
  return class == MPI_ERR_TRUNCATE ? "truncated" : "another error";
}

enum { line_bytes = 64 };

/* Writes each line at once, so that the ranks' lines do not mix. Calls the MPI meanwhile, as
 * programs do that continue: it may have to connect to ranks that report an error. */
static void tell_and_wait(const char* file, int ranks, const char* line) {
  char padded[line_bytes + 1];
  snprintf(padded, sizeof padded, "%-*s\n", line_bytes - 1, line);
  const int descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(descriptor, padded, line_bytes) != line_bytes) exit(3);
  struct stat known;
  while (fstat(descriptor, &known) == 0 && known.st_size < (off_t)ranks * line_bytes) {
    int has_arrived = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &has_arrived, MPI_STATUS_IGNORE);
    nanosleep(&a_millisecond, NULL);
  }
  close(descriptor);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 7) return 2;
  give_up_after(60, "a collective call whose counts differ");
  if (strcmp(argv[6], "fatal") != 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int root_bytes = atoi(argv[3]);
  const int other_bytes = atoi(argv[4]);
  const int calls = atoi(argv[5]);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  struct call call = {argv[2], rank == 0 ? root_bytes : other_bytes, NULL, NULL};
  call.send =
      guarded((size_t)(call.bytes * (is_among(call.operation, sending_blocks) ? ranks : 1)));
  call.receive =
      guarded((size_t)(call.bytes * (is_among(call.operation, receiving_blocks) ? ranks : 1)));
  const int ignores = strcmp(argv[6], "ignore") == 0;
  int status = MPI_SUCCESS;
  int told = 0;
  for (int made = 0; made < calls && (ignores || status == MPI_SUCCESS); ++made) {
    const int this_status = make(&call);
    if (this_status == MPI_SUCCESS) {
      expect_data(&call, root_bytes < other_bytes ? root_bytes : other_bytes);
      nanosleep(&a_millisecond, NULL); /* so that a root that only sends does not send too much */
    }
    if (status != MPI_SUCCESS) continue;
    status = this_status;
    told = made + 1;
  }
  char line[line_bytes];
  snprintf(line, sizeof line, "rank %d: %s, after %d calls, at %.3f s", rank, name_of(status), told,
           seconds_now());
  tell_and_wait(argv[1], ranks, line);
  /* After an error, an MPI may wait in MPI_Finalize for messages that no rank sends. */
  if (status != MPI_SUCCESS) _exit(verdict());
  MPI_Finalize();
  return verdict();
}
