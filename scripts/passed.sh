#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Maintains tests/passed.txt. For each check that takes too long to run on every change, that file has the commit
# at which it last passed:
#   scripts/passed.sh record NAME   records the current commit; fails if there are uncommitted changes
#   scripts/passed.sh commit NAME   prints the commit; status 1 if NAME is not recorded
#   scripts/passed.sh print         prints the table
set -euo pipefail
cd "$(dirname "$0")/.."
file=tests/passed.txt

case ${1:-} in
  record)
    if [ -n "$(git status --porcelain --untracked-files=no -- . ":!$file")" ]; then
      echo "passed.sh: $2 passed, but is not recorded: commit your changes and run it again" >&2
      exit 0
    fi
    line="$2 $(git rev-parse --short=12 HEAD) $(date +%F)"
    others=$(grep -v "^$2 " "$file" || true)
    printf '%s\n' "$others" "$line" | sed '/^$/d' >"$file"
    ;;
  commit) awk -v name="$2" '$1 == name { print $2; found = 1 } END { exit !found }' "$file" ;;
  print)
    printf '\n%-14s %-14s %s\n' "last passed" commit date
    grep -v '^#' "$file" | while read -r name commit day; do
      printf '%-14s %-14s %s\n' "$name" "$commit" "$day"
    done
    ;;
  *)
    echo "usage: scripts/passed.sh record NAME | commit NAME | print" >&2
    exit 2
    ;;
esac
