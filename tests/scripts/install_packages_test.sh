#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests scripts/install-packages.sh on simulated machines: dpkg-query, id, sudo and apt-get are stand-ins, which print
# what the case needs and record their calls.
# shellcheck disable=SC2015,SC2016  # fail never succeeds; the stand-ins expand their own variables
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/bin"

stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$stage/bin/$1" && chmod +x "$stage/bin/$1"; }
# All requested packages are installed, except those in $ABSENT.
stand_in dpkg-query 'shift 3; for p; do case " $ABSENT " in *" $p "*) ;; *) echo "installed $p";; esac; done'
stand_in id 'echo "$USER_ID"'
stand_in sudo '[ "$SUDO_WORKS" = yes ] || exit 1; [ "$2" = true ] || { shift; exec "$@"; }'
stand_in apt-get 'echo "apt-get $*" >>"$CALLS"'

fail() { echo "FAILED: $*" >&2; exit 1; }
# run USER_ID SUDO_WORKS ABSENT PURPOSE...: sets $status, $output and $calls
run() {
  : >"$stage/calls"
  status=0
  output=$(USER_ID=$1 SUDO_WORKS=$2 ABSENT=$3 CALLS=$stage/calls PATH=$stage/bin:$PATH PACKAGES='' \
    "$root/scripts/install-packages.sh" "${@:4}" 2>&1) || status=$?
  calls=$(cat "$stage/calls")
}

run 0 no '' build test test-all
[ "$status" = 0 ] && [ -z "$calls$output" ] || fail "nothing missing, yet: $status $calls $output"

run 0 no 'cmake shellcheck' build
[ "$status" = 0 ] || fail "root could not install: $output"
case $calls in
  'apt-get install -y --no-install-recommends cmake '*) ;;
  *) fail "root called: $calls" ;;
esac
case $calls in *shellcheck*) fail "a build installed a package of the tests" ;; esac

run 1000 yes 'cmake' build
case $calls in 'apt-get install '*cmake*) ;; *) fail "sudo called: $calls" ;; esac

run 1000 no 'libhwloc-dev shellcheck' build test
[ "$status" = 1 ] && [ -z "$calls" ] || fail "may not install, yet: $status $calls"
case $output in
  *'sudo apt-get install -y --no-install-recommends libhwloc-dev shellcheck'*) ;;
  *) fail "does not say what is missing: $output" ;;
esac

run 0 no '' nonsense
[ "$status" = 2 ] || fail "an unknown purpose passed"
echo "five cases hold"
