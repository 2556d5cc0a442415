/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Broadcasts of the same integers with a different layout on each rank: they must arrive where the
 * type places them, and the bytes between them must not change.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "layouts.h"

static unsigned char* room;

static void broadcast(MPI_Comm comm, int first, int root) {
  static unsigned char wanted[layout_room];
  const int rank = rank_in(comm);
  struct layout layout = make_layout((first + 5 * rank) % layout_count, room);
  int numbers[layout_ints];
  for (int i = 0; i < layout_ints; ++i) numbers[i] = 1000 * first + 10 * i + root;
  fill(&layout, room, numbers);
  memcpy(wanted, room, sizeof wanted);
  if (rank != root) {
    int none[layout_ints] = {0};
    fill(&layout, room, none);
  }
  MPI_Bcast(layout.address, layout.count, layout.type, root, comm);
  expect(memcmp(room, wanted, sizeof wanted) == 0, "bcast from rank %d to rank %d, laid out as %s",
         root, rank, layout.name);
  free_layout(&layout);
}

/* Makes a call that is large enough for other algorithms than those of small calls. */
static void broadcast_many(MPI_Comm comm, int root) {
  enum { elements = 40000, stride = 3 };
  int* numbers = calloc(elements * stride, sizeof *numbers);
  const int rank = rank_in(comm);
  MPI_Datatype strided;
  MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &strided);
  MPI_Type_commit(&strided);
  const int is_dense = (rank + root) % 2;
  const int step = is_dense ? 1 : stride;
  if (rank == root) {
    for (int i = 0; i < elements; ++i) numbers[i * step] = i ^ root;
  }
  MPI_Bcast(numbers, elements, is_dense ? MPI_INT : strided, root, comm);
  int wrong = 0;
  for (int i = 0; i < elements; ++i) wrong += numbers[i * step] != (i ^ root);
  for (int i = 0; !is_dense && i < elements; ++i) wrong += numbers[i * stride + 1] != 0;
  expect(wrong == 0, "large bcast from %d: %d integers are wrong", root, wrong);
  MPI_Type_free(&strided);
  free(numbers);
}

/* Types without data, and empty calls. */
static void broadcast_nothing(MPI_Comm comm) {
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  int untouched = 4711;
  MPI_Bcast(&untouched, 5, empty, 0, comm);
  MPI_Bcast(NULL, 0, MPI_INT, 0, comm);
  MPI_Bcast(NULL, 0, empty, size_of(comm) - 1, comm);
  expect(untouched == 4711, "a bcast of nothing wrote something");
  MPI_Type_free(&empty);
}

/* Uses a derived type, and a type derived from that. */
static void broadcast_made(MPI_Comm comm, MPI_Datatype type, const char* name) {
  enum { ints = 8 };
  int numbers[ints] = {0};
  MPI_Datatype again;
  MPI_Type_contiguous(1, type, &again);
  MPI_Type_commit(&again);
  MPI_Type_commit(&type);
  for (int i = 0; i < ints && rank_in(comm) == 0; ++i) numbers[i] = i + 1;
  MPI_Bcast(numbers, 1, type, 0, comm);
  MPI_Bcast(numbers, 1, again, 0, comm);
  expect(numbers[0] == 1 && numbers[ints - 1] == ints, "bcast of a type made by %s", name);
  MPI_Type_free(&again);
  MPI_Type_free(&type);
}

static void broadcast_constructed(MPI_Comm comm) {
  MPI_Datatype type;
  /* MPI_PACKED is not numeric but predefined. */
  MPI_Type_contiguous(8 * (int)sizeof(int), MPI_PACKED, &type);
  broadcast_made(comm, type, "contiguous of MPI_PACKED");
#if MPI_VERSION >= 4
  MPI_Type_contiguous_c(8, MPI_INT, &type);
  broadcast_made(comm, type, "contiguous_c");
  MPI_Type_vector_c(4, 2, 2, MPI_INT, &type);
  broadcast_made(comm, type, "vector_c");
#endif
}

/* The properties of a freed type must not be used for the next type with its handle. */
static void broadcast_again_and_again(MPI_Comm comm) {
  enum { most = 40 };
  int numbers[most];
  for (int ints = 1; ints < most; ++ints) {
    MPI_Datatype type;
    if (ints % 3 == 0) {
      MPI_Type_vector(ints / 3, 1, 3, MPI_INT, &type);
    } else {
      MPI_Type_contiguous(ints, MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    for (int times = 0; times < 2; ++times) {
      for (int i = 0; i < most; ++i) numbers[i] = rank_in(comm) == 0 ? ints + i + times : -1;
      MPI_Bcast(numbers, 1, type, 0, comm);
      const int last = ints % 3 == 0 ? ints - 3 : ints - 1;
      expect(numbers[last] == ints + last + times, "bcast of a new type of %d integers", ints);
      expect(rank_in(comm) == 0 || numbers[last + 1] == -1, "bcast goes beyond %d integers", ints);
    }
    MPI_Type_free(&type);
  }
}

/* An x86 long double has padding bytes, which need not be sent. */
static void broadcast_padded(MPI_Comm comm) {
  enum { elements = 10, stride = 2 };
  static long double numbers[elements * stride];
  MPI_Datatype type;
  MPI_Type_vector(elements, 1, stride, MPI_LONG_DOUBLE, &type);
  MPI_Type_commit(&type);
  memset(numbers, rank_in(comm) + 1, sizeof numbers);
  for (int i = 0; i < elements * stride; ++i) numbers[i] = rank_in(comm) == 0 ? i : -1;
  MPI_Bcast(numbers, 1, type, 0, comm);
  for (int i = 0; i < elements; ++i) {
    expect(numbers[i * stride] == i * stride, "bcast of long doubles: number %d", i);
  }
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  room = room_for(layout_room);
  for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root) {
    for (int first = 0; first < layout_count; ++first) broadcast(MPI_COMM_WORLD, first, root);
    broadcast_many(MPI_COMM_WORLD, root);
  }
  broadcast_nothing(MPI_COMM_WORLD);
  broadcast_constructed(MPI_COMM_WORLD);
  broadcast_again_and_again(MPI_COMM_WORLD);
  broadcast_padded(MPI_COMM_WORLD);
  MPI_Finalize();
  return verdict();
}
