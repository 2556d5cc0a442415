#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Lists the sources of a kind, including untracked ones: scripts/sources.sh {cxx|shell|python|cmake}...
set -euo pipefail
cd "$(dirname "$0")/.."

files() { git ls-files --cached --others --exclude-standard --deduplicate -- "$@" | while read -r f; do [ -f "$f" ] && echo "$f"; done; }

for kind in "$@"; do
  case $kind in
    cxx) files '*.h' '*.c' '*.cc' '*.cpp' ;;
    shell) files '*.sh' '.ci/run' 'bench/peers' 'bench/pack' 'bench/portable/measure' ;;
    python) files '*.py' ;;
    cmake) files '*.cmake' '*CMakeLists.txt' ;;
    *) echo "sources.sh: unknown kind: $kind" >&2; exit 2 ;;
  esac
done
