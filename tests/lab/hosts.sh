#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests `huddle run` over several hosts, which are namespaces of this machine: h1 to h4, and this script as the host
# that starts jobs. Needs root and iproute2. Uses the MPIs that bench/peers has set up, and reports those that it
# skips. tests/lab/hosts.sh [BUILD_FOLDER]
# HOSTS_MPIS: the MPIs to test (intel is slow on few cores, because its ranks do not yield them)
# HOSTS_DEATHS: number of jobs for each kind of failure (1)
# HOSTS_ONLY=counts, deaths, errors or strangers: runs only these tests
# HOSTS_BRIEF=yes: one placement, for `make test`; HOSTS_BRIEF=measured: two placements, the use of measurements
# between hosts, and counts that differ, for `make test-deep`
# Exits with status 77 if it does not run as root.
set -euo pipefail
hosts=(h1 h2 h3 h4)
status_without_root=77
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
# shellcheck source=tests/lab/between_hosts.sh
. "$(dirname "$0")/between_hosts.sh"

# Prints the extent of several_nodes under an MPI: brief if waiting ranks do not yield a shared core.
extent_of() {
  case $1 in mpich-5 | intel) echo brief ;; *) echo whole ;; esac
}

# Measures the network between the hosts and the MPI's own collectives. Calls fall back to the MPI if it is measured to
# be faster, except for sums of floats, whose bits must not depend on that.
try_measured() {
  local mpi=$1 program=$lab/$1-several file=$lab/$1.toml operation
  seated "$mpi" blocks
  job "$mpi-calibrate" "$build/bin/huddle" calibrate --quick --network --output "$file" "${launcher[@]}"
  expect_output "$mpi-calibrate" "nothing was measured between hosts" '^ *2M +[0-9.]+ '
  [ -s "$file" ] || return 0
  for operation in "${by_schedule[@]}"; do
    grep -A 2 '^\[\[mpi_collective\]\]' "$file" | grep -q "^operation = \"$operation\"" ||
      fail "$mpi-calibrate: no $operation of the MPI in $file"
  done
  if ! grep -q '^hosts = 4' "$file" || ! grep -q '^ranks = 8' "$file"; then
    fail "$mpi-calibrate: other hosts or ranks in $file"
  fi
  # Pretends that all collectives of the MPI take a nanosecond.
  sed -i '/^\[\[mpi_collective\]\]/,/^ns/ s/^ns = .*/ns = [1, 1]/; /operation = "barrier"/,/^ns/ s/^ns = .*/ns = [1]/' "$file"
  # HUDDLE_NET is needed only if the launcher does not provide the list of ranks that have huddle.
  local settings=(HUDDLE_MACHINE="$file" HUDDLE_ACTIVATE_AFTER=0)
  [ "$(net_of "$mpi")" = auto ] || settings+=(HUDDLE_NET="$(net_of "$mpi")")
  job "$mpi-measured" env "${settings[@]}" \
    "$build/bin/huddle" run --stats "${launcher[@]}" "$program" "$(extent_of "$mpi")"
  expect_output "$mpi-measured" "no broadcast fell back to a faster MPI" '^bcast .*  MPI: faster in the MPI'
  expect_output "$mpi-measured" "no sum of integers fell back to a faster MPI" \
    '^allreduce .*  MPI: faster in the MPI'
  expect_output "$mpi-measured" "sums of floats fell back to the MPI" "$taken"
  expect_output "$mpi-measured" "sums of floats fell back to the MPI" '^reduce_scatter +[0-9]+ +[0-9]+ +[0-9.]+  nodes'
  ! grep -Eq '^reduce_scatter(_block)? .*  MPI' "$lab/$mpi-measured" ||
    fail "$mpi-measured: sums of floats fell back to the MPI: $(grep '^reduce_scatter' "$lab/$mpi-measured")"
}

# Allgathers with more than 2 GiB in total. Each of the four ranks holds the complete result.
try_large() {
  local mpi=$1 needed_kib=$((12 << 20)) there_kib
  there_kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
  if [ "$there_kib" -lt "$needed_kib" ]; then
    echo "$mpi: collectives of more than 2 GiB skipped: they need 12 GiB of memory, and $((there_kib >> 20)) are available"
    return
  fi
  "$peers/$mpi/mpicc" -O1 -o "$lab/$mpi-large" tests/mpi/programs/c/{large_allgather,expect}.c
  seated "$mpi" single
  job "$mpi-large-run" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_ACTIVATE_AFTER=0 "$build/bin/huddle" run --stats \
    "${launcher[@]}" "$lab/$mpi-large"
  expect_output "$mpi-large-run" "huddle handled no allgather of more than 2 GiB" '^allgather +1 +550000000 +[0-9.]+  nodes'
  expect_output "$mpi-large-run" "huddle handled no allgatherv of more than 2 GiB" '^allgatherv +1 +[0-9]+ +[0-9.]+  nodes'
}

try() {
  local mpi=$1 program=$lab/$1-program several=$lab/$1-several rank host layout net
  local slots ranks launcher huddle_launcher
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: skipped: $peers/$mpi does not exist; run bench/peers"
    return
  fi
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/mpi/programs/c/{communicators,expect}.c
  "$peers/$mpi/mpicc" -O1 -o "$several" tests/mpi/programs/c/{several_nodes,expect}.c
  net=$(net_of "$mpi")
  seated "$mpi" blocks
  case ${HOSTS_ONLY:-} in
    counts) try_counts "$mpi" ;;
    deaths) try_deaths "$mpi" first other host link ;;
    errors) try_errors "$mpi" ;;
    strangers) try_strangers "$mpi" "$program" ;;
  esac
  [ -z "${HOSTS_ONLY:-}" ] || return 0
  # Every rank loads the library, on every host.
  # shellcheck disable=SC2016  # the ranks' shell expands them
  job "$mpi-ranks" "$build/bin/huddle" run "${launcher[@]}" \
    sh -c 'echo "on $(hostname): $(grep -c -m 1 libhuddle_preload /proc/self/maps)"'
  for host in "${hosts[@]}"; do
    rank=$(grep -c "^on $host: 1" "$lab/$mpi-ranks") || true
    [ "$rank" = 2 ] || fail "$mpi-ranks: huddle is loaded in $rank of 2 ranks on $host: $(cat "$lab/$mpi-ranks")"
  done
  # By default, huddle handles communicators on one host, and those on several hosts fall back to the MPI.
  job "$mpi-run" env HUDDLE_ACTIVATE_AFTER=8 "$build/bin/huddle" run --stats "${launcher[@]}" "$program"
  expect_output "$mpi-run" "huddle handled no allreduce" "$within"
  expect_output "$mpi-run" "no allreduce over several hosts fell back to the MPI" "$passed"
  # With HUDDLE_NET, huddle handles both in every placement, with the same results as the MPI.
  local layouts=(blocks turns uneven) programs=("$program" "$several")
  case ${HOSTS_BRIEF:-} in
    yes) layouts=(uneven) programs=("$several") ;;
    measured) layouts=(blocks uneven) programs=("$several") ;;
  esac
  for layout in "${layouts[@]}"; do
    seated "$mpi" "$layout"
    for program_at in "${programs[@]}"; do
      try_taken "$mpi" "$layout" "$program_at" "$(extent_of "$mpi")"
    done
  done
  [ "${HOSTS_BRIEF:-}" = yes ] || try_measured "$mpi"
  if [ -n "${HOSTS_BRIEF:-}" ]; then
    [ "$HOSTS_BRIEF" = yes ] || try_counts "$mpi"
    echo "$mpi: tested briefly on ${#hosts[@]} hosts"
    return 0
  fi
  # Two ranks on two hosts fall back to the MPI, because they gain nothing.
  seated "$mpi" pair
  job "$mpi-pair" env HUDDLE_NET="$net" HUDDLE_ACTIVATE_AFTER=0 "$build/bin/huddle" run --stats "${launcher[@]}" "$several" \
    "$(extent_of "$mpi")"
  expect_output "$mpi-pair" "two ranks on two hosts do not fall back to the MPI" '^allreduce .*  MPI: faster in the MPI'
  try_large "$mpi"
  seated "$mpi" blocks
  # huddle on one host only: no rank waits for one without huddle.
  # shellcheck disable=SC2016  # the ranks' shell expands them
  job "$mpi-half" "${launcher[@]}" sh -c '[ "$(hostname)" = h1 ] && export LD_PRELOAD="$1" HUDDLE_STATS=1 HUDDLE_ACTIVATE_AFTER=8; exec "$2"' \
    sh "$preload" "$program"
  expect_output "$mpi-half" "huddle handled no allreduce" "$within"
  try_errors "$mpi"
  try_counts "$mpi"
  try_strangers "$mpi" "$program"
  try_deaths "$mpi" first other host link
  echo "$mpi: tested on ${#hosts[@]} hosts"
}

bring_up
for mpi in ${HOSTS_MPIS:-openmpi-4 openmpi-5 mpich-5}; do try "$mpi"; done
exit "$status"
