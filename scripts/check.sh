#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make check MODULE=node`: builds the test programs of one module in build/check and runs their quick tests. After a
# change this takes seconds. LABEL=unit, proof or measures runs only the tests with this label (tests/labels.txt).
set -euo pipefail
cd "$(dirname "$0")/.."

module=${1:-}
label=${2:-}
modules=$(grep -rho --include=CMakeLists.txt '^huddle_tests([a-z_]*' tests | sed 's/.*(//' | sort | tr '\n' ' ')
if [ -z "$module" ] || [[ " $modules" != *" $module "* ]]; then
  echo "make check needs the name of a module, for example: make check MODULE=node. The modules are: $modules" >&2
  exit 2
fi
scripts/install-packages.sh build test
scripts/build.sh check -DHUDDLE_TESTS=ON -DHUDDLE_PRECOMPILE_TESTS=ON "check_$module"
selection=(--label-exclude '^(deep|mpi)$')
find src tests -type d -name "$module" -exec scripts/prose.py {} +
[ -z "$label" ] || selection+=(--label-regex "^$label\$")
exec ctest --test-dir build/check --tests-regex "^${module}[.]" "${selection[@]}" --output-on-failure \
  --no-label-summary --no-tests=error --parallel "${JOBS:-$(nproc)}"
