#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `huddle run` over several hosts, which are namespaces of this machine: h1 and h2, and this script as
# the host from which jobs are started. Needs root and iproute2. The MPIs are those that bench/peers has
# set up; one that is not there is passed over, with a word. tests/lab/hosts.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"

try() {
  local mpi=$1 program=$lab/$1-program launcher rank host
  local preload=$build/lib/huddle/libhuddle_preload.so
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: passed over: $peers/$mpi is not there, bench/peers sets it up"
    return
  fi
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/mpi/programs/c/{communicators,expect}.c
  mapfile -t launcher < <(launcher_of "$mpi"; seating_of "$mpi")
  # The library is in every rank, wherever it is.
  # shellcheck disable=SC2016  # for the ranks' shell
  job "$mpi-ranks" "$build/bin/huddle" run "${launcher[@]}" \
    sh -c 'echo "on $(hostname): $(grep -c -m 1 libhuddle_preload /proc/self/maps)"'
  for host in "${hosts[@]}"; do
    rank=$(grep -c "^on $host: 1" "$lab/$mpi-ranks") || true
    [ "$rank" = 2 ] || fail "$mpi-ranks: huddle is in $rank of 2 ranks on $host: $(cat "$lab/$mpi-ranks")"
  done
  # What is on one host is taken, what is on both is the MPI's.
  job "$mpi-run" env HUDDLE_JOIN_AFTER=8 "$build/bin/huddle" run --stats "${launcher[@]}" "$program"
  says "$mpi-run" "huddle took no allreduce" '^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  [^M]'
  says "$mpi-run" "no allreduce over both hosts" '^allreduce .*  MPI: several nodes'
  # huddle on one host only: nobody waits for anybody.
  # shellcheck disable=SC2016  # for the ranks' shell
  job "$mpi-half" "${launcher[@]}" sh -c '[ "$(hostname)" = h1 ] && export LD_PRELOAD="$1" HUDDLE_STATS=1 HUDDLE_JOIN_AFTER=8; exec "$2"' \
    sh "$preload" "$program"
  says "$mpi-half" "huddle took no allreduce" '^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  [^M]'
  echo "$mpi: tried on ${#hosts[@]} hosts"
}

bring_up
for mpi in openmpi-4 openmpi-5 mpich-5; do try "$mpi"; done
exit "$status"
