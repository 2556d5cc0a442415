#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks the times that the README promises: on a Debian 12 with only git, make and ca-certificates, runs `make demo`
# twice, `make test` twice and `make test-deep` in a clean clone of the last commit. Fails if a command fails or takes
# longer than the README promises. Needs root. Mounts are in a separate namespace and end with it.
#   tests/lab/clean-debian.sh [demo|test|deep]   runs only one of them in a new clone: demo and test twice
set -euo pipefail
cd "$(dirname "$0")/../.."

. tests/lab/fresh_debian.sh
lab=$PWD/build/lab

need_own_mounts "$@"

only=${2:-}
case $only in "" | demo | test | deep) ;; *) echo "usage: tests/lab/clean-debian.sh [demo|test|deep]" >&2; exit 2 ;; esac
is_wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }

# Prints the seconds that the README's table promises for a command.
promised_seconds() {
  sed -n "s/^| \`$1\` |.*| *\([0-9]*\) min *|\$/\1/p" README.md | awk '{ print $1 * 60 }'
}

status=0
try() { # try COMMAND NAME [MOST_SECONDS]: runs it in the clone and compares its time with the limit
  local start=$SECONDS word=fine log most
  most=${3:-$(promised_seconds "$1")}
  log="$lab/${1// /-}-$2.log"
  inside "$lab" "cd /root/huddle && $1" >"$log" 2>&1 || word=FAILED
  local took=$((SECONDS - start))
  [ "$word" = FAILED ] || [ "$took" -le "${most:-0}" ] || word="TOO SLOW: the README promises ${most:-nothing} s"
  [ "$word" = fine ] || { status=1; tail -n 30 "$log" >&2; }
  printf '%-14s %-7s %5d s  %s\n' "$1" "$2" "$took" "$word"
}

fresh_debian "$lab" git make ca-certificates
git clone -q "file://$PWD" "$lab/debian/root/huddle"
if is_wanted demo; then
  try "make demo" first
  inside "$lab" "cd /root/huddle && build/release/bin/huddle topo --json" | grep -q '"machine_file":"/root/' ||
    { status=1; echo "huddle run does not find the machine file of make demo" >&2; }
  try "make demo" second 60
fi
if is_wanted test; then
  try "make test" first
  try "make test" second
fi
if is_wanted deep; then
  try "make test-deep" first
fi
exit "$status"
