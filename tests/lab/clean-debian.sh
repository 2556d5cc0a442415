#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# The README's promise, tried: a Debian 12 with nothing but git, make and ca-certificates, a clean
# clone of the last commit, `make demo` and `make test`, each twice. Fails where a command fails or
# takes longer than the README says. Needs root. Mounts live in a namespace of their own and end
# with it; $DEBIAN_MIRROR and the proxies of this machine's apt and environment are carried in.
set -euo pipefail
cd "$(dirname "$0")/../.."

mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
lab=$PWD/build/lab
debian=$lab/debian

if [ "$(id -u)" != 0 ]; then
  echo "clean-debian.sh: needs root, for debootstrap and chroot" >&2
  exit 1
fi
# Once more, in a namespace of our own: whatever is mounted from here on is gone when we are.
if [ "${1:-}" != --inside ]; then
  exec unshare --mount --pid --fork --kill-child --propagation private "$0" --inside
fi

inside() {
  env -i HOME=/root TERM="${TERM:-dumb}" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" \
    chroot "$debian" /bin/sh -c "$1" </dev/null
}

prepare() {
  rm -rf --one-file-system "$debian"
  mkdir -p "$lab/debs"
  debootstrap --variant=minbase --cache-dir="$lab/debs" bookworm "$debian" "$mirror" \
    >"$lab/debootstrap.log" || { tail -n 20 "$lab/debootstrap.log" >&2; return 1; }
  apt-config dump | grep -E '^Acquire::https?::Proxy' >"$debian/etc/apt/apt.conf.d/90proxy" || true
  cp -L /etc/resolv.conf "$debian/etc/resolv.conf"
  mount -t proc proc "$debian/proc"
  mount --rbind /sys "$debian/sys"
  mount --rbind /dev "$debian/dev"
  inside 'apt-get -qq update && apt-get -qq install -y --no-install-recommends git make ca-certificates' \
    >"$lab/apt.log" 2>&1 || { tail -n 20 "$lab/apt.log" >&2; return 1; }
  git clone -q "file://$PWD" "$debian/root/huddle"
}

# The minutes that the README's table promises for a command.
promised_seconds() {
  sed -n "s/^| \`$1\` |.*| *\([0-9]*\) min *|\$/\1/p" README.md | awk '{ print $1 * 60 }'
}

status=0
try() { # try COMMAND MOST_SECONDS: runs it in the clone and holds its time against the promise
  local start=$SECONDS word=fine log
  log="$lab/${1// /-}-$3.log"
  inside "cd /root/huddle && $1" >"$log" 2>&1 || word=FAILED
  local took=$((SECONDS - start))
  [ "$word" = FAILED ] || [ "$took" -le "${2:-0}" ] || word="TOO SLOW: the README says ${2:-nothing} s"
  [ "$word" = fine ] || { status=1; tail -n 30 "$log" >&2; }
  printf '%-12s %-7s %5d s  %s\n' "$1" "$3" "$took" "$word"
}

prepare
try "make demo" "$(promised_seconds "make demo")" first
try "make demo" 60 second
try "make test" "$(promised_seconds "make test")" first
try "make test" "$(promised_seconds "make test")" second
exit "$status"
