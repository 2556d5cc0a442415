#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs programs of tests/mpi/programs over hosts, which are namespaces of this machine. They test other activity beside
# collectives: messages, nonblocking collectives and one-sided access while a rank waits in huddle; many communicators;
# calls from several threads. Needs root, iproute2 and bench/peers.
# [PROGRAMS_MPIS="openmpi-4 mpich-5"] [PROGRAMS="progress threads many"] tests/lab/hosts_programs.sh [BUILD_FOLDER]
# MANY="1900 20000 5000": communicators at the same time, communicators in total, and the timeout in seconds.
set -euo pipefail
hosts=(h1 h2)
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
# shellcheck source=tests/lab/between_hosts.sh
. "$(dirname "$0")/between_hosts.sh"
# Without this, more waiting threads than cores take minutes.
export I_MPI_THREAD_YIELD=3
still=$build/tests/mpi/programs/still/libhuddle_preload.so

compile() { # compile MPI PROGRAM
  "$peers/$1/mpicc" -O1 -pthread -o "$lab/program-$1-$2" "tests/mpi/programs/c/$2.c" tests/mpi/programs/c/expect.c
}

# taking MPI: prints the words of a command that lets huddle handle collectives between hosts.
taking() {
  printf '%s\n' env "HUDDLE_NET=$(net_of "$1")" HUDDLE_ACTIVATE_AFTER=0 HUDDLE_STATS=1
}

# calls NAME OPERATION HOW: prints the number of rank 0's calls of an operation that its statistics list as HOW.
calls() {
  awk -v operation="$2" -v how="$3" \
    '$1 == operation && index($0, how) { calls += $2 } END { print calls + 0 }' "$lab/$1"
}

# Checks progress of the MPI while the first or the second rank of a host waits for a rank on the other host.
try_progress() {
  local mpi=$1 what rank name operation
  compile "$mpi" progress
  for what in messages rma; do
    for rank in 0 1; do
      name=$mpi-progress-$what-$rank
      job "$name" "${in_huddle[@]}" "${huddle_launcher[@]}" "$lab/program-$mpi-progress" "$what" 60 "$rank" \
        barrier bcast reduce allreduce
      ! grep -q stuck "$lab/$name" || fail "$name: $(grep stuck "$lab/$name")"
      for operation in barrier bcast reduce allreduce; do
        [ "$(calls "$name" "$operation" '  nodes')" -gt 0 ] || fail "$name: huddle handled no $operation between hosts"
      done
    done
  done
  # This library waits for ranks of its own host without calling the MPI, so that the MPI makes no progress.
  [ ! -e "$still" ] || {
    name=$mpi-progress-still
    timeout "$limit_seconds" "${in_huddle[@]}" "${launcher[@]}" env "LD_PRELOAD=$still" "$lab/program-$mpi-progress" isend 2 1 \
      barrier >"$lab/$name" 2>&1 </dev/null || true
    expect_output "$name" "the MPI progresses without calls of waiting ranks, so this test proves nothing" '^stuck: isend'
  }
}

# Calls from several threads: huddle counts them, and those between hosts fall back to the MPI.
try_threads() {
  local mpi=$1 name=$1-threads operation counted began took
  local -A wanted=([allreduce]=1224 [bcast]=1524 [reduce]=1224 [barrier]=444)
  compile "$mpi" threads
  began=$(date +%s%N)
  job "$name-natively" "${launcher[@]}" "$lab/program-$mpi-threads"
  took=$((($(date +%s%N) - began) / 1000000))
  began=$(date +%s%N)
  job "$name" "${in_huddle[@]}" "${huddle_launcher[@]}" "$lab/program-$mpi-threads"
  echo "$name: $((($(date +%s%N) - began) / 1000000)) ms, natively $took ms"
  for operation in "${!wanted[@]}"; do
    counted=$(calls "$name" "$operation" MPI)
    [ "$counted" = "${wanted[$operation]}" ] || fail "$name: $counted of ${wanted[$operation]} calls of $operation counted"
  done
}

try_many() {
  local mpi=$1 name=$1-many words
  read -ra words <<<"${MANY:-50 200 600}"
  compile "$mpi" many_communicators
  limit_seconds=$((words[2] + 60))
  job "$name-natively" "${launcher[@]}" "$lab/program-$mpi-many_communicators" "${words[@]}"
  job "$name" "${in_huddle[@]}" "${huddle_launcher[@]}" "$lab/program-$mpi-many_communicators" "${words[@]}"
  diff <(grep ^communicators: "$lab/$name-natively") <(grep ^communicators: "$lab/$name") >&2 ||
    fail "$name: fewer communicators than natively"
  expect_output "$name" "huddle handled no allreduce between hosts" "$taken"
  echo "$name: $(grep ^communicators: "$lab/$name"), $(calls "$name" allreduce '  nodes') allreduces between hosts"
}

bring_up
for mpi in ${PROGRAMS_MPIS:-openmpi-4 openmpi-5 mpich-5 intel}; do
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: skipped: $peers/$mpi does not exist; run bench/peers"
    continue
  fi
  seated "$mpi" two
  mapfile -t in_huddle < <(taking "$mpi")
  for program in ${PROGRAMS:-progress threads many}; do
    case $program in
      progress) try_progress "$mpi" ;;
      threads) try_threads "$mpi" ;;
      many) try_many "$mpi" ;;
    esac
  done
  echo "$mpi: tested on ${#hosts[@]} hosts"
done
exit "$status"
