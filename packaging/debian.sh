#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make package`: builds a Debian package from the sources in this checkout, with Debian's packaging tools.
# Prints its path, build/debian/huddle_VERSION_ARCHITECTURE.deb. DEBFULLNAME and DEBEMAIL name the maintainer.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh build package >&2
place=$PWD/build/debian
sources=$place/huddle
rm -rf --one-file-system "$place"
mkdir -p "$sources"
git ls-files -z --cached --others --exclude-standard --deduplicate |
  tar --create --null --files-from=- --ignore-failed-read 2>/dev/null | tar --extract --directory="$sources"
cp -r packaging/debian "$sources/debian"

version=$(sed -n 's/^project(huddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
needs=$(awk '$1 == "build" { printf ", %s", $2 }' scripts/packages.txt)
maintainer="${DEBFULLNAME:-The huddle contributors} <${DEBEMAIL:-huddle@localhost}>"
sed "s/@BUILD_DEPENDS@/debhelper-compat (= 13)$needs/; s/@MAINTAINER@/$maintainer/" packaging/debian/control.in \
  >"$sources/debian/control"
rm "$sources/debian/control.in"
cat >"$sources/debian/changelog" <<END
huddle ($version-1) unstable; urgency=medium

  * CHANGELOG.md says what is new.

 -- $maintainer  $(git log -1 --format=%cD)
END
{
  printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' '' 'Files: *' \
    "$(sed -n 's/^Copyright (c) /Copyright: /p' LICENSE)" 'License: BSD-3-Clause'
  sed '1,/^Copyright/d; s/^$/./; s/^/ /' LICENSE | sed '1{/^ \.$/d}'
} >"$sources/debian/copyright"

if command -v ccache >/dev/null; then  # the build uses a different home folder
  CCACHE_DIR=$(ccache --get-config cache_dir)
  export CCACHE_DIR CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
export DEB_BUILD_OPTIONS="noautodbgsym nocheck parallel=${JOBS:-$(nproc)}"
(cd "$sources" && dpkg-buildpackage --build=binary --no-sign) >"$place/build.log" 2>&1 ||
  { tail -n 40 "$place/build.log" >&2; exit 1; }
ls "$place"/huddle_*.deb
