#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks that clang-format would leave every C and C++ source as it is. --fix formats them.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(--dry-run --Werror)
[ "${1:-}" = --fix ] && mode=(-i)
mapfile -t sources < <(scripts/sources.sh cxx)
[ "${#sources[@]}" -gt 0 ] || { echo "no sources found" >&2; exit 1; }
clang-format "${mode[@]}" "${sources[@]}" || { echo "run: make format" >&2; exit 1; }
echo "${#sources[@]} files are formatted"
