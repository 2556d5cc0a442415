/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * progress (isend|iallreduce|messages|rma) SECONDS RANK OPERATION...: rank RANK waits in a
 * collective of huddle for the last rank, which arrives only after RANK's MPI has made progress.
 * Prints "stuck" for operations that have not completed within SECONDS.
 * progress late SECONDS RANK OPERATION...: rank RANK arrives last at each call, so that it never
 * waits. Prints "stuck" if it does not receive a message during many calls.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"

enum { large = 1 << 20, tag = 7 };

/* A message that is too large to be sent before its receiver is ready. */
static int* sent;
static int* received;
static double deadline_seconds;
static int waiting;

/* Calls a collective in which the rank `waiting` waits for the last rank. */
static void huddle_call(const char* operation, MPI_Comm comm) {
  int mine = rank_in(comm);
  int all = -1;
  const int last = size_of(comm) - 1;
  if (strcmp(operation, "barrier") == 0) {
    MPI_Barrier(comm);
  } else if (strcmp(operation, "bcast") == 0) {
    MPI_Bcast(&mine, 1, MPI_INT, last, comm);
    expect(mine == last, "bcast gives %d, not %d", mine, last);
  } else if (strcmp(operation, "reduce") == 0) {
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, waiting, comm);
  } else {
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(all == last * (last + 1) / 2, "allreduce gives %d", all);
  }
}

/* Returns whether the request completes while the other ranks wait. */
static int ends_in_time(MPI_Request* request) {
  const double end = seconds_now() + deadline_seconds;
  int done = 0;
  while (!done && seconds_now() < end) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  return done;
}

static void say_stuck(const char* what, const char* operation) {
  printf("stuck: %s under %s\n", what, operation);
  fflush(stdout);
}

/* Reads the buffer of a pending receive, because MPI_Test would make progress itself. */
static int has_arrived(int value) { return *(volatile int*)received == value; }

/* Returns memory that all ranks share, in a file of the current folder. */
static volatile int* shared_words(void) {
  enum { bytes = 4096 };
  const int file = open("progress.words", O_CREAT | O_RDWR, 0600);
  void* words = MAP_FAILED;
  if (file >= 0 && ftruncate(file, bytes) == 0) {
    words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (words == MAP_FAILED) {
    perror("progress.words");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  close(file);
  return words;
}

/* Rank `waiting` begins each call after all other ranks have begun it, which they announce in
 * shared memory. An eager message needs one or two polls. */
static void try_late(const char* operation, MPI_Comm comm) {
  enum { calls = 1000, value = 4711 };
  const int ranks = size_of(MPI_COMM_WORLD);
  const int last = ranks - 1;
  const int rank = rank_in(MPI_COMM_WORLD);
  const double late_seconds = 50e-6;
  volatile int* const begun = shared_words();
  begun[rank] = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  *received = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == waiting) {
    MPI_Irecv(received, 1, MPI_INT, last, tag, MPI_COMM_WORLD, &request);
  }
  for (int call = 1; call <= calls; ++call) {
    if (rank == last && call == calls / 10) {
      const int message = value;
      MPI_Send(&message, 1, MPI_INT, waiting, tag, MPI_COMM_WORLD);
    }
    begun[rank] = call;
    for (int other = 0; rank == waiting && other < ranks; ++other) {
      while (begun[other] < call) sched_yield();
    }
    const double end = seconds_now() + late_seconds;
    while (rank == waiting && seconds_now() < end) continue;
    huddle_call(operation, comm);
  }
  if (rank == waiting && !has_arrived(value)) say_stuck("late", operation);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int is_asked(const char* which, const char* asked) {
  const int is_message = strcmp(which, "rma") != 0 && strcmp(which, "late") != 0;
  return strcmp(asked, which) == 0 || (is_message && strcmp(asked, "messages") == 0);
}

static void try_isend(const char* operation, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int last = size_of(MPI_COMM_WORLD) - 1;
  const int rank = rank_in(MPI_COMM_WORLD);
  if (rank == waiting) MPI_Isend(sent, large, MPI_INT, last, tag, MPI_COMM_WORLD, &request);
  if (rank == last) {
    MPI_Irecv(received, large, MPI_INT, waiting, tag, MPI_COMM_WORLD, &request);
    if (!ends_in_time(&request)) say_stuck("isend", operation);
  }
  huddle_call(operation, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == last) {
    expect(memcmp(sent, received, large * sizeof *sent) == 0, "a message came with other data");
  }
}

static void try_iallreduce(const char* operation, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int last = size_of(MPI_COMM_WORLD) - 1;
  MPI_Iallreduce(sent, received, large, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank_in(MPI_COMM_WORLD) == last && !ends_in_time(&request)) {
    say_stuck("iallreduce", operation);
  }
  huddle_call(operation, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(received[large - 1] == (last + 1) * sent[large - 1], "iallreduce gives %d",
         received[large - 1]);
}

/* One-sided operations cannot be tested for completion, so a signal ends the job. */
static void try_rma(const char* operation, MPI_Comm comm, MPI_Win window) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int last = size_of(MPI_COMM_WORLD) - 1;
  if (rank == last) {
    static char word[64];
    snprintf(word, sizeof word, "stuck: rma under %s\n", operation);
    give_up_after((unsigned)deadline_seconds, word);
    int more = 5;
    int seen = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, waiting, 0, window);
    MPI_Accumulate(&more, 1, MPI_INT, waiting, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(waiting, window);
    MPI_Win_lock(MPI_LOCK_SHARED, waiting, 0, window);
    MPI_Get(&seen, 1, MPI_INT, waiting, 0, 1, MPI_INT, window);
    MPI_Win_unlock(waiting, window);
    give_up_after(0, "");
    expect(seen % 5 == 0 && seen > 0, "get sees %d", seen);
  }
  huddle_call(operation, comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* what = argv[1];
  deadline_seconds = atof(argv[2]);
  waiting = atoi(argv[3]);
  sent = room_for(large * sizeof *sent);
  received = room_for(large * sizeof *received);
  for (int i = 0; i < large; ++i) sent[i] = i % 1000;
  /* Static, because Debian's MPICH reads a wrong number from the stack on some machines, even
   * without huddle. */
  static int exposed = 0;
  MPI_Win window = MPI_WIN_NULL;
  if (is_asked("rma", what)) {
    MPI_Win_create(&exposed, sizeof exposed, sizeof exposed, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
  }
  /* Ranks wait for each other on another communicator than the pending operation's. */
  MPI_Comm aside;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank_in(MPI_COMM_WORLD), &aside);
  for (int i = 4; i < argc; ++i) {
    /* Completes the set-up of first calls. */
    huddle_call(argv[i], aside);
    huddle_call(argv[i], aside);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_asked("isend", what)) try_isend(argv[i], aside);
    if (is_asked("iallreduce", what)) try_iallreduce(argv[i], aside);
    if (is_asked("rma", what)) try_rma(argv[i], aside, window);
    if (is_asked("late", what)) try_late(argv[i], aside);
  }
  MPI_Comm_free(&aside);
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  MPI_Finalize();
  return verdict();
}
