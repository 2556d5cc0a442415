/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Checks that every predefined operator on every predefined type gives the same result as in the
 * MPI: inputs are gathered by messages and reduced by MPI_Reduce_local in rank order.
 */
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { most_elements = 33, most_bytes = 64 * most_elements, most_ranks = 16, tag = 3 };

/* The type classes of the MPI standard, which determine the valid operators. */
enum class {
  c_integer,
  fortran_integer,
  address,
  byte,
  real_number,
  complex_number,
  logical,
  pair
};

enum filling { integers, floats, doubles, long_doubles, logicals, booleans, pairs, halves };

struct kind {
  const char* name;
  MPI_Datatype type;
  enum class class;
  enum filling filling;
};

enum need { arithmetic, order, logic, bits, location };

struct named_operator {
  const char* name;
  MPI_Op op;
  enum need need;
};

/* Returns whether the standard permits the combination. Others differ between MPIs, and some abort
 * the program. */
static int is_for(enum need need, enum class class) {
  const int is_integer = class == c_integer || class == fortran_integer || class == address;
  switch (need) {
    case arithmetic:
      return is_integer || class == real_number || class == complex_number;
    case order:
      return is_integer || class == real_number;
    case logic:
      return class == c_integer || class == logical;
    case bits:
      return is_integer || class == byte;
    case location:
      return class == pair;
  }
  return 0;
}

static void put_integer(unsigned char* to, size_t bytes, int value) {
  const long long wide = value;
  memset(to, value < 0 ? 0xff : 0, bytes);
  memcpy(to, &wide, bytes < sizeof wide ? bytes : sizeof wide);
}

/* Stores a small integer. Sums and products of these are exact in every format and order. */
static void put_number(unsigned char* to, enum filling filling, size_t bytes, int value) {
  const float as_float = (float)value;
  const double as_double = value;
  const long double as_long_double = value;
  const unsigned short as_half = value % 2 == 0 ? 0x3c00 : 0x4000; /* half-precision 1 and 2 */
  switch (filling) {
    case integers:
      put_integer(to, bytes, value);
      break;
    case logicals:
    case booleans:
      put_integer(to, bytes, value % 3 != 0);
      break;
    case floats:
      memcpy(to, &as_float, sizeof as_float);
      break;
    case doubles:
      memcpy(to, &as_double, sizeof as_double);
      break;
    case long_doubles:
      memcpy(to, &as_long_double, sizeof as_long_double);
      break;
    case halves:
      memcpy(to, &as_half, sizeof as_half);
      break;
    case pairs:
      break; /* stored by put_pair() */
  }
}

static size_t part_bytes(enum filling filling, size_t bytes) {
  switch (filling) {
    case floats:
      return sizeof(float);
    case doubles:
      return sizeof(double);
    case long_doubles:
      return sizeof(long double);
    case halves:
      return 2;
    case integers:
    case logicals:
    case booleans:
    case pairs:
      return bytes;
  }
  return bytes;
}

struct float_int {
  float value;
  int where;
};
struct double_int {
  double value;
  int where;
};
struct long_int {
  long value;
  int where;
};
struct short_int {
  short value;
  int where;
};
struct long_double_int {
  long double value;
  int where;
};

static void put_pair(unsigned char* to, const struct kind* kind, int value, int where) {
  if (kind->type == MPI_FLOAT_INT)
    *(struct float_int*)(void*)to = (struct float_int){(float)value, where};
  if (kind->type == MPI_DOUBLE_INT)
    *(struct double_int*)(void*)to = (struct double_int){value, where};
  if (kind->type == MPI_LONG_INT) *(struct long_int*)(void*)to = (struct long_int){value, where};
  if (kind->type == MPI_SHORT_INT)
    *(struct short_int*)(void*)to = (struct short_int){(short)value, where};
  if (kind->type == MPI_2INT) memcpy(to, (int[]){value, where}, 2 * sizeof(int));
  if (kind->type == MPI_LONG_DOUBLE_INT) {
    *(struct long_double_int*)(void*)to = (struct long_double_int){value, where};
  }
  if (kind->type == MPI_2INTEGER) memcpy(to, (int[]){value, where}, 2 * sizeof(int));
  if (kind->type == MPI_2REAL) memcpy(to, (float[]){(float)value, (float)where}, 2 * sizeof(float));
  if (kind->type == MPI_2DOUBLE_PRECISION) {
    memcpy(to, (double[]){value, where}, 2 * sizeof(double));
  }
}

static void fill(unsigned char* room, const struct kind* kind, MPI_Aint extent, int bytes, int rank,
                 int count) {
  unsigned seed = (unsigned)(rank * 101 + 17);
  memset(room, 0, most_bytes);
  for (int i = 0; i < count; ++i) {
    unsigned char* to = room + i * extent;
    const int value = (int)(next_random(&seed) % 5) + 1;
    if (kind->filling == pairs) {
      put_pair(to, kind, value, (int)(next_random(&seed) % 7));
      continue;
    }
    const size_t part = part_bytes(kind->filling, (size_t)bytes);
    for (size_t at = 0; at + part <= (size_t)bytes; at += part) {
      put_number(to + at, kind->filling, part, value + (at > 0));
    }
  }
}

/* Compares the bytes that MPI would send. Padding within pairs does not count, and that of long
 * doubles is made equal. */
static int same(const struct kind* kind, const void* a, const void* b, int count) {
  unsigned char left[most_bytes];
  unsigned char right[most_bytes];
  int left_bytes = 0;
  int right_bytes = 0;
  MPI_Pack(a, count, kind->type, left, most_bytes, &left_bytes, MPI_COMM_SELF);
  MPI_Pack(b, count, kind->type, right, most_bytes, &right_bytes, MPI_COMM_SELF);
  const int is_long = kind->filling == long_doubles || kind->type == MPI_LONG_DOUBLE_INT;
  const size_t period = kind->type == MPI_LONG_DOUBLE_INT ? 20 : sizeof(long double);
  for (int i = 0; is_long && sizeof(long double) == 16 && i < left_bytes; ++i) {
    const size_t at = (size_t)i % period;
    if (at >= 10 && at < 16) left[i] = right[i] = 0;
  }
  return left_bytes == right_bytes && memcmp(left, right, (size_t)left_bytes) == 0;
}

static unsigned char inputs[most_ranks][most_bytes];
static unsigned char* output;

static void collect(int bytes) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  for (int other = 0; other < ranks; ++other) {
    if (other == rank) continue;
    MPI_Sendrecv(inputs[rank], bytes, MPI_BYTE, other, tag, inputs[other], bytes, MPI_BYTE, other,
                 tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Leaves the result in the last rank's input. Returns whether the MPI supports the reduction. */
static int join_natively(const struct kind* kind, MPI_Op op, int count) {
  const int ranks = size_of(MPI_COMM_WORLD);
  for (int rank = ranks - 2; rank >= 0; --rank) {
    if (MPI_Reduce_local(inputs[rank], inputs[ranks - 1], count, kind->type, op) != MPI_SUCCESS) {
      return 0;
    }
  }
  return 1;
}

/* Reduces a rank's own numbers with those of the ranks from `first` down to 0. */
static const void* joined_behind(const void* own, int first, const struct kind* kind, MPI_Op op,
                                 int count) {
  static unsigned char result[most_bytes];
  memcpy(result, own, most_bytes);
  for (int rank = first; rank >= 0; --rank) {
    MPI_Reduce_local(inputs[rank], result, count, kind->type, op);
  }
  return result;
}

static void try_prefixes(const struct kind* kind, const struct named_operator* op,
                         const unsigned char* mine, int count) {
  const int rank = rank_in(MPI_COMM_WORLD);
  for (int in_place = 0; in_place < 2; ++in_place) {
    memcpy(output, mine, most_bytes);
    const void* from = in_place ? MPI_IN_PLACE : mine;
    MPI_Scan(from, output, count, kind->type, op->op, MPI_COMM_WORLD);
    expect(same(kind, output, joined_behind(mine, rank - 1, kind, op->op, count), count),
           "scan of %d %s by %s", count, kind->name, op->name);
    memcpy(output, mine, most_bytes);
    MPI_Exscan(from, output, count, kind->type, op->op, MPI_COMM_WORLD);
    const void* wanted =
        rank == 0 ? mine : joined_behind(inputs[rank - 1], rank - 2, kind, op->op, count);
    expect(same(kind, output, wanted, count), "exscan of %d %s by %s", count, kind->name, op->name);
  }
}

/* The last rank's block also gets the remainder. */
static void try_blocks(const struct kind* kind, const struct named_operator* op, MPI_Aint extent,
                       const unsigned char* mine, const unsigned char* wanted, int count) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  const int block = count / ranks;
  int counts[most_ranks];
  for (int i = 0; i < ranks; ++i) counts[i] = block;
  counts[ranks - 1] += count - ranks * block;
  const unsigned char* of_rank = wanted + rank * block * extent;
  for (int in_place = 0; in_place < 2; ++in_place) {
    const void* from = in_place ? MPI_IN_PLACE : mine;
    memcpy(output, mine, most_bytes);
    MPI_Reduce_scatter(from, output, counts, kind->type, op->op, MPI_COMM_WORLD);
    expect(same(kind, output, of_rank, counts[rank]), "reduce_scatter of %d %s by %s", count,
           kind->name, op->name);
    memcpy(output, mine, most_bytes);
    MPI_Reduce_scatter_block(from, output, block, kind->type, op->op, MPI_COMM_WORLD);
    expect(same(kind, output, of_rank, block), "reduce_scatter_block of %d %s by %s", count,
           kind->name, op->name);
  }
}

static int combinations;

static void try(const struct kind* kind, const struct named_operator* op, int count) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  int bytes = 0;
  MPI_Type_get_extent(kind->type, &lower_bound, &extent);
  MPI_Type_size(kind->type, &bytes);
  unsigned char mine[most_bytes];
  fill(mine, kind, extent, bytes, rank, count);
  memcpy(inputs[rank], mine, most_bytes);
  if (extent * count > most_bytes) return expect(0, "%s is too large here", kind->name);
  collect((int)extent * count);
  if (!join_natively(kind, op->op, count)) return;
  ++combinations;
  const void* wanted = inputs[ranks - 1];
  memset(output, 0, most_bytes);
  MPI_Allreduce(mine, output, count, kind->type, op->op, MPI_COMM_WORLD);
  expect(same(kind, output, wanted, count), "allreduce of %d %s by %s", count, kind->name,
         op->name);
  memset(output, 0, most_bytes);
  MPI_Reduce(mine, output, count, kind->type, op->op, ranks - 1, MPI_COMM_WORLD);
  expect(rank != ranks - 1 || same(kind, output, wanted, count), "reduce of %d %s by %s", count,
         kind->name, op->name);
  memcpy(output, mine, most_bytes);
  MPI_Allreduce(MPI_IN_PLACE, output, count, kind->type, op->op, MPI_COMM_WORLD);
  expect(same(kind, output, wanted, count), "allreduce in place of %d %s by %s", count, kind->name,
         op->name);
  try_prefixes(kind, op, mine, count);
  try_blocks(kind, op, extent, mine, wanted, count);
}

#define KIND(type, class, filling) \
  { #type, type, class, filling }

static void try_all(void) {
  const struct named_operator operators[] = {
      {"MPI_SUM", MPI_SUM, arithmetic},     {"MPI_PROD", MPI_PROD, arithmetic},
      {"MPI_MIN", MPI_MIN, order},          {"MPI_MAX", MPI_MAX, order},
      {"MPI_LAND", MPI_LAND, logic},        {"MPI_LOR", MPI_LOR, logic},
      {"MPI_LXOR", MPI_LXOR, logic},        {"MPI_BAND", MPI_BAND, bits},
      {"MPI_BOR", MPI_BOR, bits},           {"MPI_BXOR", MPI_BXOR, bits},
      {"MPI_MINLOC", MPI_MINLOC, location}, {"MPI_MAXLOC", MPI_MAXLOC, location},
  };
  const struct kind kinds[] = {
      KIND(MPI_SIGNED_CHAR, c_integer, integers),
      KIND(MPI_UNSIGNED_CHAR, c_integer, integers),
      KIND(MPI_BYTE, byte, integers),
      KIND(MPI_SHORT, c_integer, integers),
      KIND(MPI_UNSIGNED_SHORT, c_integer, integers),
      KIND(MPI_INT, c_integer, integers),
      KIND(MPI_UNSIGNED, c_integer, integers),
      KIND(MPI_LONG, c_integer, integers),
      KIND(MPI_UNSIGNED_LONG, c_integer, integers),
      KIND(MPI_LONG_LONG, c_integer, integers),
      KIND(MPI_UNSIGNED_LONG_LONG, c_integer, integers),
      KIND(MPI_INT8_T, c_integer, integers),
      KIND(MPI_INT16_T, c_integer, integers),
      KIND(MPI_INT32_T, c_integer, integers),
      KIND(MPI_INT64_T, c_integer, integers),
      KIND(MPI_UINT8_T, c_integer, integers),
      KIND(MPI_UINT16_T, c_integer, integers),
      KIND(MPI_UINT32_T, c_integer, integers),
      KIND(MPI_UINT64_T, c_integer, integers),
      KIND(MPI_AINT, address, integers),
      KIND(MPI_OFFSET, address, integers),
      KIND(MPI_COUNT, address, integers),
      KIND(MPI_FLOAT, real_number, floats),
      KIND(MPI_DOUBLE, real_number, doubles),
      KIND(MPI_LONG_DOUBLE, real_number, long_doubles),
      KIND(MPI_C_BOOL, logical, booleans),
      KIND(MPI_C_FLOAT_COMPLEX, complex_number, floats),
      KIND(MPI_C_DOUBLE_COMPLEX, complex_number, doubles),
      KIND(MPI_C_LONG_DOUBLE_COMPLEX, complex_number, long_doubles),
      KIND(MPI_FLOAT_INT, pair, pairs),
      KIND(MPI_DOUBLE_INT, pair, pairs),
      KIND(MPI_LONG_INT, pair, pairs),
      KIND(MPI_2INT, pair, pairs),
      KIND(MPI_SHORT_INT, pair, pairs),
      KIND(MPI_LONG_DOUBLE_INT, pair, pairs),
      KIND(MPI_INTEGER, fortran_integer, integers),
      KIND(MPI_INTEGER1, fortran_integer, integers),
      KIND(MPI_INTEGER2, fortran_integer, integers),
      KIND(MPI_INTEGER4, fortran_integer, integers),
      KIND(MPI_INTEGER8, fortran_integer, integers),
      KIND(MPI_REAL, real_number, floats),
      KIND(MPI_REAL4, real_number, floats),
      KIND(MPI_REAL8, real_number, doubles),
      KIND(MPI_DOUBLE_PRECISION, real_number, doubles),
      KIND(MPI_COMPLEX, complex_number, floats),
      KIND(MPI_COMPLEX8, complex_number, floats),
      KIND(MPI_COMPLEX16, complex_number, doubles),
      KIND(MPI_DOUBLE_COMPLEX, complex_number, doubles),
      KIND(MPI_LOGICAL, logical, logicals),
      KIND(MPI_2INTEGER, pair, pairs),
      KIND(MPI_2REAL, pair, pairs),
      KIND(MPI_2DOUBLE_PRECISION, pair, pairs),
#ifdef MPI_CXX_BOOL
      KIND(MPI_CXX_BOOL, logical, booleans),
      KIND(MPI_CXX_FLOAT_COMPLEX, complex_number, floats),
      KIND(MPI_CXX_DOUBLE_COMPLEX, complex_number, doubles),
      KIND(MPI_CXX_LONG_DOUBLE_COMPLEX, complex_number, long_doubles),
#endif
#ifdef MPI_REAL2
      KIND(MPI_REAL2, real_number, halves),
#endif
  };
  const int counts[] = {1, 5, most_elements};
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
    int bytes = 0;
    if (kinds[kind].type == MPI_DATATYPE_NULL ||
        MPI_Type_size(kinds[kind].type, &bytes) != MPI_SUCCESS || bytes == 0) {
      continue; /* an MPI without Fortran */
    }
    for (size_t op = 0; op < sizeof operators / sizeof *operators; ++op) {
      if (!is_for(operators[op].need, kinds[kind].class)) continue;
      for (int i = 0; i < 3; ++i) try(&kinds[kind], &operators[op], counts[i]);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  output = room_for(most_bytes);
  /* Types that do not support the operator return an error and are skipped. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  try_all();
  /* Some MPIs lack Fortran types; every MPI has at least this number. */
  expect(combinations > 3 * 250, "only %d combinations were tried", combinations);
  MPI_Finalize();
  return verdict();
}
