#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks that a compiler accepts the sources in a C standard without warnings: compiles.sh COMPILER
# C SOURCE... Status 77: the compiler is not installed.
set -euo pipefail

compiler=$1 language=$2
shift 2
command -v "$compiler" >/dev/null || { echo "$compiler is not there"; exit 77; }
for source in "$@"; do
  "$compiler" "-std=$language" -pedantic -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror \
    -D_GNU_SOURCE "-I$(dirname "$0")/../../../src" -fPIC -O2 -c "$source" -o /dev/null
done
