#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks that scripts/demo-parts.sh lists everything that the README's commands load or start, for the
# MPI whose launcher is on the PATH. The launchers are stand-ins.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
# parts [LAUNCHER VERSION]: prints the targets if only that launcher is on the PATH, or none without arguments.
parts() {
  local bin=$stage/bin
  rm -rf "$bin" && mkdir "$bin"
  ln -s "$(command -v bash)" "$bin/bash"
  [ $# = 0 ] || { printf '#!/bin/sh\necho "%s"\n' "$2" >"$bin/$1" && chmod +x "$bin/$1" && ln -s /bin/sh "$bin/sh"; }
  PATH=$bin "$bin/bash" "$root/scripts/demo-parts.sh" | tr '\n' ' '
}
# expect WHAT GIVEN TARGET...
expect() {
  local what=$1 given=" $2 "
  for target in "${@:3}"; do
    case $given in *" $target "*) ;; *) fail "$what: $target is not built: $given" ;; esac
  done
}

always=(huddle huddle_preload huddle_profile_preload huddle_look huddle_heap_preload huddle_threads_helper
  huddle_pattern huddle-start-up)
expect 'no MPI' "$(parts)" "${always[@]}"
case $(parts) in *mpich* | *openmpi*) fail "builds for an MPI that is not there: $(parts)" ;; esac

given=$(parts mpirun 'mpirun (Open MPI) 4.1.4')
expect 'Open MPI' "$given" "${always[@]}" huddle_openmpi huddle_profile_openmpi huddle-bench-openmpi \
  huddle-network-openmpi
case $given in *mpich*) fail "builds for MPICH under Open MPI: $given" ;; esac

expect MPICH "$(parts mpiexec 'HYDRA build details: Version: 4.0.2')" "${always[@]}" huddle_mpich \
  huddle_profile_mpich huddle-bench-mpich huddle-network-mpich
echo "three cases hold"
