#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Redraws docs/pictures: `huddle topo` of every machine file, schedules between nodes and the distances of
# their messages, the ratios that `huddle bench` measured, and the layers of src. Uses /usr/bin/python3,
# because the packages of scripts/packages.txt install matplotlib for Debian's Python.
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
