#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Installs the packages for one or more purposes: scripts/install-packages.sh build [test [test-all]]
# Installs missing packages if it can (as root, or by sudo without a password). Otherwise prints the command
# that would install them and exits with status 1. If nothing is missing, it does not call apt.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "${PACKAGES:-}" = skip ] && exit 0
if ! command -v dpkg-query >/dev/null; then
  echo "huddle: this is not Debian; install the packages in scripts/packages.txt" >&2
  exit 0
fi

wanted=()
for purpose in "$@"; do
  mapfile -t -O "${#wanted[@]}" wanted < <(awk -v p="$purpose" '$1 == p { print $2 }' scripts/packages.txt)
done
[ "${#wanted[@]}" -gt 0 ] || { echo "huddle: scripts/packages.txt has no purpose '$*'" >&2; exit 2; }

# dpkg-query fails if it does not know one of the names, but still prints the status of the others.
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
    echo "huddle: some packages are missing, and installing them needs root. Run:"
    echo
    echo "    sudo ${install[*]}"
    echo
    echo "If the libraries are installed in another way: make PACKAGES=skip ..."
  } >&2
  exit 1
fi
echo "huddle: installing ${missing[*]}" >&2
# The package lists may be absent or old. Update them only if the first attempt fails.
"${as_root[@]}" "${install[@]}" -qq </dev/null >&2 || {
  "${as_root[@]}" apt-get update -qq </dev/null >&2
  "${as_root[@]}" "${install[@]}" -qq </dev/null >&2
}
