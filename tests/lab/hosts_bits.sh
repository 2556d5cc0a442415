#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks sums of floats over four hosts, which are namespaces of this machine: for a given placement, the bits of the
# results are the same under every MPI, by every algorithm between nodes, and with one to three leaders per node (the
# maximum). Needs root, iproute2 and bench/peers. BITS_MPIS: the MPIs to test. tests/lab/hosts_bits.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
# Intel MPI's ranks do not yield their cores.
limit_seconds=600
# The algorithms that each run forces. A shorter list repeats its last algorithm.
allreduces=(doubling halving slices)
reduce_scatters=(halving slices slices)

# run MPI NAME HOW [SETTING...]: runs a job and checks that huddle handled its sums between nodes with algorithm HOW.
run() {
  local mpi=$1 name=$2 how=$3
  shift 3
  job "$name" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_ACTIVATE_AFTER=0 "$@" "$build/bin/huddle" run --stats \
    "${launcher[@]}" "$lab/$mpi-program" brief
  expect_output "$name" "no allreduce between nodes used '$how'" "^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  nodes: $how"
}

bring_up
declare -A first
for mpi in ${BITS_MPIS:-openmpi-4 openmpi-5 mpich-5 intel}; do
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: skipped: $peers/$mpi does not exist; run bench/peers"
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
      # Output of a rank and of huddle can share a line.
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
