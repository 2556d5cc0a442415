#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Times small collectives of two ranks on two hosts, which are namespaces of this machine: under each MPI, alternating
# between jobs without and with huddle. huddle can gain nothing there, and must not lose. Best on an idle machine.
# Needs root, iproute2 and bench/peers.
# [SMALL_MPIS="openmpi-4 intel"] [SMALL_ROUNDS=15] tests/lab/hosts_small.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
# An allgather of 16 bytes has one number of each rank.
sizes=(0 8 16 64 512 4096)
repetitions=201
times=$lab/times

# time_side MPI SIDE COMMAND...: appends lines "MPI SIDE OPERATION BYTES NS" to the times.
time_side() {
  local name=$1-$2 mpi=$1 side=$2
  shift 2
  job "$name" "$@" "$lab/$mpi-program" "$repetitions" "${sizes[@]}"
  sed -n "s/^tenth /$mpi $side /p" "$lab/$name" >>"$times"
}

bring_up
mpis=()
for mpi in ${SMALL_MPIS:-openmpi-4 openmpi-5 mpich-5 intel}; do
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: skipped: $peers/$mpi does not exist; run bench/peers"
    continue
  fi
  "$peers/$mpi/mpicc" -O1 -o "$lab/$mpi-program" tests/lab/hosts_time.c
  mpis+=("$mpi")
done
for ((round = 0; round < ${SMALL_ROUNDS:-15}; ++round)); do
  for mpi in "${mpis[@]}"; do
    seated "$mpi" pair
    time_side "$mpi" native "${launcher[@]}"
    time_side "$mpi" huddle env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_ACTIVATE_AFTER=0 "${huddle_launcher[@]}"
  done
done
python3 -B tests/lab/hosts_small_result.py "$times" || status=1
exit "$status"
