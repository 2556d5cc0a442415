#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Installs what the build needs and builds these targets, or all that `make install` installs, without the tests, which
# need more packages: scripts/build-huddle.sh [TARGET...]
# A new folder gets unity builds, which take less time from nothing. A folder that has been configured keeps its options.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build
options=()
[ -f build/release/build.ninja ] || options=(-DHUDDLE_TESTS=OFF -DHUDDLE_UNITY=ON)
scripts/build.sh release "${options[@]}" "${@:-src/all}"
