#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `huddle run` over several hosts, which are namespaces of this machine: h1 to h4, and this script as
# the host from which jobs are started. Needs root and iproute2. The MPIs are those that bench/peers has
# set up; one that is not there is passed over, with a word. tests/lab/hosts.sh [BUILD_FOLDER]
# HOSTS_MPIS: which of them (intel as well, whose ranks do not give their cores away: slow on few);
# HOSTS_DEATHS: how many ranks are killed, each in a job of its own (2).
# HOSTS_BRIEF=yes: what `make test` has time for, two placements and what was measured between hosts.
# Status 77: there is no root.
set -euo pipefail
hosts=(h1 h2 h3 h4)
status_without_root=77
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
preload=$build/lib/huddle/libhuddle_preload.so
taken='^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  nodes'
within='^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  [^Mn]'
passed='^allreduce .*  MPI: several nodes'
predicted=(barrier bcast reduce allreduce allgather allgatherv alltoall gather scatter reduce_scatter reduce_scatter_block)
all_taken=("${predicted[@]}" alltoallv gatherv scatterv)

# So many ranks of 4 x 2, one after the other: even ones are the first of their host.
doomed_ranks() {
  local number
  for ((number = 0; number < $1; ++number)); do echo $(((2 + 3 * number) % 8)); done
}

# Files that huddle would leave, and ranks that would go on.
nothing_is_left() {
  local host keeper left
  for host in "${hosts[@]}"; do
    keeper=$(cat "$lab/$host.pid")
    left=$(nsenter -t "$keeper" -m "--pid=/proc/$keeper/ns/pid_for_children" sh -c \
      'ls /dev/shm | grep huddle; ps -e -o stat= -o comm= | grep -v ^Z | grep -- "-dying"' || true)
    [ -z "$left" ] || fail "$1: left on $host: $left"
  done
}

# What lies between the hosts is measured, and the MPI's own collectives as well: where these are quicker,
# they are called, but for sums of floats, whose bits are huddle's.
try_measured() {
  local mpi=$1 program=$lab/$1-several file=$lab/$1.toml operation
  seated "$mpi" blocks
  job "$mpi-calibrate" "$build/bin/huddle" calibrate --quick --network --output "$file" "${launcher[@]}"
  says "$mpi-calibrate" "nothing was measured between hosts" '^ *2M +[0-9.]+ '
  [ -s "$file" ] || return 0
  for operation in "${predicted[@]}"; do
    grep -A 2 '^\[\[mpi_collective\]\]' "$file" | grep -q "^operation = \"$operation\"" ||
      fail "$mpi-calibrate: no $operation of the MPI's in $file"
  done
  if ! grep -q '^hosts = 4' "$file" || ! grep -q '^ranks = 8' "$file"; then
    fail "$mpi-calibrate: other hosts or ranks in $file"
  fi
  # As if all of its took a nanosecond.
  sed -i '/^\[\[mpi_collective\]\]/,/^ns/ s/^ns = .*/ns = [1, 1]/; /operation = "barrier"/,/^ns/ s/^ns = .*/ns = [1]/' "$file"
  job "$mpi-measured" env HUDDLE_MACHINE="$file" HUDDLE_NET="$(net_of "$mpi")" HUDDLE_JOIN_AFTER=0 \
    "$build/bin/huddle" run --stats "${launcher[@]}" "$program"
  says "$mpi-measured" "no broadcast was left to an MPI that is quicker" '^bcast .*  MPI: predicted quicker by the MPI'
  says "$mpi-measured" "no sum of whole numbers was left to an MPI that is quicker" \
    '^allreduce .*  MPI: predicted quicker by the MPI'
  says "$mpi-measured" "sums of floats were left to the MPI" "$taken"
  says "$mpi-measured" "sums of floats were left to the MPI" '^reduce_scatter +[0-9]+ +[0-9]+ +[0-9.]+  nodes'
  ! grep -Eq '^reduce_scatter(_block)? .*  MPI' "$lab/$mpi-measured" ||
    fail "$mpi-measured: sums of floats were left to the MPI: $(grep '^reduce_scatter' "$lab/$mpi-measured")"
}

try() {
  local mpi=$1 program=$lab/$1-program several=$lab/$1-several dying=$lab/$1-dying rank host layout net operation doomed
  local slots ranks launcher
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: passed over: $peers/$mpi is not there, bench/peers sets it up"
    return
  fi
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/mpi/programs/c/{communicators,expect}.c
  "$peers/$mpi/mpicc" -O1 -o "$several" tests/mpi/programs/c/{several_nodes,expect}.c
  "$peers/$mpi/mpicc" -O1 -o "$dying" tests/mpi/programs/c/{dying_between_nodes,expect}.c
  net=$(net_of "$mpi")
  seated "$mpi" blocks
  # The library is in every rank, wherever it is.
  # shellcheck disable=SC2016  # for the ranks' shell
  job "$mpi-ranks" "$build/bin/huddle" run "${launcher[@]}" \
    sh -c 'echo "on $(hostname): $(grep -c -m 1 libhuddle_preload /proc/self/maps)"'
  for host in "${hosts[@]}"; do
    rank=$(grep -c "^on $host: 1" "$lab/$mpi-ranks") || true
    [ "$rank" = 2 ] || fail "$mpi-ranks: huddle is in $rank of 2 ranks on $host: $(cat "$lab/$mpi-ranks")"
  done
  # Unasked, what is on one host is taken, what is on several is the MPI's.
  job "$mpi-run" env HUDDLE_JOIN_AFTER=8 "$build/bin/huddle" run --stats "${launcher[@]}" "$program"
  says "$mpi-run" "huddle took no allreduce" "$within"
  says "$mpi-run" "no allreduce over several hosts was the MPI's" "$passed"
  # Asked, both are huddle's, wherever ranks sit, and right by the MPI's own results.
  local layouts=(blocks turns uneven) programs=("$program" "$several")
  [ "${HOSTS_BRIEF:-}" != yes ] || layouts=(blocks uneven) programs=("$several")
  for layout in "${layouts[@]}"; do
    seated "$mpi" "$layout"
    for program_at in "${programs[@]}"; do
      job "$mpi-net-$layout" env HUDDLE_NET="$net" HUDDLE_VERIFY=1 HUDDLE_JOIN_AFTER=0 \
        "$build/bin/huddle" run --stats "${launcher[@]}" "$program_at"
      says "$mpi-net-$layout" "huddle took no allreduce over several hosts" "$taken"
      [ "$program_at" != "$several" ] || for operation in "${all_taken[@]}"; do
        says "$mpi-net-$layout" "huddle took no $operation over several hosts" "^$operation +[0-9]+ +[0-9]+ +[0-9.]+  nodes"
      done
      says "$mpi-net-$layout" "nothing was sent to other nodes" '^rank 0 sent [0-9,]+ messages'
      ! grep -q 'verify:' "$lab/$mpi-net-$layout" || fail "$mpi-net-$layout: $(grep verify: "$lab/$mpi-net-$layout")"
    done
  done
  try_measured "$mpi"
  [ "${HOSTS_BRIEF:-}" != yes ] || {
    echo "$mpi: tried on ${#hosts[@]} hosts, in brief"
    return 0
  }
  # Two ranks alone, each on its host, gain nothing.
  seated "$mpi" pair
  job "$mpi-pair" env HUDDLE_NET="$net" HUDDLE_JOIN_AFTER=0 "$build/bin/huddle" run --stats "${launcher[@]}" "$several"
  says "$mpi-pair" "two ranks on two hosts are not left to the MPI" '^allreduce .*  MPI: predicted quicker by the MPI'
  seated "$mpi" blocks
  # huddle on one host only: nobody waits for anybody.
  # shellcheck disable=SC2016  # for the ranks' shell
  job "$mpi-half" "${launcher[@]}" sh -c '[ "$(hostname)" = h1 ] && export LD_PRELOAD="$1" HUDDLE_STATS=1 HUDDLE_JOIN_AFTER=8; exec "$2"' \
    sh "$preload" "$program"
  says "$mpi-half" "huddle took no allreduce" "$within"
  # The same where its launcher can tell who is there, and of one rank that is without it or off.
  # shellcheck disable=SC2016  # for the ranks' shell
  if [ "$net" = auto ]; then
    local with='export LD_PRELOAD="$1" HUDDLE_STATS=1 HUDDLE_JOIN_AFTER=0 HUDDLE_NET=auto;'
    local number='rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK};'
    job "$mpi-one-host" "${launcher[@]}" sh -c "[ \"\$(hostname)\" = h2 ] || $with"' exec "$2"' sh "$preload" "$program"
    says "$mpi-one-host" "no allreduce over several hosts was the MPI's" "$passed"
    job "$mpi-one-rank" "${launcher[@]}" sh -c "$number [ \$rank = 5 ] || $with"' exec "$2"' sh "$preload" "$program"
    says "$mpi-one-rank" "no allreduce over several hosts was the MPI's" "$passed"
    job "$mpi-one-off" "${launcher[@]}" sh -c "$number $with [ \$rank != 5 ] || export HUDDLE=off;"' exec "$2"' sh "$preload" "$program"
    says "$mpi-one-off" "no allreduce over several hosts was the MPI's" "$passed"
    job "$mpi-one-net-off" "${launcher[@]}" sh -c "$number $with [ \$rank != 5 ] || export HUDDLE_NET=off;"' exec "$2"' sh "$preload" "$program"
    says "$mpi-one-net-off" "no allreduce over several hosts was the MPI's" "$passed"
  fi
  # Ranks that are killed in the middle, a first one of its host and another in turns, and whole hosts,
  # end the job.
  for doomed in $(doomed_ranks "${HOSTS_DEATHS:-2}") 4,5; do
    if timeout "$limit_seconds" env HUDDLE_NET="$net" HUDDLE_JOIN_AFTER=0 "$build/bin/huddle" run "${launcher[@]}" \
      "$dying" "$doomed" >"$lab/$mpi-dying" 2>&1 </dev/null; then
      fail "$mpi: a job ended well whose rank $doomed was killed"
    elif grep -q 'stands still' "$lab/$mpi-dying"; then
      fail "$mpi: others waited for rank $doomed, which was killed"
    fi
    nothing_is_left "$mpi-dying"
  done
  echo "$mpi: tried on ${#hosts[@]} hosts"
}

bring_up
for mpi in ${HOSTS_MPIS:-openmpi-4 openmpi-5 mpich-5}; do try "$mpi"; done
exit "$status"
