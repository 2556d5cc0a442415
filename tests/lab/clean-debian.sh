#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# The README's promise, tried: a Debian 12 with nothing but git, make and ca-certificates, a clean
# clone of the last commit, `make demo` and `make test`, each twice; only the demo with the word
# "demo" behind it. Fails where a command fails or takes longer than the README says. Needs root.
# Mounts live in a namespace of their own and end with it.
set -euo pipefail
cd "$(dirname "$0")/../.."

. tests/lab/fresh_debian.sh
lab=$PWD/build/lab

need_own_mounts "$@"

# The minutes that the README's table promises for a command.
promised_seconds() {
  sed -n "s/^| \`$1\` |.*| *\([0-9]*\) min *|\$/\1/p" README.md | awk '{ print $1 * 60 }'
}

status=0
try() { # try COMMAND MOST_SECONDS: runs it in the clone and holds its time against the promise
  local start=$SECONDS word=fine log
  log="$lab/${1// /-}-$3.log"
  inside "$lab" "cd /root/huddle && $1" >"$log" 2>&1 || word=FAILED
  local took=$((SECONDS - start))
  [ "$word" = FAILED ] || [ "$took" -le "${2:-0}" ] || word="TOO SLOW: the README says ${2:-nothing} s"
  [ "$word" = fine ] || { status=1; tail -n 30 "$log" >&2; }
  printf '%-12s %-7s %5d s  %s\n' "$1" "$3" "$took" "$word"
}

fresh_debian "$lab" git make ca-certificates
git clone -q "file://$PWD" "$lab/debian/root/huddle"
try "make demo" "$(promised_seconds "make demo")" first
inside "$lab" "cd /root/huddle && build/release/bin/huddle topo --json" | grep -q '"machine_file":"/root/' ||
  { status=1; echo "huddle run does not find what make demo has measured" >&2; }
try "make demo" 60 second
[ "${2:-}" != demo ] || exit "$status"
try "make test" "$(promised_seconds "make test")" first
try "make test" "$(promised_seconds "make test")" second
exit "$status"
