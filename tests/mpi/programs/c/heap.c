/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Uses buffers of every origin under a shared heap: allocated before MPI_Init, by malloc, by
 * MPI_Alloc_mem, and copied by a fork.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

enum { count = 1 << 18, most_files = 64 };

/* An unnamed file of huddle that this process has mapped. */
struct file {
  uint64_t inode;
  uint64_t mapped_bytes;
};

static int read_files(struct file files[most_files], const void* address, uint64_t* inode_there) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  int known = 0;
  *inode_there = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t inode = 0;
    if (strstr(line, "memfd:huddle") == NULL) continue;
    sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &begin, &end, &inode);
    if ((uintptr_t)address >= begin && (uintptr_t)address < end) *inode_there = inode;
    int i = 0;
    while (i < known && files[i].inode != inode) ++i;
    if (i == most_files) continue;
    if (i == known) files[known++] = (struct file){inode, 0};
    files[i].mapped_bytes += end - begin;
  }
  if (maps != NULL) fclose(maps);
  return known;
}

/* A heap is recognized by its size, which all heaps and no other files of huddle have. */
static int heaps_mapped(uint64_t cap_bytes) {
  struct file files[most_files];
  uint64_t unused = 0;
  int heaps = 0;
  for (int i = read_files(files, NULL, &unused) - 1; i >= 0; --i) {
    heaps += files[i].mapped_bytes == cap_bytes;
  }
  return heaps;
}

static int is_in_heap(const void* address, uint64_t cap_bytes) {
  struct file files[most_files];
  uint64_t there = 0;
  const int known = read_files(files, address, &there);
  for (int i = 0; i < known; ++i) {
    if (files[i].inode == there && files[i].mapped_bytes == cap_bytes) return 1;
  }
  return 0;
}

static void try(const char* what, double* input, double* output) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) input[i] = i % 1000 + rank;
  for (int root = 0; root < ranks; ++root) {
    memset(output, 0, count * sizeof *output);
    MPI_Allreduce(input, output, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
      wrong += output[i] != (double)(i % 1000) * ranks + ranks * (ranks - 1) / 2;
    }
    expect(wrong == 0, "allreduce with memory %s: %d are wrong", what, wrong);
    if (rank == root) memcpy(output, input, count * sizeof *output);
    MPI_Bcast(output, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    wrong = 0;
    for (int i = 0; i < count; ++i) wrong += output[i] != i % 1000 + root;
    expect(wrong == 0, "bcast with memory %s: %d are wrong", what, wrong);
  }
}

/* Writes of a child must not be visible to the parent. */
static void fork_and_write(double* room) {
  room[0] = room[count - 1] = -5;
  const pid_t child = fork();
  if (child == 0) {
    const int has_all = room[0] == -5 && room[count - 1] == -5;
    for (int i = 0; i < count; ++i) room[i] = -7;
    _exit(has_all ? 0 : 1);
  }
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  expect(status == 0, "a child does not see what its parent had: %d", status);
  expect(room[0] == -5 && room[count - 1] == -5, "a child has written to its parent's memory");
}

static double* from_mpi(uint64_t cap_bytes) {
  void* room = NULL;
  expect(MPI_Alloc_mem(count * sizeof(double), MPI_INFO_NULL, &room) == MPI_SUCCESS,
         "MPI_Alloc_mem has none");
  expect(is_in_heap(room, cap_bytes), "MPI_Alloc_mem's memory is not in the heap");
  return room;
}

/* The MPI allocates small blocks and serves requests with an info object. */
static void give_back(double* room) {
  expect(MPI_Free_mem(room) == MPI_SUCCESS, "MPI_Free_mem does not take its memory back");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", "64");
  const MPI_Aint sizes[] = {1, count * sizeof(double)};
  for (int i = 0; i < 4; ++i) {
    char* bytes = NULL;
    const MPI_Aint size = sizes[i % 2];
    expect(MPI_Alloc_mem(size, i < 2 ? MPI_INFO_NULL : info, &bytes) == MPI_SUCCESS,
           "MPI_Alloc_mem has no %d bytes", (int)size);
    bytes[0] = bytes[size - 1] = 1;
    expect(MPI_Free_mem(bytes) == MPI_SUCCESS, "MPI_Free_mem does not take %d bytes", (int)size);
  }
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  double* early = calloc(count, sizeof *early);
  MPI_Init(&argc, &argv);
  const uint64_t cap_bytes = strtoull(argv[1], NULL, 10);
  double* input = malloc(count * sizeof *input);
  double* output = malloc(count * sizeof *output);
  expect(is_in_heap(input, cap_bytes), "malloc's memory is not in the heap");
  expect(!is_in_heap(early, cap_bytes), "memory from before MPI came up is in the heap");
  try("from malloc", input, output);
  expect(heaps_mapped(cap_bytes) == size_of(MPI_COMM_WORLD), "%d heaps are mapped, of %d ranks",
         heaps_mapped(cap_bytes), size_of(MPI_COMM_WORLD));
  try("from before MPI came up", early, output);
  try("from before MPI came up on every second rank",
      rank_in(MPI_COMM_WORLD) % 2 == 0 ? input : early, output);
  double* given = from_mpi(cap_bytes);
  try("from MPI_Alloc_mem", given, output);
  give_back(given);
  fork_and_write(input);
  try("from before a fork", input, output);
  early = realloc(early, 2 * count * sizeof *early);
  expect(is_in_heap(early, cap_bytes), "what grew is not in the heap");
  try("that grew", early, output);
  free(input);
  MPI_Finalize();
  free(early);
  free(output);
  return verdict();
}
