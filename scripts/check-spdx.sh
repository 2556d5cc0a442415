#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks that every source names its licence in its first lines, and lists those that do not.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(scripts/sources.sh cxx shell python cmake)
[ "${#sources[@]}" -gt 0 ] || { echo "no sources found" >&2; exit 1; }
status=0
for source in "${sources[@]}"; do
  head -n 4 "$source" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' ||
    { echo "$source:1: no SPDX-License-Identifier: BSD-3-Clause in its first lines"; status=1; }
done
[ "$status" = 0 ] && echo "${#sources[@]} files have a licence line"
exit "$status"
