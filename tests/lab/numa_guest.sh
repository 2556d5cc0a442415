#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs the placement tests, or with NUMA_GUEST_PART=threads threads that talk, where there are four
# NUMA nodes: in an emulated machine, which needs neither root nor /dev/kvm. Its whole system is one archive in memory: busybox,
# the test programs, huddle, and the libraries that they load. Debian's own kernel is fetched once,
# into build/lab/numa.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build/release}
lab=$PWD/build/lab/numa
system=$lab/system
nodes=4
part=${NUMA_GUEST_PART:-placement}
# Emulated processors share those that there are.
limit_seconds=900
mkdir -p "$lab"

# The list of tests, as PROGRAM FILTER.
tests() {
  [ "$part" = placement ] || return 0
  echo "memory/memory_tests Arena*:Numa*"
  echo "team/team_tests Placement*:Peers.Of*"
}

fetch_kernel() {
  [ -f "$lab/vmlinuz" ] && return
  local package
  package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
  (cd "$lab" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$package")
  dpkg-deb --fsys-tarfile "$lab/$package"_*.deb | tar -xO --wildcards './boot/vmlinuz-*' >"$lab/vmlinuz.new"
  mv "$lab/vmlinuz.new" "$lab/vmlinuz"
  rm "$lab/$package"_*.deb
}

# What the guest does in place of an init: it says how the tests ended, and turns itself off.
guest_init() {
  cat <<'INIT'
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
status=0
while read -r program filter; do
  "/tests/${program##*/}" --gtest_brief=1 --gtest_filter="$filter" </dev/null || status=1
done </tests/list
if [ -e /tests/numa_guest_threads.sh ]; then
  /tests/numa_guest_threads.sh </dev/null || status=1
fi
echo "nodes: $(cat /sys/devices/system/node/online)"
echo "status: $status"
poweroff -f
INIT
}

# A program, and what it loads: pack_program FILE FOLDER
pack_program() {
  mkdir -p "$system/$2"
  cp "$1" "$system/$2/"
  ldd "$1" | grep -o '/[^ ]*' | xargs cp --parents -Lt "$system"
}

pack_system() {
  local program
  rm -rf --one-file-system "$system"
  mkdir -p "$system"/{bin,proc,sys,dev,tmp,tests}
  cp /bin/busybox "$system/bin/"
  guest_init >"$system/init"
  chmod +x "$system/init"
  tests >"$system/tests/list"
  tests | while read -r program _; do
    pack_program "$build/tests/$program" tests
  done
  if [ "$part" = threads ]; then
    pack_program "$build/bin/huddle" huddle/bin
    pack_program "$build/lib/huddle/huddle-pattern" huddle/lib/huddle
    pack_program "$build/lib/huddle/libhuddle_threads.so" huddle/lib/huddle
    cp tests/lab/numa_guest_threads.sh "$system/tests/"
  fi
  (cd "$system" && find . | cpio -o -H newc --quiet | gzip -1) >"$lab/system.gz"
}

# Two processors and 256 MiB a node; nodes 0 and 1, and 2 and 3, are near each other.
node_options() {
  local node other
  for ((node = 0; node < nodes; node++)); do
    echo "-object memory-backend-ram,id=m$node,size=256M"
    echo "-numa node,nodeid=$node,cpus=$((2 * node))-$((2 * node + 1)),memdev=m$node"
  done
  for ((node = 0; node < nodes; node++)); do
    for ((other = node + 1; other < nodes; other++)); do
      echo "-numa dist,src=$node,dst=$other,val=$((node / 2 == other / 2 ? 16 : 32))"
    done
  done
}

run_guest() {
  # shellcheck disable=SC2046  # every word an option
  timeout "$limit_seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu max \
    -smp $((2 * nodes)),sockets=$nodes,cores=2,threads=1 -m $((256 * nodes))M $(node_options) \
    -kernel "$lab/vmlinuz" -initrd "$lab/system.gz" \
    -append 'console=ttyS0 quiet panic=-1 mitigations=off' \
    -nodefaults -display none -no-reboot -serial stdio </dev/null | tr -d '\r' | tee "$lab/console.log"
}

fetch_kernel
pack_system
run_guest
grep -qx "nodes: 0-$((nodes - 1))" "$lab/console.log" && grep -qx 'status: 0' "$lab/console.log"
