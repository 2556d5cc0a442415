#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make demo`: from a clean clone to a picture of this machine, and to what huddle does for its MPI,
# as a table and as a report. What it measures goes to build/demo; a calibration that the user already
# has is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build-huddle.sh huddle

huddle=build/release/bin/huddle
out=build/demo
mkdir -p "$out"
echo "== huddle calibrate --quick: what does communication cost on this machine?"
"$huddle" calibrate --quick --force --output "$out/machine.toml"
echo
echo "== huddle topo: the machine, and the time of a cache line between any two cores"
"$huddle" topo --machine "$out/machine.toml"
"$huddle" topo --machine "$out/machine.toml" --svg "$out/machine.svg"
"$huddle" topo --machine "$out/machine.toml" --png "$out/machine.png"
echo
echo "== huddle bench --quick: the collectives of this machine's MPI, against huddle's"
# What an MPI's processes load, and the programs that measure in them.
parts_for_mpi() {
  local abi=mpich
  case $({ mpirun --version || mpiexec --version; } 2>/dev/null) in *'Open MPI'*) abi=openmpi ;; esac
  echo huddle "huddle_$abi" "huddle-bench-$abi" huddle_preload huddle_look huddle_heap_preload
}
has_mpi() { command -v mpirun >/dev/null || command -v mpiexec >/dev/null; }
# Without an MPI or matplotlib the demo is shorter, and says what to install.
if ! has_mpi || ! /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  scripts/install-packages.sh demo || true
fi
rm -f "$out/bench.json" "$out/bench.html"
if has_mpi; then
  # shellcheck disable=SC2046  # words
  scripts/build-huddle.sh $(parts_for_mpi)
  "$huddle" bench --quick --seconds 24 --machine "$out/machine.toml" --json "$out/bench.json"
  "$huddle" report "$out/bench.json" >/dev/null || true
else
  echo "There is no MPI on the PATH (Debian: apt install openmpi-bin); this times huddle without one:"
  "$huddle" bench --engine --quick --as-is --machine "$out/machine.toml" || true # a bar may be missed
fi
echo
echo "The figures:  $PWD/$out/machine.toml"
echo "The picture:  $PWD/$out/machine.svg (and machine.png)"
[ ! -f "$out/bench.html" ] || echo "The report:   $PWD/$out/bench.html"
echo "Next:         $huddle --help"
