#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# What collectives of 1 MiB send between hosts, which are namespaces of this machine, by the counters of
# their interfaces: by huddle beside what its schedules say, and beside the MPI alone in the same placement.
# Ranks in blocks, in turns, 3+1+2+1 and one on each of five. How busy the machine is makes no difference.
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
# What would be left to the MPI by generic constants.
export HUDDLE_NET_ALGO=alltoall:pairwise

# What huddle explain says of an operation: a request has the bytes of one block, but for a reduction.
explained() { # explained LAYOUT OPERATION
  local of_call=$bytes
  case $2 in
    allgather | alltoall) of_call=$((8 * (bytes / 8 / ranks))) ;;
    reduce_scatter_block) of_call=$((8 * ranks * (bytes / 8 / ranks))) ;;
  esac
  # shellcheck disable=SC2046  # words
  "$huddle" explain "$2" "$of_call" $(placed_words "$1") --json
}

# The rounds of the schedule between the nodes, by the numbers that were chosen for it.
schedule_of() { # schedule_of OPERATION EXPLAINED
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
  job "$layout-huddle" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_JOIN_AFTER=0 "$huddle" run --stats \
    "${launcher[@]}" "$lab/program" $repetitions $bytes "${operations[@]}"
  for side in native huddle; do sed -n "s/^traffic /$layout $side /p" "$lab/$layout-$side" >>"$lab/traffic"; done
  for operation in "${operations[@]}"; do
    answer=$(explained "$layout" "$operation")
    printf '%s\t%s\t%s\t%s\n' "$layout" "$operation" "$answer" "$(schedule_of "$operation" "$answer")" >>"$lab/claims"
  done
done
python3 -B tests/lab/hosts_traffic_result.py "$lab/traffic" "$lab/claims" || status=1
exit "$status"
