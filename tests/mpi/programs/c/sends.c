/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * sends FOLDER: sends messages in every mode of MPI and records them: the file FOLDER/RANK gets a
 * line "KIND PHASE FROM TO BYTES" per message, with ranks in MPI_COMM_WORLD. Requires an even
 * number of ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* Open MPI 5 has these although it claims an older version than MPI 4. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PARTS_AND_ISENDRECV 1
#endif

enum { most = 4096 };
static char out[most];
static char in[most];
static FILE* book;
static int world_rank;
static int phase = 1;

static void note_from(char kind, int from, int to, long bytes) {
  if (phase != 0) fprintf(book, "%c %d %d %d %ld\n", kind, phase, from, to, bytes);
}
static void note(char kind, int to, long bytes) { note_from(kind, world_rank, to, bytes); }

/* Neighbors on a ring: ranks in the communicator, and the rank of `right` in the world. */
struct ring {
  MPI_Comm comm;
  int left, right, right_in_world;
};

static struct ring ring_of(MPI_Comm comm) {
  struct ring ring = {.comm = comm};
  const int rank = rank_in(comm), size = size_of(comm);
  ring.left = (rank + size - 1) % size;
  ring.right = (rank + 1) % size;
  MPI_Sendrecv(&world_rank, 1, MPI_INT, ring.left, 9, &ring.right_in_world, 1, MPI_INT, ring.right,
               9, comm, MPI_STATUS_IGNORE);
  int left_in_world;
  MPI_Sendrecv(&world_rank, 1, MPI_INT, ring.right, 9, &left_in_world, 1, MPI_INT, ring.left, 9,
               comm, MPI_STATUS_IGNORE);
  note('p', left_in_world, sizeof(int));
  note('p', ring.right_in_world, sizeof(int));
  return ring;
}

typedef int send_function(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_function(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void blocking(struct ring ring, send_function* send, int bytes) {
  MPI_Request request;
  MPI_Irecv(in, most, MPI_BYTE, ring.left, 1, ring.comm, &request);
  MPI_Barrier(ring.comm); /* a ready send requires a posted receive */
  send(out, bytes, MPI_BYTE, ring.right, 1, ring.comm);
  note('p', ring.right_in_world, bytes);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void nonblocking(struct ring ring, isend_function* send, int doubles) {
  MPI_Request requests[2];
  MPI_Irecv(in, most, MPI_BYTE, ring.left, 2, ring.comm, &requests[0]);
  MPI_Barrier(ring.comm);
  send(out, doubles, MPI_DOUBLE, ring.right, 2, ring.comm, &requests[1]);
  note('p', ring.right_in_world, 8L * doubles);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Starts the requests three times, once with MPI_Start and twice with MPI_Startall. */
static void persistent(struct ring ring, isend_function* init, int ints) {
  MPI_Request requests[2];
  MPI_Recv_init(in, most, MPI_BYTE, ring.left, 3, ring.comm, &requests[0]);
  init(out, ints, MPI_INT, ring.right, 3, ring.comm, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    if (i == 0) {
      MPI_Start(&requests[0]);
      MPI_Barrier(ring.comm);
      MPI_Start(&requests[1]);
    } else {
      MPI_Startall(1, &requests[0]);
      MPI_Barrier(ring.comm);
      MPI_Startall(1, &requests[1]);
    }
    note('p', ring.right_in_world, 4L * ints);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void both_ways(struct ring ring) {
  MPI_Datatype pairs; /* derived, and freed: the next type may get its handle */
  MPI_Type_vector(3, 2, 4, MPI_SHORT, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Sendrecv(out, 2, pairs, ring.right, 4, in, most, MPI_BYTE, ring.left, 4, ring.comm,
               MPI_STATUS_IGNORE);
  note('p', ring.right_in_world, 2L * 3 * 2 * 2);
  MPI_Type_free(&pairs);
  MPI_Type_contiguous(7, MPI_CHAR, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Sendrecv_replace(out, 3, pairs, ring.right, 5, ring.left, 5, ring.comm, MPI_STATUS_IGNORE);
  note('p', ring.right_in_world, 3L * 7);
  MPI_Type_free(&pairs);
  /* A send to no process. */
  MPI_Send(out, 100, MPI_BYTE, MPI_PROC_NULL, 6, ring.comm);
#ifdef HAS_PARTS_AND_ISENDRECV
  MPI_Request request;
  MPI_Isendrecv(out, 9, MPI_BYTE, ring.right, 6, in, most, MPI_BYTE, ring.left, 6, ring.comm,
                &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note('p', ring.right_in_world, 9);
  MPI_Isendrecv_replace(out, 10, MPI_BYTE, ring.right, 7, ring.left, 7, ring.comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note('p', ring.right_in_world, 10);
#endif
}

static void in_parts(struct ring ring) {
#ifdef HAS_PARTS_AND_ISENDRECV
  enum { parts = 4, bytes = 25 };
  MPI_Request requests[2];
  MPI_Psend_init(out, parts, bytes, MPI_BYTE, ring.right, 8, ring.comm, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(in, parts, bytes, MPI_BYTE, ring.left, 8, ring.comm, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  for (int part = 0; part < parts; ++part) MPI_Pready(part, requests[0]);
  note('p', ring.right_in_world, parts * bytes);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#else
  (void)ring;
#endif
}

static void large_counts(struct ring ring) {
#if MPI_VERSION >= 4
  MPI_Request request;
  MPI_Irecv(in, most, MPI_BYTE, ring.left, 10, ring.comm, &request);
  MPI_Send_c(out, (MPI_Count)33, MPI_BYTE, ring.right, 10, ring.comm);
  note('p', ring.right_in_world, 33);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isend_c(out, (MPI_Count)34, MPI_BYTE, ring.right, 11, ring.comm, &request);
  MPI_Recv(in, most, MPI_BYTE, ring.left, 11, ring.comm, MPI_STATUS_IGNORE);
  note('p', ring.right_in_world, 34);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
  (void)ring;
#endif
}

static void all_modes(struct ring ring) {
  static char buffer[8 * most];
  MPI_Buffer_attach(buffer, sizeof buffer);
  blocking(ring, MPI_Send, 101);
  blocking(ring, MPI_Bsend, 102);
  blocking(ring, MPI_Ssend, 103);
  blocking(ring, MPI_Rsend, 104);
  nonblocking(ring, MPI_Isend, 11);
  nonblocking(ring, MPI_Ibsend, 12);
  nonblocking(ring, MPI_Issend, 13);
  nonblocking(ring, MPI_Irsend, 14);
  persistent(ring, MPI_Send_init, 21);
  persistent(ring, MPI_Bsend_init, 22);
  persistent(ring, MPI_Ssend_init, 23);
  persistent(ring, MPI_Rsend_init, 24);
  both_ways(ring);
  in_parts(ring);
  large_counts(ring);
  void* back;
  int bytes;
  MPI_Buffer_detach(&back, &bytes);
}

/* Each rank sends to the rank with the same number in the other half. */
static void between_groups(void) {
  const int half = size_of(MPI_COMM_WORLD) / 2;
  const int is_upper = world_rank >= half;
  MPI_Comm own, inter;
  MPI_Comm_split(MPI_COMM_WORLD, is_upper, 0, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_upper ? 0 : half, 12, &inter);
  const int other = rank_in(own);
  MPI_Sendrecv(out, 77, MPI_BYTE, other, 13, in, most, MPI_BYTE, other, 13, inter,
               MPI_STATUS_IGNORE);
  note('p', is_upper ? other : half + other, 77);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&own);
}

/* The window's group is the world in reverse order. */
static void one_sided(MPI_Comm backwards) {
  static long memory[64];
  const int ranks = size_of(backwards);
  const int target = (rank_in(backwards) + 1) % ranks;
  const int there = ranks - 1 - target; /* rank in the world */
  long own[8] = {1}, back[8];
  MPI_Win window;
  MPI_Request request;
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, backwards, &window);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
  MPI_Put(own, 3, MPI_LONG, target, 0, 3, MPI_LONG, window);
  note('o', there, 24);
  MPI_Get(back, 4, MPI_LONG, target, 8, 4, MPI_LONG, window);
  note_from('o', there, world_rank, 32);
  MPI_Accumulate(own, 1, MPI_LONG, target, 16, 1, MPI_LONG, MPI_SUM, window);
  note('o', there, 8);
  MPI_Rput(own, 2, MPI_LONG, target, 24, 2, MPI_LONG, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note('o', there, 16);
  MPI_Rget(back, 5, MPI_LONG, target, 32, 5, MPI_LONG, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note_from('o', there, world_rank, 40);
  MPI_Raccumulate(own, 2, MPI_LONG, target, 16, 2, MPI_LONG, MPI_SUM, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  note('o', there, 16);
  MPI_Get_accumulate(own, 3, MPI_LONG, back, 3, MPI_LONG, target, 40, 3, MPI_LONG, MPI_SUM, window);
  note('o', there, 24);
  note_from('o', there, world_rank, 24);
  /* An operation without a change is a get. */
  MPI_Get_accumulate(own, 2, MPI_LONG, back, 2, MPI_LONG, target, 40, 2, MPI_LONG, MPI_NO_OP,
                     window);
  note_from('o', there, world_rank, 16);
  MPI_Fetch_and_op(own, back, MPI_LONG, target, 48, MPI_SUM, window);
  note('o', there, 8);
  note_from('o', there, world_rank, 8);
  MPI_Compare_and_swap(own, own, back, MPI_LONG, target, 49, window);
  note('o', there, 16);
  note_from('o', there, world_rank, 8);
  MPI_Win_unlock(target, window);
  MPI_Win_free(&window);
}

static void to_each(MPI_Comm comm, long bytes) {
  for (int rank = 0; rank < size_of(comm); ++rank) {
    if (rank != world_rank) note('c', rank, bytes);
  }
}

/* Uses MPI_COMM_WORLD, where ranks need no translation. */
static void collectives(int ranks) {
  static int sent[most / 4], got[most];
  int counts[64], places[64];
  for (int rank = 0; rank < ranks; ++rank) {
    counts[rank] = rank + 1;
    places[rank] = 64 * rank;
  }
  MPI_Bcast(sent, 10, MPI_INT, 1, MPI_COMM_WORLD);
  if (world_rank == 1) to_each(MPI_COMM_WORLD, 40);
  MPI_Gather(sent, 5, MPI_INT, got, 5, MPI_INT, 0, MPI_COMM_WORLD);
  if (world_rank != 0) note('c', 0, 20);
  MPI_Scatter(sent, 6, MPI_INT, got, 6, MPI_INT, 0, MPI_COMM_WORLD);
  if (world_rank == 0) to_each(MPI_COMM_WORLD, 24);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, got, 7, MPI_INT, MPI_COMM_WORLD);
  to_each(MPI_COMM_WORLD, 28);
  for (int rank = 0; rank < ranks; ++rank) got[rank] = world_rank + 1;
  MPI_Alltoallv(sent, counts, places, MPI_INT, got + 64, got, places, MPI_INT, MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != world_rank) note('c', rank, 4L * counts[rank]);
  }
  MPI_Reduce(sent, got, 8, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  if (world_rank != 1) note('c', 1, 32);
  MPI_Scan(sent, got, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank + 1 < ranks) note('c', world_rank + 1, 8);
  /* An allreduce counts as two equal messages to each other rank. */
  MPI_Allreduce(sent, got, ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  to_each(MPI_COMM_WORLD, 4);
  to_each(MPI_COMM_WORLD, 4);
  /* On a line of ranks, whose ends have one neighbor. */
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){0}, 0, &line);
  MPI_Neighbor_alltoall(sent, 9, MPI_INT, got, 9, MPI_INT, line);
  if (world_rank > 0) note('c', world_rank - 1, 36);
  if (world_rank + 1 < ranks) note('c', world_rank + 1, 36);
  MPI_Comm_free(&line);
  MPI_Request request;
  MPI_Iallgather(sent, 3, MPI_INT, got, 3, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  to_each(MPI_COMM_WORLD, 12);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world_rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  char path[1024];
  snprintf(path, sizeof path, "%s/%d", argv[1], world_rank);
  book = fopen(path, "w");
  all_modes(ring_of(MPI_COMM_WORLD));
  MPI_Pcontrol(2);
  phase = 2;
  MPI_Comm backwards, freed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - world_rank, &backwards);
  all_modes(ring_of(backwards));
  /* The freed handle may be reused for another communicator. */
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  blocking(ring_of(freed), MPI_Send, 55);
  MPI_Comm_free(&freed);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, ranks - world_rank, &freed);
  blocking(ring_of(freed), MPI_Send, 56);
  MPI_Comm_free(&freed);
  between_groups();
  MPI_Pcontrol(0);
  phase = 0;
  blocking(ring_of(MPI_COMM_WORLD), MPI_Send, 1000);
  MPI_Pcontrol(1);
  phase = 1;
  one_sided(backwards);
  collectives(ranks);
  MPI_Comm_free(&backwards);
  fclose(book);
  MPI_Finalize();
  return verdict();
}
