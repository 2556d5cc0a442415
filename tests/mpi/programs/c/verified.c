/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * verified WHAT: makes calls whose results HUDDLE_VERIFY compares.
 *   columns   two threads, each of which broadcasts its own column of one matrix
 *   hole      a datatype whose data are before and after an inaccessible page
 *   padding   a datatype in which a long double is packed at no multiple of its size
 *   operator  a user-defined operator whose result depends on the order
 *   nonblocking, abort, exit: some calls, and a nonblocking call, MPI_Abort or exit(); for the last
 *     two, another argument names the file for the last output of the rank that ends early
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"

enum { rows = 500, columns = 2, rounds = 200, calls = 5 };

static double matrix[rows][columns];
static MPI_Comm comms[columns];
static MPI_Datatype column_type;

static void* broadcast_column(void* argument) {
  const int column = (int)(intptr_t)argument;
  const MPI_Comm comm = comms[column];
  for (int round = 0; round < rounds; ++round) {
    const int root = round % size_of(comm);
    for (int row = 0; row < rows; ++row) {
      matrix[row][column] = rank_in(comm) == root ? round + row : -1;
    }
    MPI_Bcast(&matrix[0][column], 1, column_type, root, comm);
    for (int row = 0; row < rows; ++row) {
      expect(matrix[row][column] == round + row, "column %d, row %d is wrong", column, row);
    }
  }
  return NULL;
}

static void broadcast_columns(void) {
  pthread_t threads[columns];
  MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column_type);
  MPI_Type_commit(&column_type);
  for (int i = 0; i < columns; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < columns; ++i) {
    pthread_create(&threads[i], NULL, broadcast_column, (void*)(intptr_t)i);
  }
  for (int i = 0; i < columns; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < columns; ++i) MPI_Comm_free(&comms[i]);
  MPI_Type_free(&column_type);
}

static void leave_a_hole(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages + page, page, PROT_NONE);
  const int length = 64;
  const MPI_Aint stride = (MPI_Aint)(2 * page);
  MPI_Datatype type;
  MPI_Type_create_hvector(2, length, stride, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  memset(pages, rank_in(MPI_COMM_WORLD) == 0 ? 'a' : 'x', (size_t)length);
  memset(pages + stride, rank_in(MPI_COMM_WORLD) == 0 ? 'b' : 'x', (size_t)length);
  MPI_Bcast(pages, 1, type, 0, MPI_COMM_WORLD);
  expect(pages[0] == 'a' && pages[stride + length - 1] == 'b', "the data around a hole are wrong");
  MPI_Type_free(&type);
}

struct padded {
  int number;
  long double value;
};

/* The padding differs between the ranks, and may differ between huddle and the MPI. */
static void send_padding(void) {
  enum { count = 3 };
  static struct padded elements[count];
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(struct padded, number), offsetof(struct padded, value)};
  const MPI_Datatype types[] = {MPI_INT, MPI_LONG_DOUBLE};
  MPI_Datatype plain, type;
  MPI_Type_create_struct(2, lengths, places, types, &plain);
  MPI_Type_create_resized(plain, 0, sizeof(struct padded), &type);
  MPI_Type_commit(&type);
  const int rank = rank_in(MPI_COMM_WORLD);
  memset(elements, rank + 1, sizeof elements);
  for (int i = 0; rank == 0 && i < count; ++i) {
    elements[i].number = i;
    elements[i].value = i + 0.5L;
  }
  MPI_Bcast(elements, count, type, 0, MPI_COMM_WORLD);
  expect(elements[2].number == 2 && elements[2].value == 2.5L, "elements with padding are wrong");
  MPI_Type_free(&type);
  MPI_Type_free(&plain);
}

/* Returns another result each time, which neither an MPI nor huddle can detect. */
static void count_up(void* left, void* right, int* count, MPI_Datatype* type) {
  static int number;
  (void)left;
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)right)[i] = ++number;
}

static void reduce_by_own_operator(void) {
  MPI_Op op;
  MPI_Op_create(count_up, 1, &op);
  int mine = 1;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
}

static void sum_up(void) {
  for (int i = 0; i < calls; ++i) {
    int one = 1;
    int all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(all == size_of(MPI_COMM_WORLD), "allreduce gives %d", all);
  }
}

/* The rank with the highest number ends the job, and the others wait for that. Its last output goes
 * to a file, because a launcher may end the job before it has forwarded it. */
static void end_early(const char* how, const char* file) {
  if (rank_in(MPI_COMM_WORLD) != size_of(MPI_COMM_WORLD) - 1) MPI_Barrier(MPI_COMM_SELF), pause();
  if (freopen(file, "w", stderr) == NULL) exit(4);
  setvbuf(stderr, NULL, _IONBF, 0);
  if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  exit(3);
}

static void make_nonblocking(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int level;
  const char* what = argc > 1 ? argv[1] : "";
  const int needed = strcmp(what, "columns") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, needed, &level);
  if (strcmp(what, "columns") == 0) broadcast_columns();
  if (strcmp(what, "hole") == 0) leave_a_hole();
  if (strcmp(what, "padding") == 0) send_padding();
  if (strcmp(what, "operator") == 0) reduce_by_own_operator();
  if (strcmp(what, "nonblocking") == 0) make_nonblocking();
  const int ends_early = strcmp(what, "abort") == 0 || strcmp(what, "exit") == 0;
  if (ends_early || strcmp(what, "nonblocking") == 0) sum_up();
  if (ends_early) end_early(what, argv[2]);
  MPI_Finalize();
  return verdict();
}
