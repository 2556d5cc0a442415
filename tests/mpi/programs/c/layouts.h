/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Many ways to lay the same integers out in memory, all of one signature.
 */
#ifndef HUDDLE_TESTS_LAYOUTS_H
#define HUDDLE_TESTS_LAYOUTS_H

#include <mpi.h>

enum {
  layout_ints = 24,
  layout_room = 4096,
  layout_count = 13,
  layout_downward = 10,           /* elements follow one another towards lower addresses */
  layout_middle = layout_room / 2 /* types may reach to both sides of their address */
};

struct layout {
  const char* name;
  MPI_Datatype type;
  int count;
  void* address; /* what a call is given */
  /* The same without MPI_BOTTOM, at which MPICH 4.0 does not unpack. */
  MPI_Datatype plain_type;
  void* plain_address;
};

/* Of elements of this room. */
struct layout make_layout(int which, unsigned char room[layout_room]);

void free_layout(struct layout* layout);

/* Writes the numbers where the layout has them; all other bytes get one value. */
void fill(const struct layout* layout, unsigned char room[layout_room], const int* numbers);

#endif
