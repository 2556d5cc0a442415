/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Tries every predefined operator on every named datatype, and on some derived ones, whether the
 * standard permits the combination or not. Rank 0 prints the MPI's name, and a line for each:
 *
 *   MPI_CHAR MPI_SUM same      allreduce and reduce give the same as MPI_Reduce_local
 *   MPI_CHAR MPI_SUM small     only for small numbers: overflows differ
 *   MPI_CHAR MPI_SUM differs   they give another result
 *   MPI_REAL MPI_BAND refused  the MPI has no such reduction
 *
 * With two ranks there is only one order of reduction, so results are equal bit by bit. The inputs
 * contain no NaNs, because MPIs keep an arbitrary one of several.
 */
#include <stdio.h>
#include <string.h>

#include "expect.h"

/* The first elements are small numbers, the others have arbitrary bits. */
enum { elements = 67, small_elements = 33, most_element_bytes = 64 };

/* The values with which a type is tested. */
enum filling { any_bits, truths, floats, doubles, long_doubles, halves, quadruples };

struct kind {
  const char* name;
  MPI_Datatype type;
  enum filling filling;
  size_t index_at; /* of pairs: offset of the second part; else 0 */
  int index_is_number;
};

struct named_operator {
  const char* name;
  MPI_Op op;
};

#define KIND(type, filling) \
  { #type, type, filling, 0, 0 }
#define PAIR(type, filling, index_at) \
  { #type, type, filling, index_at, 0 }
#define NUMBERS(type, filling, index_at) \
  { #type, type, filling, index_at, 1 }
#define OPERATOR(op) \
  { #op, op }

static unsigned seed;

static double small_number(void) {
  return ((int)(next_random(&seed) % 2001) - 1000) * (next_random(&seed) % 2 == 0 ? 0.1 : 1);
}

/* Stores a small integer in IEEE quadruple precision by its bits, since C may have no such type. */
static void put_quadruple(unsigned char* to) {
  const double value = (double)(next_random(&seed) % 2000) + 1;
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof bits);
  const unsigned long long exponent = (bits >> 52 & 0x7ff) - 1023 + 16383;
  const unsigned long long fraction = bits & 0xfffffffffffffULL;
  const unsigned long long sign = next_random(&seed) % 2;
  const unsigned long long words[2] = {fraction << 60, sign << 63 | exponent << 48 | fraction >> 4};
  memcpy(to, words, sizeof words);
}

static size_t bytes_of(enum filling filling, size_t bytes) {
  switch (filling) {
    case any_bits:
    case truths:
      return bytes;
    case floats:
      return sizeof(float);
    case doubles:
      return sizeof(double);
    case long_doubles:
      return sizeof(long double);
    case halves:
      return 2;
    case quadruples:
      return 16;
  }
  return bytes;
}

static void put(unsigned char* to, enum filling filling, size_t bytes, int is_small) {
  const float as_float = (float)small_number();
  const double as_double = small_number();
  const long double as_long_double = (long double)small_number();
  const unsigned short as_half = (unsigned short)(0x3c00 + next_random(&seed) % 0x400);
  switch (filling) {
    case any_bits:
      for (size_t i = 0; i < bytes; ++i) {
        const unsigned char bits = (unsigned char)(next_random(&seed) >> 8);
        to[i] = !is_small ? bits : i == 0 ? bits % 10 : 0; /* little-endian */
      }
      break;
    case truths:
      to[0] = next_random(&seed) >> 8 & 1;
      break;
    case floats:
      memcpy(to, &as_float, sizeof as_float);
      break;
    case doubles:
      memcpy(to, &as_double, sizeof as_double);
      break;
    case long_doubles:
      memcpy(to, &as_long_double, 10);
      break;
    case halves:
      memcpy(to, &as_half, sizeof as_half);
      break;
    case quadruples:
      put_quadruple(to);
      break;
  }
}

/* Fills one element. Every fourth pair has the same value on all ranks, so that the locations
 * matter. */
static void fill_element(unsigned char* to, const struct kind* kind, size_t bytes, int which) {
  const unsigned kept = seed;
  if (which % 4 == 0) seed = (unsigned)which + 1;
  const size_t end = kind->index_at != 0 ? kind->index_at : bytes;
  const size_t part = bytes_of(kind->filling, end);
  for (size_t at = 0; at + part <= end; at += part)
    put(to + at, kind->filling, part, which < small_elements);
  if (which % 4 == 0) seed = kept + 1;
  if (kind->index_at == 0) return;
  if (kind->index_is_number) return put(to + kind->index_at, kind->filling, part, 0);
  const int where = (int)(next_random(&seed) % 1000);
  memcpy(to + kind->index_at, &where, sizeof where);
}

static size_t extent_of(MPI_Datatype type) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower_bound, &extent);
  return (size_t)extent;
}

/* Fills a rank's input, which the others can compute as well. */
static void fill(unsigned char* to, const struct kind* kind, int rank) {
  const size_t extent = extent_of(kind->type);
  memset(to, 0, elements * most_element_bytes);
  seed = 20261125U * (unsigned)(rank + 1);
  for (int i = 0; i < elements; ++i) fill_element(to + (size_t)i * extent, kind, extent, i);
}

/* Returns how many leading elements are equal. Compares the bytes that MPI would send, without the
 * gaps in pairs. */
static int same_elements(const unsigned char* one, const unsigned char* other, MPI_Datatype type) {
  char packed[2][most_element_bytes];
  const size_t extent = extent_of(type);
  int same = 0;
  for (; same < elements; ++same) {
    int sizes[2] = {0, 0};
    const size_t at = (size_t)same * extent;
    MPI_Pack(one + at, 1, type, packed[0], sizeof packed[0], &sizes[0], MPI_COMM_SELF);
    MPI_Pack(other + at, 1, type, packed[1], sizeof packed[1], &sizes[1], MPI_COMM_SELF);
    if (sizes[0] != sizes[1] || memcmp(packed[0], packed[1], (size_t)sizes[0]) != 0) break;
  }
  return same;
}

enum outcome { refused, not_local, differs, small, same, untried };
static const char* const words[] = {"refused", "not local", "differs", "small", "same", "untried"};

static enum outcome outcome_of(const struct kind* kind, MPI_Op op) {
  static unsigned char mine[elements * most_element_bytes];
  static unsigned char left[sizeof mine];
  static unsigned char wanted[sizeof mine];
  static unsigned char gotten[sizeof mine];
  static unsigned char at_root[sizeof mine];
  const int rank = rank_in(MPI_COMM_WORLD);
  fill(mine, kind, rank);
  fill(left, kind, 0);
  fill(wanted, kind, 1);
  memset(gotten, 0, sizeof gotten);
  memset(at_root, 0, sizeof at_root);
  if (MPI_Allreduce(mine, gotten, elements, kind->type, op, MPI_COMM_WORLD) != MPI_SUCCESS) {
    return refused;
  }
  MPI_Reduce(mine, at_root, elements, kind->type, op, 1, MPI_COMM_WORLD);
  if (MPI_Reduce_local(left, wanted, elements, kind->type, op) != MPI_SUCCESS) return not_local;
  int alike = same_elements(gotten, wanted, kind->type);
  if (rank == 1 && alike == elements) alike = same_elements(at_root, wanted, kind->type);
  if (alike == elements) return same;
  return alike >= small_elements ? small : differs;
}

static int without_truth_of_numbers;

static int is_tried(const struct kind* kind, MPI_Op op) {
  const int is_truth = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
  const int is_number = kind->filling != any_bits && kind->filling != truths;
  return !(without_truth_of_numbers && is_truth && is_number);
}

static int is_there(MPI_Datatype type) {
  int bytes = 0;
  return type != MPI_DATATYPE_NULL && MPI_Type_size(type, &bytes) == MPI_SUCCESS && bytes > 0;
}

static const struct named_operator operators[] = {
    OPERATOR(MPI_SUM),     OPERATOR(MPI_PROD),  OPERATOR(MPI_MIN),    OPERATOR(MPI_MAX),
    OPERATOR(MPI_LAND),    OPERATOR(MPI_LOR),   OPERATOR(MPI_LXOR),   OPERATOR(MPI_BAND),
    OPERATOR(MPI_BOR),     OPERATOR(MPI_BXOR),  OPERATOR(MPI_MINLOC), OPERATOR(MPI_MAXLOC),
    OPERATOR(MPI_REPLACE), OPERATOR(MPI_NO_OP),
};
enum { operator_count = sizeof operators / sizeof *operators };

static void try_with_all(const struct kind* kind) {
  if (!is_there(kind->type)) return;
  int own[operator_count];
  int of_other[operator_count];
  for (int i = 0; i < operator_count; ++i) {
    const MPI_Op op = operators[i].op;
    own[i] = is_tried(kind, op) ? (int)outcome_of(kind, op) : (int)untried;
  }
  memcpy(of_other, own, sizeof own);
  MPI_Bcast(of_other, operator_count, MPI_INT, 1, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  for (int i = 0; i < operator_count; ++i) {
    const int outcome = own[i] < of_other[i] ? own[i] : of_other[i];
    printf("%s %s %s\n", kind->name, operators[i].name, words[outcome]);
  }
  fflush(stdout);
}

static void try_named(void) {
  struct index_of {
    struct {
      float value;
      int where;
    } of_float;
    struct {
      double value;
      int where;
    } of_double;
    struct {
      long value;
      int where;
    } of_long;
    struct {
      short value;
      int where;
    } of_short;
    struct {
      long double value;
      int where;
    } of_long_double;
  };
#define INDEX_IN(part) (offsetof(struct index_of, part.where) - offsetof(struct index_of, part))
  const struct kind kinds[] = {
      KIND(MPI_CHAR, any_bits),
      KIND(MPI_SIGNED_CHAR, any_bits),
      KIND(MPI_UNSIGNED_CHAR, any_bits),
      KIND(MPI_WCHAR, any_bits),
      KIND(MPI_BYTE, any_bits),
      KIND(MPI_PACKED, any_bits),
      KIND(MPI_SHORT, any_bits),
      KIND(MPI_UNSIGNED_SHORT, any_bits),
      KIND(MPI_INT, any_bits),
      KIND(MPI_UNSIGNED, any_bits),
      KIND(MPI_LONG, any_bits),
      KIND(MPI_UNSIGNED_LONG, any_bits),
      KIND(MPI_LONG_LONG, any_bits),
      KIND(MPI_UNSIGNED_LONG_LONG, any_bits),
      KIND(MPI_INT8_T, any_bits),
      KIND(MPI_INT16_T, any_bits),
      KIND(MPI_INT32_T, any_bits),
      KIND(MPI_INT64_T, any_bits),
      KIND(MPI_UINT8_T, any_bits),
      KIND(MPI_UINT16_T, any_bits),
      KIND(MPI_UINT32_T, any_bits),
      KIND(MPI_UINT64_T, any_bits),
      KIND(MPI_AINT, any_bits),
      KIND(MPI_OFFSET, any_bits),
      KIND(MPI_COUNT, any_bits),
      KIND(MPI_FLOAT, floats),
      KIND(MPI_DOUBLE, doubles),
      KIND(MPI_LONG_DOUBLE, long_doubles),
      KIND(MPI_C_BOOL, truths),
      KIND(MPI_C_FLOAT_COMPLEX, floats),
      KIND(MPI_C_DOUBLE_COMPLEX, doubles),
      KIND(MPI_C_LONG_DOUBLE_COMPLEX, long_doubles),
      KIND(MPI_CHARACTER, any_bits),
      KIND(MPI_INTEGER, any_bits),
      KIND(MPI_LOGICAL, truths),
      KIND(MPI_REAL, floats),
      KIND(MPI_DOUBLE_PRECISION, doubles),
      KIND(MPI_COMPLEX, floats),
      KIND(MPI_DOUBLE_COMPLEX, doubles),
      PAIR(MPI_FLOAT_INT, floats, INDEX_IN(of_float)),
      PAIR(MPI_DOUBLE_INT, doubles, INDEX_IN(of_double)),
      PAIR(MPI_LONG_INT, any_bits, INDEX_IN(of_long)),
      PAIR(MPI_2INT, any_bits, sizeof(int)),
      PAIR(MPI_SHORT_INT, any_bits, INDEX_IN(of_short)),
      PAIR(MPI_LONG_DOUBLE_INT, long_doubles, INDEX_IN(of_long_double)),
      PAIR(MPI_2INTEGER, any_bits, sizeof(int)),
      NUMBERS(MPI_2REAL, floats, sizeof(float)),
      NUMBERS(MPI_2DOUBLE_PRECISION, doubles, sizeof(double)),
/* Not every MPI has a name for each of these. */
#ifdef MPI_INTEGER1
      KIND(MPI_INTEGER1, any_bits),
      KIND(MPI_INTEGER2, any_bits),
      KIND(MPI_INTEGER4, any_bits),
      KIND(MPI_INTEGER8, any_bits),
#endif
#ifdef MPI_INTEGER16
      KIND(MPI_INTEGER16, any_bits),
#endif
#ifdef MPI_REAL2
      KIND(MPI_REAL2, halves),
#endif
#ifdef MPI_REAL4
      KIND(MPI_REAL4, floats),
      KIND(MPI_REAL8, doubles),
      KIND(MPI_COMPLEX8, floats),
      KIND(MPI_COMPLEX16, doubles),
#endif
#ifdef MPI_REAL16
      KIND(MPI_REAL16, quadruples),
#endif
#ifdef MPI_COMPLEX4
      KIND(MPI_COMPLEX4, halves),
#endif
#ifdef MPI_COMPLEX32
      KIND(MPI_COMPLEX32, quadruples),
#endif
#ifdef MPI_LOGICAL1
      KIND(MPI_LOGICAL1, truths),
      KIND(MPI_LOGICAL2, truths),
      KIND(MPI_LOGICAL4, truths),
      KIND(MPI_LOGICAL8, truths),
#endif
#ifdef MPI_LOGICAL16
      KIND(MPI_LOGICAL16, truths),
#endif
#ifdef MPI_CXX_BOOL
      KIND(MPI_CXX_BOOL, truths),
      KIND(MPI_CXX_FLOAT_COMPLEX, floats),
      KIND(MPI_CXX_DOUBLE_COMPLEX, doubles),
      KIND(MPI_CXX_LONG_DOUBLE_COMPLEX, long_doubles),
#endif
#ifdef MPI_2COMPLEX
      KIND(MPI_2COMPLEX, floats),
      KIND(MPI_2DOUBLE_COMPLEX, doubles),
#endif
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) try_with_all(&kinds[i]);
}

static void try_made(const char* name, MPI_Datatype type, int is_to_be_freed,
                     enum filling filling) {
  struct kind kind = {name, type, filling, 0, 0};
  if (is_to_be_freed) MPI_Type_commit(&kind.type);
  try_with_all(&kind);
  if (is_to_be_freed) MPI_Type_free(&kind.type);
}

static void try_all_made(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_INT, &type);
  try_made("duplicate", type, 1, any_bits);
  MPI_Type_contiguous(1, MPI_INT, &type);
  try_made("contiguous", type, 1, any_bits);
  /* Fortran's parameterized types. */
  if (MPI_Type_create_f90_integer(9, &type) == MPI_SUCCESS)
    try_made("f90_integer", type, 0, any_bits);
  if (MPI_Type_create_f90_real(15, 300, &type) == MPI_SUCCESS)
    try_made("f90_real", type, 0, doubles);
  if (MPI_Type_create_f90_complex(15, 300, &type) == MPI_SUCCESS) {
    try_made("f90_complex", type, 0, doubles);
  }
}

static void name_the_mpi(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n")] = '\0';
  if (rank_in(MPI_COMM_WORLD) == 0) printf("%s\n", version);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(280, "pairs");
  name_the_mpi();
  /* Rejected combinations return an error and are skipped. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  without_truth_of_numbers = argc > 1 && strcmp(argv[1], "without-truth-of-numbers") == 0;
  try_named();
  try_all_made();
  MPI_Finalize();
  return verdict();
}
