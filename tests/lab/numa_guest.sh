#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs the placement tests on four NUMA nodes, or with NUMA_GUEST_PART=threads the tests of communicating threads, in
# an emulated machine, which needs neither root nor /dev/kvm. The initramfs is the whole system: busybox, the test
# programs, huddle, and the libraries that they load. Downloads Debian's kernel once, into build/lab/numa.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build/release}
lab=$PWD/build/lab/numa
system=$lab/system
nodes=4
part=${NUMA_GUEST_PART:-placement}
# The limit is long because emulation is slow, and the emulated processors share the real ones.
limit_seconds=900
mkdir -p "$lab"

# Prints the list of tests, as PROGRAM FILTER.
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

# Prints the init script of the guest, which runs the tests, prints their status and powers off.
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

# pack_program FILE FOLDER: copies a program and the libraries that it loads into the system.
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

# Prints QEMU's options for the nodes: two processors and 256 MiB each. Nodes 0 and 1 are close, and so are 2 and 3.
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
  # shellcheck disable=SC2046  # one option per word
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
