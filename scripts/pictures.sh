#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Draws docs/pictures again: `huddle topo` of every machine file, the ratios of what `huddle bench`
# measured, and the rooms of the house. Debian's packages (scripts/packages.txt) serve Debian's Python.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p docs/pictures
for machine in machines/*.toml; do
  build/release/bin/huddle topo --machine "$machine" --svg "docs/pictures/$(basename "$machine" .toml).svg"
done
for results in bench/results/*-ranks*.json; do
  /usr/bin/python3 -B scripts/ratios.py picture "$results" "docs/pictures/$(basename "$results" .json).svg"
done
/usr/bin/python3 -B scripts/rooms.py docs/pictures/rooms.svg
