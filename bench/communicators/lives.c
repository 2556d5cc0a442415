/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * lives HOW CALLS TIMES: TIMES times, creates a communicator of all ranks (HOW: dup, group, kept)
 * or of one half of them (halves), calls CALLS small collectives on it and frees it. With kept, all
 * communicators are freed at the end. Prints in microseconds the mean and the median life, the
 * median without the collectives, and the first life.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static MPI_Group everybody;

static MPI_Comm made(const char* how, int time) {
  MPI_Comm comm;
  if (strcmp(how, "halves") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, 2 * rank / ranks, rank, &comm);
  } else if (strcmp(how, "group") == 0) {
    MPI_Comm_create_group(MPI_COMM_WORLD, everybody, time & 1, &comm);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  return comm;
}

/* Alternates barriers, 8-byte allreduces and 8-byte broadcasts. */
static void use(MPI_Comm comm, int calls) {
  int size;
  MPI_Comm_size(comm, &size);
  for (int call = 0; call < calls; ++call) {
    double mine = rank + call, sum = 0;
    switch (call % 3) {
      case 0:
        MPI_Barrier(comm);
        break;
      case 1:
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        break;
      default:
        MPI_Bcast(&mine, 1, MPI_DOUBLE, call % size, comm);
    }
  }
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int calls = atoi(argv[2]);
  const int times = atoi(argv[3]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_group(MPI_COMM_WORLD, &everybody);
  double* lives = malloc((size_t)times * sizeof *lives);
  double* ends = malloc((size_t)times * sizeof *ends);
  MPI_Comm* comms = malloc((size_t)times * sizeof *comms);
  const int keeps = strcmp(argv[1], "kept") == 0;
  double first = 0;
  const double begin = MPI_Wtime();
  for (int time = 0; time < times; ++time) {
    const double start = MPI_Wtime();
    comms[time] = made(argv[1], time);
    const double there = MPI_Wtime();
    use(comms[time], calls);
    const double used = MPI_Wtime();
    if (!keeps) MPI_Comm_free(&comms[time]);
    const double end = MPI_Wtime();
    lives[time] = 1e6 * (end - start);
    ends[time] = 1e6 * (end - start - (used - there));
    if (time == 0) first = lives[0];
  }
  const double mean = 1e6 * (MPI_Wtime() - begin) / times;
  if (rank == 0) {
    printf("{\"mean_us\": %.2f, \"median_us\": %.2f, \"empty_us\": %.2f, \"first_us\": %.2f}\n",
           mean, median(lives, times), median(ends, times), first);
  }
  for (int time = 0; keeps && time < times; ++time) MPI_Comm_free(&comms[time]);
  free(comms);
  free(lives);
  free(ends);
  MPI_Group_free(&everybody);
  MPI_Finalize();
  return 0;
}
