#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks that programs on a serial stand-in for an MPI run with each of the preloaded libraries:
# stand_in.sh COMPILER LIBRARY...
set -euo pipefail

compiler=$1
shift
sources=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ulimit -c 0

"$compiler" -shared -fPIC "$sources/stand_in.c" -o libmpiseq.so
"$compiler" "$sources/on_stand_in.c" -o program -L. -lmpiseq "-Wl,-rpath,$folder" -ldl
"$compiler" -DPLUGIN -shared -fPIC "$sources/on_stand_in.c" -o plugin.so -L. -lmpiseq "-Wl,-rpath,$folder"
"$compiler" "$sources/load_plugin.c" -o interpreter -ldl

failures=0
# expect LIBRARY STATUS OUTPUT ERRORS NAME=VALUE COMMAND...: the errors are a pattern of grep; empty: none are allowed.
expect() {
  local library=$1 status=$2 output=$3 errors=$4 found=0
  shift 4
  (env _HUDDLE_PROFILE="$folder" LD_PRELOAD="$library" "$@" >out 2>err) 2>/dev/null || found=$?
  if [ "$found" = "$status" ] && [ "$(cat out)" = "$output" ] &&
     { if [ -n "$errors" ]; then grep -q "$errors" err; else [ ! -s err ]; fi; }; then
    return
  fi
  failures=$((failures + 1))
  echo "$(basename "$library") with $*: status $found, $(cat out err)"
}

aborted=134
for library in "$@"; do
  # The library for profiles is preloaded only to profile, and does not read HUDDLE.
  case $library in
    *profile*) off='no functions PMPI_' ;;
    *) off= ;;
  esac
  for program in ./program ./interpreter; do
    command=("$program")
    [ "$program" = ./program ] || command+=(./plugin.so)
    expect "$library" 0 "done" "no functions PMPI_" HUDDLE=on "${command[@]}"
    expect "$library" 0 "done" "$off" HUDDLE=off "${command[@]}"
  done
  [ -n "$off" ] || expect "$library" $aborted "" "has no MPI_Scan" HUDDLE=off ./program missing
done
[ "$failures" = 0 ]
