#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs one tier of the tests as one ctest run:
#   scripts/test.sh        `make test`: the tests that every change must pass
#   scripts/test.sh deep   `make test-deep`: the tests with the label "deep" (tests/labels.txt)
# Installs the packages and sets up the MPIs that the tier needs.
set -euo pipefail
cd "$(dirname "$0")/.."

tier=${1:-quick}
case $tier in
  quick)
    scripts/install-packages.sh build test
    peers=(--only openmpi-4 --only mpich-4)
    selection=(--label-exclude '^deep$')
    ;;
  deep)
    scripts/install-packages.sh build test test-deep
    peers=()
    selection=(--label-regex '^deep$')
    ;;
  *)
    echo "usage: scripts/test.sh [deep]" >&2
    exit 2
    ;;
esac
# Some MPIs are missing without PyPI or on Arm. bench/peers prints which ones, and their tests are skipped.
bench/peers "${peers[@]}" >/dev/null || true
scripts/build.sh release -DHUDDLE_TESTS=ON -DHUDDLE_CHECKS=ON -DHUDDLE_PRECOMPILE_TESTS=ON
exec ctest --test-dir build/release "${selection[@]}" --output-on-failure --no-label-summary --no-tests=error \
  --output-junit "$PWD/build/test-$tier.xml" --parallel "${JOBS:-$(nproc)}"
