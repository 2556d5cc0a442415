#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Simulates all allgathers of 8 B, 8 KB and 120 KB among 16,384 nodes of a fat tree and of a
# dragonfly. Limits: 10 minutes of CPU time and 4 GiB. Usage: tests/simulate/network/large_test.sh
# HUDDLE
set -euo pipefail
cd "$(dirname "$0")/../../.."

readonly seconds_allowed=600 kib_allowed=$((4 * 1024 * 1024))
ulimit -v "$kib_allowed"
for fabric in fat-tree-1to1 dragonfly; do
  for size in 8 8K 120K; do
    COLUMNS=100 "$1" sim --fabric "machines/fabrics/$fabric.toml" allgather "$size"
    echo
  done
done
# CPU time of the child processes: user and system, in ticks.
read -r user system < <(awk '{ print $16, $17 }' "/proc/$$/stat")
seconds=$(((user + system) / $(getconf CLK_TCK)))
echo "$seconds seconds of a processor, $seconds_allowed allowed"
[ "$seconds" -le "$seconds_allowed" ]
