#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Copies the licences of huddle, and of the Debian packages whose code its programs and libraries contain, into a folder:
# packaging/licenses.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."

cp LICENSE "$1/huddle"
for package in $(awk '$1 == "build" { print $2 }' scripts/packages.txt) libbpf-dev libelf-dev zlib1g-dev \
  "libstdc++-$(gcc -dumpversion)-dev"; do
  case $package in cmake | g++ | ninja-build | pkg-config) continue ;; esac
  [ ! -f "/usr/share/doc/$package/copyright" ] || cp "/usr/share/doc/$package/copyright" "$1/$package"
done
