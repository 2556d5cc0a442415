#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# The four allgathers that the paper on the neighbor exchange compares, at its three sizes of a block, over
# eight hosts, which are namespaces of this machine, with links of 100 Mbit/s: Open MPI 4.1's own, forced, call
# by call in turns, one rank and two ranks a host. Once more with messages that are all sent unasked: what a
# rendezvous costs is no matter of the algorithm. Needs root, iproute2 and bench/peers.
# [ALLGATHERS_ROUNDS=4] [ALLGATHERS_RATE=100mbit] tests/lab/hosts_allgathers.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4 h5 h6 h7 h8)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
mpi=openmpi-4
repetitions=8
blocks=(8 8192 122880)
rate=${ALLGATHERS_RATE:-100mbit}
# More than the largest message, half of what all ranks have.
unasked_bytes=2097152

# As a card of that rate has it, each way.
shape() {
  local host keeper
  for host in "${hosts[@]}"; do
    keeper=$(cat "$lab/$host.pid")
    tc qdisc add dev "to_$host" root tbf rate "$rate" burst 16kb latency 50ms
    nsenter -t "$keeper" -n tc qdisc add dev eth0 root tbf rate "$rate" burst 16kb latency 50ms
  done
}

# One job has all four: a communicator made while an algorithm is forced keeps to it. Each rank times its own
# part and the slowest counts: hosts have no clock in common. Rank 0 prints "time ALGORITHM CALL BLOCK NS".
compile() {
  "$peers/$mpi/mpicc" -x c -O1 -o "$lab/program" - <<'PROGRAM'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { algorithms = 4 };
static const char* const names[algorithms] = {"ring", "doubling", "bruck", "neighbor"};
/* By `ompi_info --param coll tuned --level 9`. */
static const int numbers[algorithms] = {4, 3, 2, 5};

static MPI_Comm keeping_to(int number) {
  int index = 0, count = 0;
  MPI_T_cvar_handle handle;
  MPI_Comm comm = MPI_COMM_NULL;
  if (MPI_T_cvar_get_index("coll_tuned_allgather_algorithm", &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS ||
      MPI_T_cvar_write(handle, &number) != MPI_SUCCESS) {
    fprintf(stderr, "no algorithm can be forced\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_T_cvar_handle_free(&handle);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1, provided = 0;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm comms[algorithms];
  for (int which = 0; which < algorithms; ++which) comms[which] = keeping_to(numbers[which]);
  const int repetitions = atoi(argv[1]);
  for (int word = 2; word < argc; ++word) {
    const int block = atoi(argv[word]);
    char* const in = calloc(1, (size_t)block);
    char* const out = calloc((size_t)ranks, (size_t)block);
    /* The first call of each sets up what it needs. */
    for (int call = -1; call < repetitions; ++call) {
      for (int turn = 0; turn < algorithms; ++turn) {
        const int which = (turn + call + 1) % algorithms;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        MPI_Allgather(in, block, MPI_BYTE, out, block, MPI_BYTE, comms[which]);
        const double own = 1e9 * (MPI_Wtime() - start);
        double slowest = 0;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0 && call >= 0) printf("time %s %d %d %.0f\n", names[which], call, block, slowest);
      }
    }
    free(in);
    free(out);
  }
  for (int which = 0; which < algorithms; ++which) MPI_Comm_free(&comms[which]);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
PROGRAM
}

# seat_ranks LAYOUT. after: $launcher
seat_ranks() {
  case $1 in
    eight) seated "$mpi" eight ;;
    sixteen) mapfile -t launcher < <(launcher_of "$mpi"; seating_of "$mpi") ;;
  esac
}

# time_round LAYOUT SENDING ROUND: adds "LAYOUT SENDING ROUND ALGORITHM CALL BLOCK NS" to the times.
time_round() {
  local name="$1-$2" sending=()
  [ "$2" = as-set ] || sending=(--mca btl_tcp_eager_limit "$unasked_bytes"
    --mca btl_tcp_rndv_eager_limit "$unasked_bytes" --mca btl_tcp_max_send_size "$unasked_bytes")
  job "$name" "${launcher[@]}" --mca coll '^han,adapt' --mca coll_tuned_use_dynamic_rules 1 "${sending[@]}" \
    "$lab/program" "$repetitions" "${blocks[@]}"
  sed -n "s/^time /$1 $2 $3 /p" "$lab/$name" >>"$lab/times"
}

bring_up
shape
compile
rounds=${ALLGATHERS_ROUNDS:-4}
for ((round = 1; round <= rounds; ++round)); do
  for layout in eight sixteen; do
    seat_ranks "$layout"
    for sending in as-set unasked; do time_round "$layout" "$sending" "$round"; done
  done
  echo "round $round of $rounds, load $(cut -d ' ' -f 1 /proc/loadavg)"
done
python3 -B tests/lab/hosts_allgathers_result.py "$lab/times" "$rate" || status=1
exit "$status"
