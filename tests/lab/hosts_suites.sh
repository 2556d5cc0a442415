#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs test suites and programs of other projects (tests/mpi/suites) over hosts, which are namespaces of this machine:
# their results with huddle between the hosts must be the same as without, in the same placement. Needs root, iproute2
# and bench/peers. Reports the MPIs that it skips.
# [SUITES_MPIS="openmpi-4 mpich-5"] [SUITES_LAYOUTS="blocks uneven"] [SUITES="mpich mpi4py imb lammps"]
# tests/lab/hosts_suites.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4 h5)
work=$(realpath "$(dirname "$0")/../..")/build/test-all/suites
# The namespaces have no access to the network, so the sources are downloaded first.
case ${1:-} in
  --inside | --agent) ;;
  *) python3 -B "$(dirname "$0")/../mpi/suites/fetch.py" "$work" ;;
esac
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
# shellcheck source=tests/lab/between_hosts.sh
. "$(dirname "$0")/between_hosts.sh"
# A folder like that of bench/peers, in which `run` starts jobs over the hosts.
cache=$lab/cache

# spread MPI LAYOUT: makes later jobs of that MPI use the layout. Sets $ranks.
spread() {
  local mpi=$1 layout=$2 home=$cache/huddle/peers/$1 file words=() word
  seated "$mpi" "$layout"
  mkdir -p "$home"
  for file in env include mpicc python venv; do
    [ ! -e "$peers/$mpi/$file" ] || ln -sfn "$peers/$mpi/$file" "$home/$file"
  done
  # Removes the number of ranks from the command, because the suite sets it.
  for word in "${!launcher[@]}"; do
    case ${launcher[word]} in
      -n) ;;
      "$ranks") [ "${launcher[word - 1]}" = -n ] || words+=("${launcher[word]}") ;;
      *) words+=("${launcher[word]}") ;;
    esac
  done
  # By default mpi4py requests MPI_THREAD_MULTIPLE, with which calls between nodes fall back to the MPI.
  {
    echo '#!/bin/sh'
    echo ". $(printf %q "$peers/$mpi/env")"
    # shellcheck disable=SC2016  # for that shell
    echo 'ranks=$2 && shift 2'
    # shellcheck disable=SC2016  # for that shell
    printf 'exec %s -n "$ranks" env HUDDLE_NET=%s MPI4PY_RC_THREAD_LEVEL=serialized "$@"\n' \
      "$(printf '%q ' "${words[@]}")" "$(net_of "$mpi")"
  } >"$home/run"
  chmod +x "$home/run"
}

# judge NAME SUITE [ARGUMENT...]: runs a suite and checks its result.
judge() {
  local name=$1 outcome=0
  XDG_CACHE_HOME=$cache python3 -B "tests/mpi/suites/$2.py" --libraries "$build/lib/huddle" "${@:3}" \
    >"$lab/$name" 2>&1 </dev/null || outcome=$?
  case $outcome in
    0) expect_output "$name" "huddle handled no collective between hosts" ' [1-9][0-9]* of them between nodes' ;;
    77)
      echo "$name: skipped: $(tail -n 1 "$lab/$name")"
      return
      ;;
    *) fail "$name: $(cat "$lab/$name")" ;;
  esac
  nothing_is_left "$name"
  echo "$name: $(grep -c FAILED "$lab/$name" || true) findings, $(grep taken "$lab/$name" | tail -n 1)"
}

# Prints the suites to run under an MPI.
suites_of() {
  case $1 in
    openmpi-4) echo mpich mpi4py lammps ;;
    openmpi-5) echo mpi4py ;;
    mpich-5) echo mpich mpi4py imb ;;
    intel) echo mpi4py imb ;;
  esac
}

try_suite() {
  local mpi=$1 layout=$2 suite=$3 name=$1-$2-$3 lone=() way=verify
  # MPICH's ranks on shared cores take about 15 ms for each collective, so it runs without --verify.
  [ "$mpi" != mpich-5 ] || way=plain
  case $layout in five | single) lone=(--passes gatherv scatterv alltoallv) ;; esac
  case $suite in
    mpich) judge "$name" mpich_tests --work "$work" --mpi "$mpi" --ranks "$ranks" --folders coll --ways "$way" ;;
    mpi4py)
      judge "$name" mpi4py_suite --work "$work" --mpi "$mpi" --ranks "$ranks" --modules collectives --ways "$way"
      ;;
    imb) judge "$name" imb --mpi "$mpi" --ranks "$ranks" "${lone[@]}" ;;
    lammps) judge "$name" lammps --work "$work" --ranks "$ranks" ;;
  esac
}

bring_up
# Hides the shared memory of other jobs on this machine.
mount -t tmpfs none /dev/shm
# All MPIs run the benchmarks that are in Intel's package.
[ ! -x "$peers/intel/mpicc" ] || spread intel blocks
for mpi in ${SUITES_MPIS:-openmpi-4 openmpi-5 mpich-5 intel}; do
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: skipped: $peers/$mpi does not exist; run bench/peers"
    continue
  fi
  for layout in ${SUITES_LAYOUTS:-blocks turns uneven five}; do
    spread "$mpi" "$layout"
    for suite in $(suites_of "$mpi"); do
      case " ${SUITES:-mpich mpi4py imb lammps} " in *" $suite "*) try_suite "$mpi" "$layout" "$suite" ;; esac
    done
  done
done
exit "$status"
