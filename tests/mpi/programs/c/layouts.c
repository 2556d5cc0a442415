/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
#include "layouts.h"

#include <string.h>

static MPI_Datatype contiguous(int count, MPI_Datatype of) {
  MPI_Datatype type;
  MPI_Type_contiguous(count, of, &type);
  return type;
}

static MPI_Datatype resized(MPI_Datatype of, MPI_Aint lower_bound, MPI_Aint extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(of, lower_bound, extent, &type);
  MPI_Type_free(&of);
  return type;
}

static MPI_Datatype duplicate(MPI_Datatype of) {
  MPI_Datatype type;
  MPI_Type_dup(of, &type);
  MPI_Type_free(&of);
  return type;
}

static MPI_Datatype vector(int blocks, int length, int stride) {
  MPI_Datatype type;
  MPI_Type_vector(blocks, length, stride, MPI_INT, &type);
  return type;
}

static MPI_Datatype backward_vector(void) {
  MPI_Datatype type;
  MPI_Type_create_hvector(3, 2, -16, MPI_INT, &type);
  return type;
}

/* All bytes of the extent are data, but in another order. */
static MPI_Datatype out_of_order(void) {
  const int lengths[] = {1, 3};
  const int places[] = {3, 0};
  MPI_Datatype type;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  return type;
}

static MPI_Datatype structure(void) {
  const int lengths[] = {1, 2};
  const MPI_Aint places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  return type;
}

static MPI_Datatype subarray(void) {
  const int sizes[] = {4, 6};
  const int part[] = {2, 3};
  const int starts[] = {1, 2};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &type);
  return type;
}

/* Contains the addresses of data in the memory that begins at `room`. */
static MPI_Datatype at_addresses(MPI_Aint room) {
  const MPI_Aint places[] = {room + 512, room + 64};
  const int lengths[] = {20, 4};
  MPI_Datatype type;
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  return type;
}

static struct layout absolute(unsigned char* room) {
  MPI_Aint address;
  MPI_Get_address(room, &address);
  return (struct layout){.name = "absolute",
                         .type = at_addresses(address),
                         .count = 1,
                         .address = MPI_BOTTOM,
                         .plain_type = at_addresses(0),
                         .plain_address = room};
}

static struct layout here(const char* name, MPI_Datatype type, int count, unsigned char* room) {
  void* middle = room + layout_middle;
  return (struct layout){name, type, count, middle, type, middle};
}

static struct layout unfinished(int which, unsigned char* room) {
  switch (which) {
    case 0:
      return here("int", contiguous(1, MPI_INT), 24, room);
    case 1:
      return here("four in a row", contiguous(4, MPI_INT), 6, room);
    case 2:
      return here("duplicate", duplicate(contiguous(4, MPI_INT)), 6, room);
    case 3:
      return here("vector", vector(3, 2, 4), 4, room);
    case 4:
      return here("backward vector", backward_vector(), 4, room);
    case 5:
      return here("out of order", out_of_order(), 6, room);
    case 6:
      return here("structure", structure(), 8, room);
    case 7:
      return here("negative lower bound", resized(contiguous(2, MPI_INT), -8, 24), 12, room);
    case 8:
      return here("subarray", subarray(), 4, room);
    case 9:
      return absolute(room);
    case layout_downward:
      return here("negative extent", resized(contiguous(1, MPI_INT), 0, -8), 24, room);
    case 11:
      return here("interleaved", resized(vector(2, 1, 12), 0, 4), 12, room);
    default:
      return here("one with all", contiguous(24, MPI_INT), 1, room);
  }
}

struct layout make_layout(int which, unsigned char room[layout_room]) {
  struct layout layout = unfinished(which, room);
  MPI_Type_commit(&layout.type);
  if (layout.address != layout.plain_address) {
    MPI_Type_commit(&layout.plain_type);
  } else {
    layout.plain_type = layout.type;
  }
  return layout;
}

void free_layout(struct layout* layout) {
  if (layout->address != layout->plain_address) MPI_Type_free(&layout->plain_type);
  MPI_Type_free(&layout->type);
}

void fill(const struct layout* layout, unsigned char room[layout_room], const int* numbers) {
  memset(room, 0xa5, layout_room);
  int position = 0;
  MPI_Unpack(numbers, layout_ints * (int)sizeof *numbers, &position, layout->plain_address,
             layout->count, layout->plain_type, MPI_COMM_SELF);
}
