#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Installs what the build needs and builds these targets, or all that `make install` installs, without the tests, which
# need more packages: scripts/build-huddle.sh [TARGET...]
# A folder that has been configured with the tests keeps them.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build
options=()
[ -f build/release/build.ninja ] || options=(-DHUDDLE_TESTS=OFF)
scripts/build.sh release "${options[@]}" "${@:-src/all}"
