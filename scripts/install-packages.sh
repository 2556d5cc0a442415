#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Sees to it that the packages for a purpose are there: scripts/install-packages.sh build [test [test-all]]
# Installs what is missing where it may (root, or sudo without a password); otherwise prints the one
# line that would, and stops with status 1. Nothing missing: apt is not called at all.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "${PACKAGES:-}" = skip ] && exit 0
if ! command -v dpkg-query >/dev/null; then
  echo "huddle: this is not Debian; scripts/packages.txt lists what the build needs" >&2
  exit 0
fi

wanted=()
for purpose in "$@"; do
  mapfile -t -O "${#wanted[@]}" wanted < <(awk -v p="$purpose" '$1 == p { print $2 }' scripts/packages.txt)
done
[ "${#wanted[@]}" -gt 0 ] || { echo "huddle: scripts/packages.txt knows no purpose '$*'" >&2; exit 2; }

# A name that dpkg has never heard of makes it fail; the list that it prints is still the answer.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | sed -n 's/^installed //p') || true
missing=()
for package in "${wanted[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" = 0 ]; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
elif sudo -n true 2>/dev/null; then
  as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
else
  {
    echo "huddle: some packages are missing and may not be installed from here. Ask for:"
    echo
    echo "    sudo ${install[*]}"
    echo
    echo "or, where you have them by other means: make PACKAGES=skip ..."
  } >&2
  exit 1
fi
echo "huddle: installing ${missing[*]}" >&2
# The package lists may be absent or old: fetch them only when the first try fails.
"${as_root[@]}" "${install[@]}" -qq </dev/null >&2 || {
  "${as_root[@]}" apt-get update -qq </dev/null >&2
  "${as_root[@]}" "${install[@]}" -qq </dev/null >&2
}
