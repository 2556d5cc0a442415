#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make demo`: builds huddle from a clean clone, draws this machine and compares huddle with its MPI, as a
# table and as a report. Pictures and results go to build/demo. The machine file goes to the place where
# every huddle command looks for it, unless there is one already, which is not replaced.
set -euo pipefail
cd "$(dirname "$0")/.."

has_mpi() { command -v mpirun >/dev/null || command -v mpiexec >/dev/null; }

# Without an MPI or matplotlib the demo is shorter and prints what to install.
if ! has_mpi || ! /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
  scripts/install-packages.sh build demo || true
fi
# shellcheck disable=SC2046  # words
scripts/build-huddle.sh $(scripts/demo-parts.sh)

huddle=build/release/bin/huddle
out=build/demo
mkdir -p "$out"
rm -f "$out/bench.json" "$out/bench.html"
# Prints the machine file that commands use by default, or nothing if there is none.
found_file() { "$huddle" topo --json | sed -n 's/.*"machine_file":"\([^"]*\)".*/\1/p'; }
# Prints how the figures in a machine file were measured: quick, full or none.
calibration_of() {
  "$huddle" topo --machine "$1" --json | sed -n 's/.*"calibration":"\([a-z]*\)".*/\1/p'
}

echo "== huddle calibrate --quick: the cost of communication on this machine"
file=$out/machine.toml
kept=$(found_file)
if [ -z "$kept" ] && "$huddle" calibrate --quick; then
  kept=$(found_file)
  file=$kept
else
  "$huddle" calibrate --quick --force --output "$file"
fi
echo
echo "== huddle topo: the machine, and the time of a cache line between any two cores"
"$huddle" topo --machine "$file"
"$huddle" topo --machine "$file" --svg "$out/machine.svg"
echo
echo "== huddle bench --quick: the collectives of this machine's MPI, compared with huddle's"
if has_mpi; then
  "$huddle" bench --quick --seconds 24 --machine "$file" --json "$out/bench.json"
  "$huddle" report "$out/bench.json" >/dev/null || true
else
  echo "There is no MPI on the PATH (Debian: apt install openmpi-bin); this benchmark needs none:"
  "$huddle" bench engine --quick --no-calibrate --machine "$file" || true # a speed may be below its target
fi
echo
if [ "$file" = "$kept" ]; then
  echo "The figures:  $file; huddle run finds them there"
else
  echo "The figures:  $PWD/$file; huddle run uses ${kept:-none, because they are too unsteady}"
fi
if [ -n "$kept" ] && [ "$(calibration_of "$kept")" = quick ]; then
  echo "              $kept is from a quick run and can be inaccurate."
  echo "              For accurate figures, run on an idle machine (about a minute): $huddle calibrate"
fi
echo "The picture:  $PWD/$out/machine.svg"
[ ! -f "$out/bench.html" ] || echo "The report:   $PWD/$out/bench.html"
echo "Next:         $huddle --help"
