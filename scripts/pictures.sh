#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Draws docs/pictures again: `huddle topo` of every machine file.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p docs/pictures
for machine in machines/*.toml; do
  build/release/bin/huddle topo --machine "$machine" --svg "docs/pictures/$(basename "$machine" .toml).svg"
done
