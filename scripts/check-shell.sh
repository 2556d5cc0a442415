#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs shellcheck on every shell script.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t scripts < <(scripts/sources.sh shell)
[ "${#scripts[@]}" -gt 0 ] || { echo "no scripts found" >&2; exit 1; }
shellcheck --external-sources "${scripts[@]}"
echo "${#scripts[@]} scripts have no findings"
