#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# All allgathers of 8 B, 8 KB and 120 KB among 16,384 nodes of a fat tree and of a dragonfly, within 10
# minutes of one core and 4 GiB: tests/sim/large_test.sh HUDDLE
set -euo pipefail
cd "$(dirname "$0")/../.."

ulimit -v $((4 * 1024 * 1024))
for fabric in fat-tree-1to1 dragonfly; do
  for size in 8 8K 120K; do
    "$1" sim --fabric "machines/fabrics/$fabric.toml" allgather "$size" --columns 100
    echo
  done
done
# Children's user and system time, in hundredths of a second.
read -r user system < <(awk '{ print $16, $17 }' "/proc/$$/stat")
echo "$(((user + system) / 100)) seconds of a processor"
[ $((user + system)) -le 60000 ]
