/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * User-defined operators: products of matrices, which are not commutative, and sums, which are; on
 * elements with several layouts.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { modulus = 1009, most_elements = 20000, widest = 64, margin = 256 };

/* The offsets of the four numbers of a matrix in an element, and the element's extent. */
struct layout {
  const char* name;
  MPI_Aint places[4];
  MPI_Aint lower_bound;
  MPI_Aint extent;
  MPI_Datatype type;
};

static struct layout layouts[] = {
    {"dense", {0, 4, 8, 12}, 0, 16, MPI_DATATYPE_NULL},
    {"with gaps", {0, 8, 16, 32}, 0, 40, MPI_DATATYPE_NULL},
    {"below its address", {-16, -12, 0, 4}, -16, 24, MPI_DATATYPE_NULL},
    {"beyond its extent", {0, 4, 28, 32}, 0, 20, MPI_DATATYPE_NULL},
    {"out of order", {12, 8, 4, 0}, 0, 16, MPI_DATATYPE_NULL},
    {"downwards", {0, 4, 8, 16}, 0, -24, MPI_DATATYPE_NULL},
};
enum { layout_count = sizeof layouts / sizeof *layouts };
static const struct layout* current; /* global, because an operator gets only its datatype */

struct matrix {
  int cells[4];
};

static struct matrix get(const unsigned char* element) {
  struct matrix matrix;
  for (int i = 0; i < 4; ++i) memcpy(&matrix.cells[i], element + current->places[i], sizeof(int));
  return matrix;
}

static void put(unsigned char* element, struct matrix matrix) {
  for (int i = 0; i < 4; ++i) memcpy(element + current->places[i], &matrix.cells[i], sizeof(int));
}

static struct matrix product(struct matrix a, struct matrix b) {
  return (struct matrix){{(a.cells[0] * b.cells[0] + a.cells[1] * b.cells[2]) % modulus,
                          (a.cells[0] * b.cells[1] + a.cells[1] * b.cells[3]) % modulus,
                          (a.cells[2] * b.cells[0] + a.cells[3] * b.cells[2]) % modulus,
                          (a.cells[2] * b.cells[1] + a.cells[3] * b.cells[3]) % modulus}};
}

static struct matrix sum(struct matrix a, struct matrix b) {
  struct matrix result;
  for (int i = 0; i < 4; ++i) result.cells[i] = (a.cells[i] + b.cells[i]) % modulus;
  return result;
}

typedef struct matrix joiner(struct matrix, struct matrix);

static void join_all(joiner* join, void* left, void* right, int count, MPI_Datatype type) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower_bound, &extent);
  expect(extent == current->extent && lower_bound == current->lower_bound,
         "an operator was called with a datatype that the program did not give");
  for (int i = 0; i < count; ++i) {
    unsigned char* to = (unsigned char*)right + i * extent;
    put(to, join(get((unsigned char*)left + i * extent), get(to)));
  }
}

static void multiply(void* left, void* right, int* count, MPI_Datatype* type) {
  join_all(product, left, right, *count, *type);
}

static void add(void* left, void* right, int* count, MPI_Datatype* type) {
  join_all(sum, left, right, *count, *type);
}

static void make_type(struct layout* layout) {
  const int lengths[] = {1, 1, 1, 1};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
  MPI_Datatype plain;
  MPI_Type_create_struct(4, lengths, layout->places, types, &plain);
  MPI_Type_create_resized(plain, layout->lower_bound, layout->extent, &layout->type);
  MPI_Type_commit(&layout->type);
  MPI_Type_free(&plain);
}

static struct matrix input_of(int rank, int element) {
  unsigned seed = (unsigned)(rank * 7919 + element);
  struct matrix matrix;
  for (int i = 0; i < 4; ++i) matrix.cells[i] = (int)(next_random(&seed) % modulus);
  return matrix;
}

static struct matrix expected(joiner* join, int ranks, int element) {
  struct matrix result = input_of(0, element);
  for (int rank = 1; rank < ranks; ++rank) result = join(result, input_of(rank, element));
  return result;
}

enum { room_bytes = most_elements * widest + 2 * margin };
static unsigned char* input_room;
static unsigned char* output_room;

/* Offset of the first element, which has the highest address if the extent is negative. */
static MPI_Aint offset_of_first(void) {
  return margin + (current->extent < 0 ? -(most_elements - 1) * current->extent : 0);
}

static void fill(unsigned char* room, int rank, int count) {
  memset(room, 0x5a, room_bytes);
  for (int i = 0; i < count; ++i)
    put(room + offset_of_first() + i * current->extent, input_of(rank, i));
}

/* Checks `count` elements from `first` on, reduced over the first `ranks` ranks. */
static void check_part(const char* what, joiner* join, int ranks, int first, int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const struct matrix is = get(output_room + offset_of_first() + i * current->extent);
    const struct matrix wanted = expected(join, ranks, first + i);
    wrong += memcmp(&is, &wanted, sizeof is) != 0;
  }
  /* The gaps must not have changed. */
  static unsigned char bytes[room_bytes];
  memcpy(bytes, output_room, sizeof bytes);
  for (int i = 0; i < count; ++i) {
    for (int cell = 0; cell < 4; ++cell) {
      memset(bytes + offset_of_first() + i * current->extent + current->places[cell], 0x5a,
             sizeof(int));
    }
  }
  int changed = 0;
  for (size_t i = 0; i < sizeof bytes; ++i) changed += bytes[i] != 0x5a;
  expect(wrong == 0, "%s of %d elements %s: %d are wrong", what, count, current->name, wrong);
  expect(changed == 0, "%s of %d elements %s: %d bytes of gaps were written", what, count,
         current->name, changed);
}

static void check(const char* what, joiner* join, MPI_Comm comm, int count) {
  check_part(what, join, size_of(comm), 0, count);
}

static void scan_all_ways(MPI_Comm comm, joiner* join, MPI_Op op, int count) {
  const int rank = rank_in(comm);
  void* output = output_room + offset_of_first();
  for (int in_place = 0; in_place < 2; ++in_place) {
    const void* input = in_place ? MPI_IN_PLACE : input_room + offset_of_first();
    fill(input_room, rank, count);
    fill(output_room, rank, in_place ? count : 0);
    MPI_Scan(input, output, count, current->type, op, comm);
    check_part("scan", join, rank + 1, 0, count);
    fill(output_room, rank, in_place ? count : 0);
    MPI_Exscan(input, output, count, current->type, op, comm);
    if (rank > 0) check_part("exscan", join, rank, 0, count);
  }
}

/* Reduces to blocks, of which the first is empty and the last has the double size. */
static void reduce_to_blocks(MPI_Comm comm, joiner* join, MPI_Op op, int count) {
  enum { most_ranks = 16 };
  const int rank = rank_in(comm);
  const int ranks = size_of(comm);
  const int block = count / ranks;
  int counts[most_ranks];
  for (int i = 0; i < ranks; ++i) counts[i] = i == 0 ? 0 : block;
  counts[ranks - 1] += block;
  const void* input = input_room + offset_of_first();
  void* output = output_room + offset_of_first();
  fill(input_room, rank, block * ranks);
  fill(output_room, rank, 0);
  MPI_Reduce_scatter(input, counts[rank] == 0 ? NULL : output, counts, current->type, op, comm);
  const int first = rank == 0 ? 0 : (rank - 1) * block;
  check_part("reduce_scatter", join, ranks, first, counts[rank]);
  fill(output_room, rank, 0);
  MPI_Reduce_scatter_block(input, output, block, current->type, op, comm);
  check_part("reduce_scatter_block", join, ranks, rank * block, block);
}

static void reduce_all_ways(MPI_Comm comm, joiner* join, MPI_Op op, int count, int root) {
  const int rank = rank_in(comm);
  void* input = input_room + offset_of_first();
  void* output = output_room + offset_of_first();
  fill(input_room, rank, count);
  memset(output_room, 0x5a, room_bytes);
  MPI_Allreduce(input, output, count, current->type, op, comm);
  check("allreduce", join, comm, count);

  fill(output_room, rank, count);
  MPI_Allreduce(MPI_IN_PLACE, output, count, current->type, op, comm);
  check("allreduce in place", join, comm, count);

  memset(output_room, 0x5a, room_bytes);
  MPI_Reduce(input, output, count, current->type, op, root, comm);
  if (rank == root) check("reduce", join, comm, count);

  fill(output_room, rank, count);
  MPI_Reduce(rank == root ? MPI_IN_PLACE : output, rank == root ? output : NULL, count,
             current->type, op, root, comm);
  if (rank == root) check("reduce in place", join, comm, count);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  input_room = room_for(room_bytes);
  output_room = room_for(room_bytes);
  MPI_Op products;
  MPI_Op sums;
  MPI_Op_create(multiply, 0, &products);
  MPI_Op_create(add, 1, &sums);
  const int counts[] = {1, 5, 300, most_elements};
  for (int which = 0; which < layout_count; ++which) {
    make_type(&layouts[which]);
    current = &layouts[which];
    for (int i = 0; i < 4; ++i) {
      const int root = i % size_of(MPI_COMM_WORLD);
      reduce_all_ways(MPI_COMM_WORLD, product, products, counts[i], root);
      reduce_all_ways(MPI_COMM_WORLD, sum, sums, counts[i], root);
      scan_all_ways(MPI_COMM_WORLD, product, products, counts[i]);
      scan_all_ways(MPI_COMM_WORLD, sum, sums, counts[i]);
      reduce_to_blocks(MPI_COMM_WORLD, product, products, counts[i]);
      reduce_to_blocks(MPI_COMM_WORLD, sum, sums, counts[i]);
    }
    MPI_Type_free(&layouts[which].type);
  }
  MPI_Op_free(&products);
  MPI_Op_free(&sums);
  MPI_Finalize();
  return verdict();
}
