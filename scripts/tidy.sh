#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# clang and clang-tidy over the tree, or with --changed over the sources that this branch changes
# (on main: that its last commit changed), or with --changed N over the N of them that changed most:
# a source takes up to half a minute. Ninja remembers what has passed of the tree; asked for the few sources
# that changed, it would build first whatever their tests run, so clang-tidy is run on these directly.
set -euo pipefail
cd "$(dirname "$0")/.."

export NINJA_FLAGS="-k 0"  # every finding at once
[ "${1:-}" = --changed ] || exec scripts/build.sh tidy

# The commit to compare with: where this branch left main; on main itself, the commit before.
base_commit() {
  local main base
  main=$(git rev-parse -q --verify origin/main || git rev-parse -q --verify main) || main=HEAD
  base=$(git merge-base HEAD "$main") || base=
  [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse -q --verify HEAD~1) || base=
  echo "$base"
}

base=$(base_commit)
if [ -z "$base" ]; then
  echo "no earlier commit to compare with; 'make tidy' looks at the whole tree"
  exit 0
fi
# A header is looked at through the source of the same name. Fuzz targets are built elsewhere.
mapfile -t changed < <({
  git diff --numstat --no-renames "$base" | awk -F '\t' '{ print $1 + $2 "\t" $3 }'
  git ls-files --others --exclude-standard | sed 's/^/1\t/'
} | sed -n 's/\.h$/.cc/; /\ttests\/fuzz\//d; /\t\(src\|tests\)\/.*\.\(cc\|cpp\)$/p' |
  awk -F '\t' '{ lines[$2] += $1 } END { for (source in lines) print lines[source] "\t" source }' |
  sort -k1,1nr -k2 | cut -f 2)
sources=()
for source in "${changed[@]}"; do
  [ ! -f "$source" ] || sources+=("$source")
done
most=${2:-${#sources[@]}}
echo "${#sources[@]} sources changed since $(git rev-parse --short "$base"), at most $most are looked at"
[ "${#sources[@]}" -eq 0 ] || {
  scripts/build.sh --configure tidy
  printf '%s\0' "${sources[@]:0:most}" |
    xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy --quiet -p build/tidy
}
