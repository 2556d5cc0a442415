#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Builds huddle for 64-bit Arm and runs the unit tests under qemu-user. Needs no root: downloads the Arm
# libraries with a separate apt configuration and unpacks them into build/aarch64-sysroot.
set -euo pipefail
cd "$(dirname "$0")/../.."

sysroot=$PWD/build/aarch64-sysroot
apt_home=$PWD/build/aarch64-apt

# Prints the packages of all libraries that the build and the tests link, and of the C and C++ runtimes.
packages() {
  awk '($1 == "build" || $1 == "test") && $2 ~ /^lib|-dev$/ { print $2 }' scripts/packages.txt
  echo libc6-dev libstdc++-12-dev libgcc-12-dev
}

arm_apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
    -o Dir::State="$apt_home/state" -o Dir::State::status="$apt_home/status" \
    -o Dir::Cache="$apt_home/cache" -o Debug::NoLocking=true -o APT::Sandbox::User="$(id -un)" "$@"
}

unpack_sysroot() {
  local want have=$sysroot/.packages archive
  want=$(packages | xargs)
  [ -f "$have" ] && [ "$(cat "$have")" = "$want" ] && return
  echo "fetching the Arm libraries into $sysroot"
  rm -rf --one-file-system "$sysroot"
  mkdir -p "$sysroot" "$apt_home/state/lists/partial" "$apt_home/cache/archives/partial"
  : >"$apt_home/status"  # an empty list of installed packages, so that apt downloads all dependencies
  arm_apt update
  # shellcheck disable=SC2086  # one word a package
  arm_apt install --download-only --no-install-recommends -y $want
  for archive in "$apt_home"/cache/archives/*.deb; do dpkg -x "$archive" "$sysroot"; done
  echo "$want" >"$have"
}

unpack_sysroot
scripts/build.sh aarch64
# Excluded: qemu-user implements vfork as fork, so that a program that does not exist looks like one that fails.
ctest --preset aarch64 --exclude-regex RunProgram.SaysWhenThereIsNoSuchProgram --parallel "${JOBS:-$(nproc)}" "$@"
