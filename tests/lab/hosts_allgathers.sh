#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Times the four allgathers that the paper on the neighbor exchange compares, with its three block sizes, over eight
# hosts, which are namespaces of this machine, with links of 100 Mbit/s: the algorithms of Open MPI 4.1, alternating
# call by call, with one and two ranks per host. Repeats this with all messages sent eagerly, because the cost of a
# rendezvous does not depend on the algorithm. Needs root, iproute2 and bench/peers.
# [ALLGATHERS_ROUNDS=4] [ALLGATHERS_RATE=100mbit] tests/lab/hosts_allgathers.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4 h5 h6 h7 h8)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
mpi=openmpi-4
repetitions=8
blocks=(8 8192 122880)
rate=${ALLGATHERS_RATE:-100mbit}
# An eager limit above the largest message, which is half of all ranks' data.
unasked_bytes=2097152

# seat_ranks LAYOUT: sets $launcher.
seat_ranks() {
  case $1 in
    eight) seated "$mpi" eight ;;
    sixteen) mapfile -t launcher < <(launcher_of "$mpi"; seating_of "$mpi") ;;
  esac
}

# time_round LAYOUT SENDING ROUND: appends lines "LAYOUT SENDING ROUND ALGORITHM CALL BLOCK NS" to the times.
time_round() {
  local name="$1-$2" sending=()
  [ "$2" = as-set ] || sending=(--mca btl_tcp_eager_limit "$unasked_bytes"
    --mca btl_tcp_rndv_eager_limit "$unasked_bytes" --mca btl_tcp_max_send_size "$unasked_bytes")
  job "$name" "${launcher[@]}" --mca coll '^han,adapt' --mca coll_tuned_use_dynamic_rules 1 "${sending[@]}" \
    "$lab/program" "$repetitions" "${blocks[@]}"
  sed -n "s/^time /$1 $2 $3 /p" "$lab/$name" >>"$lab/times"
}

bring_up
shape "$rate"
"$peers/$mpi/mpicc" -O1 -o "$lab/program" tests/lab/hosts_allgathers.c
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
