/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Many layouts of the same integers in memory, all of one type signature.
 */
#ifndef HUDDLE_TESTS_LAYOUTS_H
#define HUDDLE_TESTS_LAYOUTS_H

#include <mpi.h>

enum {
  layout_ints = 24,
  layout_room = 4096,
  layout_count = 13,
  layout_downward = 10,           /* elements at decreasing addresses */
  layout_middle = layout_room / 2 /* types may extend to both sides of their address */
};

struct layout {
  const char* name;
  MPI_Datatype type;
  int count;
  void* address; /* the buffer argument of a call */
  /* The same without MPI_BOTTOM, which MPICH 4.0 rejects in MPI_Unpack. */
  MPI_Datatype plain_type;
  void* plain_address;
};

/* Returns layout number `which` of elements in `room`. */
struct layout make_layout(int which, unsigned char room[layout_room]);

void free_layout(struct layout* layout);

/* Writes the numbers in the layout; all other bytes get one value. */
void fill(const struct layout* layout, unsigned char room[layout_room], const int* numbers);

#endif
