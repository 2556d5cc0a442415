#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Fails if huddle loads a graphics library, because compute nodes often do not have any.
# Usage: libraries_test.sh PATH_OF_HUDDLE
set -euo pipefail

libraries=$(ldd "$1")
[[ $libraries = *libc.so* ]] || { echo "ldd printed no list: $libraries" >&2; exit 1; }
graphics=$(grep -E 'X11|xcb|Xext|Xrender|cairo|pixman|fontconfig|freetype' <<<"$libraries" || true)
[ -z "$graphics" ] || { printf '%s loads graphics libraries:\n%s\n' "$1" "$graphics" >&2; exit 1; }
