#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Profiles eight ranks on four hosts, which are namespaces of this machine, maps them, and runs them again. Checks that
# launchers place the ranks as huddle map prints, and that it predicts the bytes between hosts. Exits with status 77 if
# it cannot run. [PLACED_MPIS="openmpi-4 ..."] tests/lab/placed.sh [BUILD_FOLDER]
set -euo pipefail
hosts=(h1 h2 h3 h4)
status_without_root=77
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"

huddle=$build/bin/huddle
processors=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')
if [ "$processors" = "${processors#*,}" ]; then
  echo "placed.sh: skipped: two ranks per host need two processors"
  exit 77
fi

emission_of() {
  case $1 in
    openmpi-4) echo openmpi4 ;;
    openmpi-5) echo prrte ;;
    mpich-5) echo hostfile ;;  # hydra requires that the ranks of each host are consecutive
  esac
}

# A path for the profile that only this host sees, so that ranks must send their parts to it.
beyond_file_systems=/dev/shm/placed.json

try() {
  local mpi=$1 program=$lab/$1-program placed=$lab/$1-placed
  local -a launcher seating placing map
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: skipped: $peers/$mpi does not exist; run bench/peers"
    return
  fi
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/lab/shuffled_halo.c
  mapfile -t launcher < <(launcher_of "$mpi")
  mapfile -t seating < <(seating_of "$mpi")
  job "$mpi-first" "$huddle" profile --output "$lab/$mpi-first.json" "${launcher[@]}" "${seating[@]}" "$program"
  map=("$huddle" map "$lab/$mpi-first.json" --cpus "$processors")
  job "$mpi-map" "${map[@]}" --json
  "${map[@]}" --emit "$(emission_of "$mpi")" >"$placed" 2>"$lab/$mpi-emit"
  if [ "$mpi" = mpich-5 ]; then
    placing=(-f "$placed")
  else
    # The first line of the file contains the options for the launcher.
    read -r -a placing < <(sed -n "1s,^# [^ ]* \(.*\) PROGRAM,\1,p" "$placed" | sed "s,\bFILE\b,$placed,")
  fi
  job "$mpi-again" "$huddle" profile --output "$beyond_file_systems" "${launcher[@]}" "${placing[@]}" "$program"
  python3 -B tests/lab/placed_result.py "$mpi" "$lab/$mpi-first.json" "$lab/$mpi-map" \
    "$beyond_file_systems" "$lab/$mpi-again" || status=1
  rm -f "$beyond_file_systems"
}

bring_up
for mpi in ${PLACED_MPIS:-openmpi-4 openmpi-5 mpich-5}; do try "$mpi"; done
exit "$status"
