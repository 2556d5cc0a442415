#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Draws docs/pictures again: `huddle topo` of every machine file, schedules between nodes and how far
# their messages go, the ratios of what `huddle bench` measured, and the layers of src. Debian's
# packages (scripts/packages.txt) serve Debian's Python.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p docs/pictures
for machine in machines/*.toml; do
  build/release/bin/huddle topo --machine "$machine" --svg "docs/pictures/$(basename "$machine" .toml).svg"
done
build/release/bin/huddle schedule allgather:neighbor -n 7 --svg docs/pictures/schedule-allgather-neighbor-7.svg
build/release/bin/huddle schedule alltoall:bruck -n 256 --svg docs/pictures/schedule-alltoall-bruck-256.svg
build/release/bin/huddle distance allgather --ranks 2..256 --svg docs/pictures/distance-allgather.svg
for results in bench/results/*-ranks*.json; do
  /usr/bin/python3 -B scripts/ratios.py picture "$results" "docs/pictures/$(basename "$results" .json).svg"
done
/usr/bin/python3 -B scripts/dependencies.py docs/pictures/modules.svg
