#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make demo`: from a clean clone to a picture of this machine, and to what huddle does for its MPI. What it measures goes to build/demo;
# a calibration that the user already has is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build-huddle.sh

huddle=build/release/bin/huddle
out=build/demo
mkdir -p "$out"
echo "== huddle calibrate --quick: what does communication cost on this machine?"
"$huddle" calibrate --quick --output "$out/machine.toml"
echo
echo "== huddle topo: the machine, and the time of a cache line between any two cores"
"$huddle" topo --machine "$out/machine.toml"
"$huddle" topo --machine "$out/machine.toml" --svg "$out/machine.svg"
"$huddle" topo --machine "$out/machine.toml" --png "$out/machine.png"
echo
echo "== huddle bench --quick: the collectives of this machine's MPI, against huddle's"
if command -v mpirun >/dev/null || command -v mpiexec >/dev/null; then
  "$huddle" bench --quick --machine "$out/machine.toml" --json "$out/bench.json"
else
  echo "There is no MPI on the PATH (Debian: apt install openmpi-bin); this times huddle without one:"
  "$huddle" bench --engine --quick --as-is --machine "$out/machine.toml" || true # a bar may be missed
fi
echo
echo "The figures:  $PWD/$out/machine.toml"
echo "The picture:  $PWD/$out/machine.svg (and machine.png)"
echo "Next:         $huddle --help"
