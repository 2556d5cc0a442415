#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Fails if a program or library of huddle needs a library that compute nodes or minimal containers may lack, or that a
# program may contain in another version: everything but the C library is part of huddle's files. The exceptions are
# libraries whose static version is missing in this build.
# Usage: libraries_test.sh PATH_OF_HUDDLE PATH_OF_LIBHUDDLE [EXCEPTION...]
set -euo pipefail

folder=$(dirname "$1")/../lib/huddle
allowed=" libc.so.6 libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ${*:3} "
status=0
for file in "$1" "$2" "$folder"/*; do
  while read -r library; do
    case $allowed in *" $library "*) continue ;; esac
    echo "$file needs $library" >&2
    status=1
  done < <(readelf --dynamic "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
done
exit "$status"
