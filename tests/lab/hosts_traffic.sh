#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Counts the bytes that collectives of 1 MiB send between hosts, which are namespaces of this machine, by the counters
# of their interfaces. Compares those of huddle with its schedules, and with the MPI alone in the same placement: ranks
# in blocks, round-robin, 3+1+2+1 and one on each of five hosts. Load on the machine does not affect the result.
# Needs root, iproute2 and bench/peers. [TRAFFIC_MPI=openmpi-4] tests/lab/hosts_traffic.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4 h5)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
mpi=${TRAFFIC_MPI:-openmpi-4}
huddle=$build/bin/huddle
bytes=1048576
repetitions=5
operations=(bcast allgather allreduce reduce_scatter_block alltoall)
# With generic constants the all-to-all would fall back to the MPI.
export HUDDLE_NET_ALGO=alltoall:pairwise

# explained LAYOUT OPERATION: prints the output of huddle explain --json. Its size is that of one block, or of the whole
# vector for a reduction.
explained() {
  local of_call=$bytes
  case $2 in
    allgather | alltoall) of_call=$((8 * (bytes / 8 / ranks))) ;;
    reduce_scatter_block) of_call=$((8 * ranks * (bytes / 8 / ranks))) ;;
  esac
  # shellcheck disable=SC2046  # words
  "$huddle" explain "$2" "$of_call" $(placed_words "$1") --json
}

# schedule_of OPERATION EXPLAINED: prints the schedule between the nodes with the parameters that explain chose.
schedule_of() {
  local words
  words=$(python3 -B - "$1" "$2" <<'PROGRAM'
import json, sys
answer = json.loads(sys.argv[2])
part = next(part for part in answer["parts"] if part["where"] == "between")
operation = sys.argv[1].removesuffix("_block")
print(f"{operation}:{part['algorithm']} -n {answer['nodes']} --radix {part['radix']} --segments {part['segments']}")
PROGRAM
  )
  # shellcheck disable=SC2086  # words
  "$huddle" schedule $words --json
}

bring_up
"$peers/$mpi/mpicc" -O1 -o "$lab/program" tests/lab/hosts_traffic.c
for layout in blocks turns uneven five; do
  seated "$mpi" "$layout"
  job "$layout-native" "${launcher[@]}" "$lab/program" $repetitions $bytes "${operations[@]}"
  job "$layout-huddle" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_ACTIVATE_AFTER=0 "$huddle" run --stats \
    "${launcher[@]}" "$lab/program" $repetitions $bytes "${operations[@]}"
  for side in native huddle; do sed -n "s/^traffic /$layout $side /p" "$lab/$layout-$side" >>"$lab/traffic"; done
  for operation in "${operations[@]}"; do
    answer=$(explained "$layout" "$operation")
    printf '%s\t%s\t%s\t%s\n' "$layout" "$operation" "$answer" "$(schedule_of "$operation" "$answer")" >>"$lab/claims"
  done
done
python3 -B tests/lab/hosts_traffic_result.py "$lab/traffic" "$lab/claims" || status=1
exit "$status"
