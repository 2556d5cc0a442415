#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Times collectives over four hosts, which are namespaces of this machine, with links of 100 Mbit/s: Open MPI 4.1 by
# default, with tuned, with han, and with huddle, alternating, with the ranks in blocks, round-robin, 3+1+2+1 and one
# per host. Prints the ratios, and predicted and measured times of huddle. Use an idle machine. Needs root, iproute2
# and bench/peers.
# TIME_FORCED=yes: compares the algorithm that huddle chooses with each of its algorithms between nodes instead of
# the MPI's.
# [TIME_SIZES="8192 1048576"] [TIME_LAYOUTS="blocks uneven"] [TIME_ROUNDS=3] [TIME_RATE=100mbit]
# tests/lab/hosts_time.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
read -ra sizes <<<"${TIME_SIZES:-8192 16384 32768 65536 131072 262144 524288 1048576}"
mpi=openmpi-4
repetitions=11
huddle=$build/bin/huddle
times=$lab/times
predicted=$lab/predicted

# time_side LAYOUT SIDE COMMAND...: appends lines "LAYOUT SIDE OPERATION BYTES NS" to the times.
time_side() {
  local layout=$1 side=$2
  shift 2
  job "$layout-$side" "$@" "$lab/program" "$repetitions" "${sizes[@]}"
  sed -n "s/^time /$layout $side /p" "$lab/$layout-$side" >>"$times"
}

# with_huddle LAYOUT SIDE [NAME=VALUE...]: like time_side, with huddle and these settings.
with_huddle() {
  local layout=$1 side=$2
  shift 2
  time_side "$layout" "$side" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_ACTIVATE_AFTER=0 HUDDLE_MACHINE="$lab/$layout.toml" "$@" \
    "$huddle" run "${launcher[@]}"
}

# Each run forces one algorithm per operation. Later runs leave out operations with shorter lists.
bcasts=(knomial chain scatter-ring scatter-doubling circulant)
allreduces=(doubling halving slices)
allgathers=(ring neighbor doubling bruck sparbit far-first)
by_force() {
  local layout=$1 number bcast allreduce
  for number in "${!allgathers[@]}"; do
    bcast=${bcasts[number]:-} allreduce=${allreduces[number]:-}
    with_huddle "$layout" "forced-$number" \
      HUDDLE_NET_ALGO="allgather:${allgathers[number]}${bcast:+,bcast:$bcast}${allreduce:+,allreduce:$allreduce}"
  done
}

predict() {
  local layout=$1 operation size bytes
  for size in "${sizes[@]}"; do
    for operation in bcast allreduce allgather; do
      bytes=$size
      # The block of a rank is a whole number of doubles.
      [ $operation != allgather ] || bytes=$((8 * (size / (8 * ranks))))
      # shellcheck disable=SC2046  # words
      echo "$layout $operation $size $("$huddle" explain $operation "$bytes" $(placed_words "$layout") \
        --machine "$lab/$layout.toml" --json)" >>"$predicted"
    done
  done
}

bring_up
shape "${TIME_RATE:-100mbit}"
"$peers/$mpi/mpicc" -O1 -o "$lab/program" tests/lab/hosts_time.c
read -ra layouts <<<"${TIME_LAYOUTS:-blocks turns uneven single}"
for layout in "${layouts[@]}"; do
  seated "$mpi" "$layout"
  job "$layout-calibrate" "$huddle" calibrate --network --output "$lab/$layout.toml" "${launcher[@]}"
  predict "$layout"
done
for ((round = 0; round < ${TIME_ROUNDS:-3}; ++round)); do
  for layout in "${layouts[@]}"; do
    seated "$mpi" "$layout"
    if [ "${TIME_FORCED:-}" = yes ]; then
      by_force "$layout"
    else
      time_side "$layout" default "${launcher[@]}"
      time_side "$layout" tuned "${launcher[@]}" --mca coll '^han,adapt'
      time_side "$layout" han "${launcher[@]}" --mca coll_han_priority 100
    fi
    with_huddle "$layout" huddle
  done
done
python3 -B tests/lab/hosts_time_result.py "$times" "$predicted"
exit "$status"
