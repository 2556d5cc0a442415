# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
# shellcheck shell=bash
#
# Functions that create a minimal Debian 12 (or another release: $DEBIAN_RELEASE), for scripts to source. The
# archive is $DEBIAN_MIRROR, or the one that this machine uses. The proxies of its apt and environment, and the
# certificates that its pip trusts, are copied into the new system.

trusted_by_pip=/etc/ssl/carried-in.crt

# need_own_mounts ARGUMENT...: restarts the script with its arguments in a new mount namespace, whose mounts
# disappear when the script ends. Scripts call it first. Needs root.
need_own_mounts() {
  if [ "$(id -u)" != 0 ]; then
    echo "${0##*/}: needs root, for debootstrap and chroot" >&2
    exit 1
  fi
  [ "${1:-}" = --inside ] ||
    exec unshare --mount --uts --pid --fork --kill-child --propagation private "$0" --inside "$@"
}

# Prints the archive of this machine's own packages.
debian_archive() {
  # shellcheck disable=SC2016  # apt expands it
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | sort -u | head -n 1
}

# fresh_debian FOLDER PACKAGE...: creates the system in FOLDER/debian, with downloads and logs beside it
fresh_debian() {
  local lab=$1 debian=$1/debian archive
  shift
  archive=${DEBIAN_MIRROR:-$(debian_archive)}
  [ -n "$archive" ] || { echo "apt is not configured with an archive of Debian; set DEBIAN_MIRROR" >&2; return 1; }
  rm -rf --one-file-system "$debian"
  mkdir -p "$lab/debs"
  debootstrap --variant=minbase --cache-dir="$lab/debs" "${DEBIAN_RELEASE:-bookworm}" "$debian" \
    "$archive" >"$lab/debootstrap.log" || { tail -n 20 "$lab/debootstrap.log" >&2; return 1; }
  apt-config dump | grep -E '^Acquire::https?::Proxy' >"$debian/etc/apt/apt.conf.d/90proxy" || true
  cp -L /etc/resolv.conf "$debian/etc/resolv.conf"
  # debootstrap does not write this file, unlike the installer. Without it MPIs wait for name servers.
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" >"$debian/etc/hosts"
  mount --bind "$debian" "$debian" # the new root must be a mount point
  mount -t proc proc "$debian/proc"
  mount --rbind /sys "$debian/sys"
  mount --rbind /dev "$debian/dev"
  inside "$lab" "apt-get -qq update && apt-get -qq install -y --no-install-recommends $*" \
    >"$lab/apt.log" 2>&1 || { tail -n 20 "$lab/apt.log" >&2; return 1; }
  install -D -m 644 "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$debian/$trusted_by_pip"
}

# inside FOLDER COMMAND: runs a shell command in the system as root. Changes the root of a mount namespace, because
# the kernel does not allow processes below a chroot to create user namespaces.
inside() {
  # shellcheck disable=SC2016  # the inner shell expands them
  env -i HOME=/root TERM="${TERM:-dumb}" PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" \
    PIP_CERT=$trusted_by_pip \
    unshare --mount --propagation private /bin/sh -c '
      cd "$1" && mkdir -p .outside && pivot_root . .outside && umount -l .outside && exec /bin/sh -c "$2"' \
    sh "$1/debian" "$2" </dev/null
}
