#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests the folder that bench/pack makes on minimal systems: Debian 12, Debian 11 with its older C library, and a
# busybox without a C library. Runs as nobody, from a read-only folder with a space in its path, without a network.
# Only the results may be left behind. Needs root for debootstrap and chroot, and the MPIs of bench/peers.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/lab/fresh_debian.sh
lab=$PWD/build/portable-lab

need_own_mounts "$@"

fail() { echo "FAILED: $*" >&2; exit 1; }

# nothing_installed FOLDER: creates a system whose only program is busybox
nothing_installed() {
  local system=$1
  rm -rf --one-file-system "$system"
  mkdir -p "$system"/{bin,dev,proc,sys}
  cp "$(command -v busybox)" "$system/bin/busybox"
  chroot "$system" /bin/busybox --install -s /bin
  mount -t proc proc "$system/proc"
  mount --rbind /sys "$system/sys"
  mount --rbind /dev "$system/dev"
}

# measure_in SYSTEM: runs `measure` as nobody and checks its results
measure_in() {
  local system=$1 place="$1/opt/a place"
  mkdir -p "$place" "$system/tmp"
  chmod 1777 "$system/tmp"
  tar --extract --gzip --file="$lab/huddle-portable.tar.gz" --directory="$place"
  mount --bind "$place" "$place"
  mount -o remount,ro,bind "$place"
  mount -t tmpfs -o mode=1777 tmpfs "$system/dev/shm"
  # Only the loopback interface, as in a container without a network.
  # shellcheck disable=SC2016  # the shell inside expands them
  unshare --net sh -c 'ip link set lo up && exec "$@"' sh \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nowhere chroot --userspec=65534:65534 "$system" \
    /bin/sh -c 'cd /tmp && exec "/opt/a place/huddle-portable/measure" --quick --ranks 2,3' \
    </dev/null >"$system.log" 2>&1 || fail "$system: $(tail -n 20 "$system.log")"
  [ -z "$(ls -A "$system/dev/shm")" ] || fail "$system: left in /dev/shm: $(ls "$system/dev/shm")"
  [ "$(ls -A "$system/tmp")" = huddle-results ] || fail "$system: left in /tmp: $(ls -A "$system/tmp")"
  [ "$(find "$system/tmp/huddle-results" -name '*.toml' | wc -l)" = 1 ] || fail "$system: no machine file"
  [ "$(find "$system/tmp/huddle-results" -name '*.json' | wc -l)" = 5 ] || fail "$system: not all results"
  tests/lab/portable_result.py "$system"/tmp/huddle-results/*.json
}

mkdir -p "$lab"
bench/pack --output "$lab"
hostname a-node-nobody-knows # a name that cannot be resolved

for release in bookworm bullseye; do
  DEBIAN_RELEASE=$release fresh_debian "$lab/$release"
  echo "== $(sed -n 's/^PRETTY_NAME=//p' "$lab/$release/debian/etc/os-release")"
  measure_in "$lab/$release/debian"
done
nothing_installed "$lab/busybox"
echo "== a busybox"
measure_in "$lab/busybox"
echo "the portable folder works on all systems"
