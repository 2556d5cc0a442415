/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Ranks start other programs between and during their collectives: by fork and exec, by fork alone,
 * and by system().
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

static void use(MPI_Comm comm, int i) {
  int all = -1;
  MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comm);
  expect(all == i * size_of(comm), "allreduce gives %d in round %d", all, i);
  int word = rank_in(comm) == 0 ? i : -1;
  MPI_Bcast(&word, 1, MPI_INT, 0, comm);
  expect(word == i, "bcast gives %d in round %d", word, i);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 12; ++i) {
    use(MPI_COMM_WORLD, i);
    const pid_t child = fork();
    if (child == 0) {
      if (i % 3 == 0) execl("/bin/true", "true", (char*)NULL);
      _exit(0);
    }
    use(MPI_COMM_WORLD, i + 1);
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    expect(status == 0, "a child ended with %d", status);
    expect(i % 6 != 0 || system("true") == 0, "system() fails");
  }
  MPI_Finalize();
  return verdict();
}
