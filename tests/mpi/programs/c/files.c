/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * files PATH: parallel I/O, which an MPI implements with its collectives.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { numbers = 5000 };

static void succeed(const char* what, int status) {
  expect(status == MPI_SUCCESS, "%s gives %d", what, status);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  int* mine = malloc(numbers * sizeof *mine);
  int* back = calloc(numbers, sizeof *back);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < numbers; ++i) mine[i] = i * ranks + rank + round;
    MPI_File file;
    succeed("open", MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                                  MPI_INFO_NULL, &file));
    MPI_Datatype every;
    MPI_Type_vector(numbers, 1, ranks, MPI_INT, &every);
    MPI_Type_commit(&every);
    char native[] = "native";
    succeed("view", MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, every, native,
                                      MPI_INFO_NULL));
    succeed("write", MPI_File_write_all(file, mine, numbers, MPI_INT, MPI_STATUS_IGNORE));
    succeed("sync", MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    succeed("read", MPI_File_read_at_all(file, 0, back, numbers, MPI_INT, MPI_STATUS_IGNORE));
    expect(memcmp(mine, back, numbers * sizeof *mine) == 0, "a file gives other numbers back");
    MPI_Offset bytes = 0;
    MPI_File_get_size(file, &bytes);
    expect(bytes == (MPI_Offset)sizeof(int) * numbers * ranks, "a file has %lld bytes",
           (long long)bytes);
    MPI_Type_free(&every);
    succeed("close", MPI_File_close(&file));
    int sum = -1;
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == round * ranks, "between files allreduce gives %d", sum);
  }
  free(mine);
  free(back);
  MPI_Finalize();
  return verdict();
}
