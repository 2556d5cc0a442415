#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make test`: everything that a change has to pass, as one ctest run, so that its closing line speaks
# for all of it: unit tests, style checks, the sanitizer builds and the fuzz targets (tests/checks).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build test
# Without PyPI, or on Arm, some MPIs are missing: this says which, and their tests that they are skipped.
bench/peers >/dev/null || true
scripts/build.sh release -DHUDDLE_TESTS=ON -DHUDDLE_CHECKS=ON -DHUDDLE_PRECOMPILE_TESTS=ON
exec ctest --test-dir build/release --output-on-failure --no-label-summary --no-tests=error \
  --parallel "${JOBS:-$(nproc)}"
