#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Sums of floats over four hosts, which are namespaces of this machine: the same bits under every MPI and
# by every algorithm between nodes that is forced, by one to three leaders of each node (as many as there can be); a
# placement has bits of its own. Needs root, iproute2 and bench/peers. BITS_MPIS: which of them. tests/lab/hosts_bits.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
# Intel MPI's ranks do not give their cores away.
limit_seconds=600
# As many runs as the longest list has; the last of a shorter one is forced again.
allreduces=(doubling halving slices)
reduce_scatters=(halving slices slices)

# run MPI NAME HOW [SETTING...]: a job whose sums are huddle's, and went between nodes so.
run() {
  local mpi=$1 name=$2 how=$3
  shift 3
  job "$name" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_JOIN_AFTER=0 "$@" "$build/bin/huddle" run --stats \
    "${launcher[@]}" "$lab/$mpi-program" brief
  says "$name" "no allreduce went between nodes by '$how'" "^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  nodes: $how"
}

bring_up
declare -A first
for mpi in ${BITS_MPIS:-openmpi-4 openmpi-5 mpich-5 intel}; do
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: passed over: $peers/$mpi is not there, bench/peers sets it up"
    continue
  fi
  "$peers/$mpi/mpicc" -O1 -o "$lab/$mpi-program" tests/mpi/programs/c/{several_nodes,expect}.c
  for layout in blocks turns uneven single threes; do
    seated "$mpi" "$layout"
    for number in chosen "${!allreduces[@]}" two-leaders three-leaders; do
      settings=() how='[a-z]+'
      case $number in
        chosen) ;;
        two-leaders)
          case $layout in uneven | single) continue ;; esac
          settings=(HUDDLE_NET_LEADERS=2) how='[a-z]+ by 2 leaders'
          ;;
        three-leaders)
          [ "$layout" = threes ] || continue
          settings=(HUDDLE_NET_LEADERS=3) how='[a-z]+ by 3 leaders'
          ;;
        *)
          settings=(HUDDLE_NET_ALGO="allreduce:${allreduces[number]},reduce_scatter:${reduce_scatters[number]}")
          how=${allreduces[number]}
          ;;
      esac
      run "$mpi" "$mpi-$layout-$number" "$how" "${settings[@]}"
      # What ranks write and what huddle says of them may come in one line.
      bits=$(grep -o 'sums: [0-9a-f]*' "$lab/$mpi-$layout-$number") || true
      : "${first[$layout]:=$bits}"
      if [ -z "$bits" ] || [ "$bits" != "${first[$layout]}" ]; then
        fail "$mpi, $layout, ${settings[*]:-by choice}: sums '$bits', before '${first[$layout]}'"
      fi
    done
    echo "$mpi, $layout: ${first[$layout]}"
  done
done
exit "$status"
