#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests in less than a minute the folder that bench/pack makes: tests/lab/portable_test.sh BUILD_FOLDER
# Checks its size, that it runs from a path with a space, its results, and the files that remain after Ctrl-C. If the
# MPIs are not set up, stand-ins that start nothing replace them, and only huddle's own part is tested.
# tests/lab/portable.sh has the other tests.
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
peers=${XDG_CACHE_HOME:-$HOME/.cache}/huddle/peers
stage=$(realpath "$(mktemp -d)")
trap 'rm -rf "$stage"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
# refuses STATUS WORDS COMMAND...: fails unless the command exits with STATUS and prints one line with WORDS
refuses() {
  local status=0 said
  said=$("${@:3}" 2>&1) || status=$?
  [ "$status" = "$1" ] || fail "$3 ended with $status, not $1: $said"
  [[ $said = *"$2"* ]] || fail "$3: no '$2' in: $said"
  [ "$(wc -l <<<"$said")" = 1 ] || fail "$3 prints more than one line: $said"
}

# stand_in NAME PROGRAM...: creates a stand-in for an MPI.
stand_in() {
  local home=$stage/peers/$1 program
  mkdir -p "$home/venv/bin" "$home/venv/lib"
  for program in run "${@:2}"; do
    printf '#!/bin/sh\necho "mpirun (Open MPI) 5.0.11"\n' >"$home/$program"
    chmod +x "$home/$program"
  done
}

refuses 1 "bench/peers $stage" "$root/bench/pack" --build "$build" --peers "$stage" --output "$stage"
refuses 2 "no option '--quick'" "$root/bench/pack" --quick
are_there=yes
if [ ! -x "$peers/openmpi-5/run" ] || [ ! -x "$peers/mpich-5/run" ]; then
  echo "the MPIs are not in $peers (run bench/peers): stand-ins replace them"
  are_there=
  stand_in openmpi-5 venv/bin/ompirun_wrapper venv/bin/prterun
  stand_in mpich-5 venv/bin/mpiexec venv/bin/hydra_pmi_proxy
  peers=$stage/peers
fi

"$root/bench/pack" --build "$build" --peers "$peers" --output "$stage"
[ "$(du --summarize --block-size=MB "$stage/huddle-portable" | sed 's/MB.*//')" -lt 72 ] || fail "the folder is too large"
mkdir "$stage/another place" "$stage/another:place"
tar --extract --gzip --file="$stage/huddle-portable.tar.gz" --directory="$stage/another place"
rm -r "$stage/huddle-portable" # the folder must be relocatable
# The loader prints the path of each library that a program loads.
find "$stage/another place" -name '*.program' | while read -r program; do
  loads=$(LD_TRACE_LOADED_OBJECTS=1 "${program%.program}" | grep -e '=>' -e 'not found')
  [[ $loads = *libc.so.6* ]] || fail "$program does not load the C library: $loads"
  ! grep -v "=> $stage/" <<<"$loads" || fail "$program loads libraries from elsewhere"
done
cp "$stage/another place/huddle-portable/measure" "$stage/another:place"
mkdir "$stage/another:place/peers"
ln -s "another place/huddle-portable/measure" "$stage/measure"
measure=$stage/measure
results="$stage/the results"
[[ $("$measure" --help) = *"Usage: ./measure"* ]] || fail "--help does not print the usage"
refuses 2 "no option '--fast'" "$measure" --fast
refuses 2 "'1' is no number of ranks" "$measure" --ranks 1
refuses 1 "nothing can be written to /proc" "$measure" --output /proc/results
refuses 1 "a path with ':'" "$stage/another:place/measure"
refuses 1 "bench/pack" "$root/bench/portable/measure"

# A short run writes all of its results.
status=0
"$measure" --quick --ranks 2 --ops allreduce --output "$results" >"$stage/said" 2>&1 || status=$?
[ "$status" = "$([ -n "$are_there" ] && echo 0 || echo 1)" ] || fail "ended with $status: $(cat "$stage/said")"
wanted=("" "-peers-2-ranks" "-peers-2-ranks-heap")
[ -n "$are_there" ] || wanted=("")
for kind in "${wanted[@]}"; do
  file=$(find "$results" -name "*[0-9a-f]$kind.json")
  "$root/tests/lab/portable_result.py" "$file"
done
[ -n "$are_there" ] || grep -q "2-ranks-heap.json could not be measured" "$stage/said" ||
  fail "does not say what is missing: $(cat "$stage/said")"
# With a machine file without the path of the kernel, only the heap allows single copies.
if [ -n "$are_there" ]; then
  folder=$(dirname "$(readlink "$measure")")
  awk 'BEGIN { RS = "\n\n"; ORS = RS } !/^\[\[path\]\]\npath = "cma"/' "$results"/*.toml >"$stage/no-cma.toml"
  ! grep -q cma "$stage/no-cma.toml" || fail "the machine file still knows of cma"
  (cd "$stage" && env -i PATH="$PATH" HOME="$stage" "$folder/bin/huddle" bench --quick --ops scatter --sizes 128K \
    --peers "$folder/peers" --heap on --machine no-cma.toml --json one-heap.json >said 2>&1) ||
    [ $? = 1 ] || fail "the heap cannot be measured: $(cat "$stage/said")"
  "$root/tests/lab/portable_result.py" --in-heap "$stage/one-heap.json"
fi

# Ctrl-C signals the whole foreground process group.
if [ -n "$are_there" ]; then
  rm -r "$results"
  mkfifo "$stage/progress"
  set -m
  "$measure" --quick --ranks 2 --output "$results" >"$stage/said" 2>"$stage/progress" &
  set +m
  exec 3<"$stage/progress"
  while read -r line <&3; do
    case $line in "[4/37]"*) kill -INT -- "-$!"; break ;; esac
  done
  cat <&3 >/dev/null
  status=0
  wait $! || status=$?
  [ "$status" = 130 ] || fail "stopped by Ctrl-C it ended with $status"
  grep -q '"interrupted": *true' "$results"/*-peers-2-ranks.json || fail "Ctrl-C kept nothing: $(ls "$results")"
  [ -z "$(find "$results" -name '*-heap.json')" ] || fail "went on behind Ctrl-C"
  echo "Ctrl-C keeps what was measured"
fi
