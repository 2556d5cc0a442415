#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests bench/peers with a Python that downloads nothing: what it installs when, its messages about missing MPIs, and
# that the wrappers start the right programs.
# shellcheck disable=SC2015,SC2016  # fail never succeeds; the stand-ins expand their own variables
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/bin" "$stage/peers with a space"
peers=$stage/peers\ with\ a\ space

stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$stage/bin/$1" && chmod +x "$stage/bin/$1"; }
stand_in uname 'echo "$MACHINE"'
# `python3 -m venv FOLDER`: creates a venv whose pip records its arguments and fails for the packages in $REFUSED.
stand_in python3 'mkdir -p "$3/bin" && cp "$STAGE/bin/pip" "$3/bin/pip" && cp "$STAGE/bin/mpiexec" "$3/bin/mpiexec" && cp "$STAGE/bin/mpiexec" "$3/bin/python"'
stand_in pip 'echo "$*" >>"$CALLS"; case "$*" in *"$REFUSED"*) exit 1;; esac'
stand_in mpiexec 'echo "launched: $*; for Open MPI as root: ${OMPI_ALLOW_RUN_AS_ROOT:-no}"'

fail() { echo "FAILED: $*" >&2; exit 1; }
# run MACHINE REFUSED [OPTION...]: sets $status, $output and $calls
run() {
  : >"$stage/calls"
  status=0
  output=$(MACHINE=$1 REFUSED=$2 STAGE=$stage CALLS=$stage/calls PATH=$stage/bin:$PATH PACKAGES=skip \
    "$root/bench/peers" "${@:3}" "$peers" 2>&1) || status=$?
  calls=$(cat "$stage/calls")
}

case $("$root/bench/peers" --help) in "Sets up the MPIs"*) ;; *) fail "--help does not say what it does" ;; esac
for words in --nosuch "a b" "--only lam" --only; do
  # shellcheck disable=SC2086  # two words are too many
  said=$(cd "$stage" && "$root/bench/peers" $words 2>&1) && fail "takes '$words'"
  case $said in "usage: bench/peers [--only MPI]... [DIR]"*) ;; *) fail "says of '$words': $said" ;; esac
done

run x86_64 nothing --only openmpi-5
[ "$status" = 0 ] || fail "--only openmpi-5 ended with $status: $output"
[ -x "$peers/openmpi-5/run" ] && [ ! -e "$peers/mpich-5" ] && [ ! -e "$peers/intel" ] ||
  fail "--only openmpi-5 set up: $(ls "$peers")"
rm -rf "$peers/openmpi-5"

run x86_64 mpich==
[ "$status" = 1 ] || fail "an MPI is missing, yet: $status"
case $output in *"peers: mpich-5: mpich=="*) ;; *) fail "does not say what is missing: $output" ;; esac
[ ! -e "$peers/mpich-5/run" ] && [ -x "$peers/intel/run" ] || fail "the wrong ones are there"

run x86_64 nothing
case $calls in *openmpi==*) fail "installed what was there: $calls" ;; *mpich==*) ;; *) fail "did not try again" ;; esac

run x86_64 nothing
[ -z "$calls" ] || fail "a further call installed: $calls"

launched=$(STAGE=$stage "$peers/openmpi-5/run" -n 2 program)
[ "$launched" = "launched: --map-by :OVERSUBSCRIBE -n 2 program; for Open MPI as root: 1" ] ||
  fail "run did: $launched"

run aarch64 nothing
[ "$status" = 1 ] || fail "no Intel MPI on Arm, yet: $status"
case $output in *"peers: intel: "*x86_64*) ;; *) fail "does not mention that Intel MPI is missing on Arm: $output" ;; esac
echo "six cases hold"
