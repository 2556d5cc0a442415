#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Installs the packages that the build needs and builds the targets, by default everything that `make install`
# installs: scripts/build-huddle.sh [TARGET...]
# The tests need more packages and are left out, unless the build folder is already configured with them.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build
options=()
[ -f build/release/build.ninja ] || options=(-DHUDDLE_TESTS=OFF)
scripts/build.sh release "${options[@]}" "${@:-src/all}"
