#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks that `module load huddle` makes an installation available and `module unload` undoes it, with environment
# modules or Lmod, of which Debian can have only one installed: tests/lab/installed_module.sh PREFIX
# shellcheck disable=SC2016  # the shell that has loaded the module expands its arguments
set -euo pipefail
prefix=$1
environment_modules=/usr/share/modules/init/bash
lmod=/usr/share/lmod/lmod/init/bash
link=$(mktemp -d)
trap 'rm -rf "$link"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# printed_by INIT MODULES COMMAND: runs the command in a shell that has loaded the module from the folder MODULES.
printed_by() {
  env -i PATH=/usr/bin:/bin HOME="$link" bash --norc --noprofile -c "
    set -e; . '$1'; module use '$2'; module load huddle; $3" || fail "$1: $3"
}

# check INIT MODULES: checks the environment of such a shell.
check() {
  local said
  said=$(printed_by "$1" "$2" 'command -v huddle; huddle --version; man -w huddle-topo
    pkg-config --variable=libdir huddle; echo "$LD_LIBRARY_PATH $CMAKE_PREFIX_PATH"; module help huddle 2>&1')
  for wanted in "$prefix/bin/huddle"$'\n'"huddle " "$prefix/share/man/man1/huddle-topo.1" "/pkgconfig/../../lib" \
    "$prefix/lib" " $prefix"$'\n' "huddle doctor"; do
    [[ $said = *"$wanted"* ]] || fail "$1: no '$wanted' in: $said"
  done
  said=$(printed_by "$1" "$2" 'module unload huddle; echo "$PATH:$LD_LIBRARY_PATH:$PKG_CONFIG_PATH:$CMAKE_PREFIX_PATH"')
  [[ $said != *"$prefix"* ]] || fail "$1: not removed by module unload: $said"
  echo "$1 with $2: loaded and unloaded"
}

# Loads the module from the installation, and by a link in another folder, as an administrator may create it.
mkdir "$link/huddle"
ln -s "$prefix"/share/modulefiles/huddle/* "$link/huddle/"
tried=0
for init in "$environment_modules" "$lmod"; do
  [ -e "$init" ] || continue
  check "$init" "$prefix/share/modulefiles"
  check "$init" "$link"
  tried=1
done
[ "$tried" = 1 ] || fail "neither environment modules nor Lmod is installed: run scripts/install-packages.sh test"
