#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs clang-tidy on the sources:
#   scripts/tidy.sh                          all of them, with clang's warnings; skips those that passed before
#   scripts/tidy.sh --changed [--seconds N]  those whose content changed since the commit in tests/passed.txt, the
#                                            most changed first; with --seconds none is started after N seconds
# Either records the commit in tests/passed.txt if every source passed. A moved file with the same content is not
# checked again. --changed runs clang-tidy directly, because Ninja would first build the targets that the sources need.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != --changed ]; then
  NINJA_FLAGS="-k 0" scripts/build.sh tidy  # reports the findings in all sources
  exec scripts/passed.sh record tidy
fi
seconds=
[ "${2:-}" != --seconds ] || seconds=${3:?--seconds needs a number}

base=$(scripts/passed.sh commit tidy)
if ! git cat-file -e "$base^{commit}" 2>/dev/null; then
  echo "clang-tidy last passed at $base, which this clone does not have: run git fetch --unshallow" >&2
  exit 1
fi
# A header is checked through the source of the same name. --find-renames=100% shows a moved file as "0 0 old => new".
mapfile -t changed < <({
  git diff --numstat --find-renames=100% "$base" | awk -F '\t' '$1 + $2 > 0 { print $1 + $2 "\t" $3 }'
  git ls-files --others --exclude-standard | sed 's/^/1\t/'
} | sed -n 's/\.h$/.cc/; /\ttests\/fuzz\//d; /\t\(src\|tests\)\/.*\.\(cc\|cpp\)$/p' |
  awk -F '\t' '{ lines[$2] += $1 } END { for (source in lines) print lines[source] "\t" source }' |
  sort -k1,1nr -k2 | cut -f 2)
sources=()
for source in "${changed[@]}"; do
  [ ! -f "$source" ] || sources+=("$source")
done
echo "${#sources[@]} sources changed since clang-tidy passed at $(git rev-parse --short "$base")"
[ "${#sources[@]}" -gt 0 ] || exit 0

scripts/build.sh --configure tidy
left_out=$(mktemp)
trap 'rm -f "$left_out"' EXIT
# shellcheck disable=SC2016  # the inner shell expands these
check='
  if [ -n "$1" ] && [ "$(date +%s)" -ge "$1" ]; then
    echo "$3" >>"$2"
  else
    exec clang-tidy --quiet -p build/tidy "$3"
  fi'
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c "$check" check "${seconds:+$(($(date +%s) + seconds))}" "$left_out"
if [ -s "$left_out" ]; then
  echo "not checked within $seconds s; run scripts/tidy.sh --changed:"
  sort "$left_out"
else
  scripts/passed.sh record tidy
fi
