# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
# shellcheck shell=bash
#
# For scripts that need a Debian 12 (or another: $DEBIAN_RELEASE) with next to nothing in it; they source
# this. The archive is $DEBIAN_MIRROR, or the one in this machine's lists of packages; the proxies of its
# apt and environment, and whom its pip trusts, are carried in.

trusted_by_pip=/etc/ssl/carried-in.crt

# need_own_mounts ARGUMENT...: a script's first words, with all that it was called with; needs root. It
# runs once more in a namespace of its own: whatever is mounted from here on is gone when it is.
need_own_mounts() {
  if [ "$(id -u)" != 0 ]; then
    echo "${0##*/}: needs root, for debootstrap and chroot" >&2
    exit 1
  fi
  [ "${1:-}" = --inside ] ||
    exec unshare --mount --uts --pid --fork --kill-child --propagation private "$0" --inside "$@"
}

# The archive from which this machine's own packages come.
debian_archive() {
  # shellcheck disable=SC2016  # apt is to expand it
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | sort -u | head -n 1
}

# fresh_debian FOLDER PACKAGE...: the system below FOLDER/debian, downloads and logs beside it
fresh_debian() {
  local lab=$1 debian=$1/debian archive
  shift
  archive=${DEBIAN_MIRROR:-$(debian_archive)}
  [ -n "$archive" ] || { echo "apt knows no archive of Debian here; set DEBIAN_MIRROR" >&2; return 1; }
  rm -rf --one-file-system "$debian"
  mkdir -p "$lab/debs"
  debootstrap --variant=minbase --cache-dir="$lab/debs" "${DEBIAN_RELEASE:-bookworm}" "$debian" \
    "$archive" >"$lab/debootstrap.log" || { tail -n 20 "$lab/debootstrap.log" >&2; return 1; }
  apt-config dump | grep -E '^Acquire::https?::Proxy' >"$debian/etc/apt/apt.conf.d/90proxy" || true
  cp -L /etc/resolv.conf "$debian/etc/resolv.conf"
  # An installer writes this file; debootstrap does not. Without it MPIs wait for name servers.
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" >"$debian/etc/hosts"
  mount --bind "$debian" "$debian" # what becomes a root has to be mounted
  mount -t proc proc "$debian/proc"
  mount --rbind /sys "$debian/sys"
  mount --rbind /dev "$debian/dev"
  inside "$lab" "apt-get -qq update && apt-get -qq install -y --no-install-recommends $*" \
    >"$lab/apt.log" 2>&1 || { tail -n 20 "$lab/apt.log" >&2; return 1; }
  install -m 644 "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$debian/$trusted_by_pip"
}

# inside FOLDER COMMAND: a line for the system's shell, by root. The system's root is a true one: below
# a chroot the kernel lets nobody make namespaces of his own.
inside() {
  # shellcheck disable=SC2016  # the inner shell is to expand them
  env -i HOME=/root TERM="${TERM:-dumb}" PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" \
    PIP_CERT=$trusted_by_pip \
    unshare --mount --propagation private /bin/sh -c '
      cd "$1" && mkdir -p .outside && pivot_root . .outside && umount -l .outside && exec /bin/sh -c "$2"' \
    sh "$1/debian" "$2" </dev/null
}
