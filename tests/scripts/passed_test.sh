#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests scripts/passed.sh in a new repository: what it records, replaces, refuses and prints. Also checks that
# scripts/tidy.sh --changed checks the sources that changed since the recorded commit, but not those that only moved.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

mkdir -p "$stage/scripts" "$stage/tests" "$stage/src" "$stage/bin"
cp "$root/scripts/passed.sh" "$root/scripts/tidy.sh" "$stage/scripts"
printf '#!/bin/sh\n' >"$stage/scripts/build.sh"
# This clang-tidy records the sources that it is called for, and fails for those named bad.cc.
# shellcheck disable=SC2016  # the stand-in expands its own arguments
printf '#!/bin/sh\nfor last; do :; done\necho "$last" >>"%s/checked"\ncase $last in *bad.cc) exit 1;; esac\n' \
  "$stage" >"$stage/bin/clang-tidy"
chmod +x "$stage/scripts/build.sh" "$stage/bin/clang-tidy"
cd "$stage"
export PATH=$stage/bin:$PATH
git() { command git -c user.name=test -c user.email=test@localhost "$@"; }
commit() { git add -A scripts src tests && git commit -qm "$1"; }

git init -q .
printf '# comment\n' >tests/passed.txt
seq 20 >src/kept.cc
seq 30 >src/moved.cc
commit first
scripts/passed.sh commit tidy && fail "prints a commit that is not recorded"
scripts/passed.sh record other
scripts/passed.sh record tidy
first=$(git rev-parse --short=12 HEAD)
[ "$(scripts/passed.sh commit tidy)" = "$first" ] || fail "recorded $(cat tests/passed.txt)"
[ "$(head -n 1 tests/passed.txt)" = "# comment" ] || fail "lost the comment"
commit record

mkdir src/deeper
git mv src/moved.cc src/deeper/moved.cc
echo new >src/new.cc
echo header >src/kept.h
commit second
: >checked
scripts/tidy.sh --changed >/dev/null
[ "$(sort checked | tr '\n' ' ')" = "src/kept.cc src/new.cc " ] || fail "checked: $(cat checked)"
[ "$(scripts/passed.sh commit tidy)" = "$(git rev-parse --short=12 HEAD)" ] || fail "a pass is not recorded"
[ "$(scripts/passed.sh commit other)" = "$first" ] || fail "the other line changed"
commit record

second=$(scripts/passed.sh commit tidy)
echo bad >src/bad.cc
commit third
scripts/tidy.sh --changed >/dev/null && fail "a finding passes"
[ "$(scripts/passed.sh commit tidy)" = "$second" ] || fail "a finding is recorded as a pass"
: >checked
given=$(scripts/tidy.sh --changed --seconds 0)
[ ! -s checked ] || fail "began $(cat checked) after the time was up"
case $given in *"not checked within 0 s"*src/bad.cc*) ;; *) fail "does not print what is left: $given" ;; esac
[ "$(scripts/passed.sh commit tidy)" = "$second" ] || fail "a run that left sources out is recorded"
git rm -q src/bad.cc

scripts/passed.sh record tidy 2>/dev/null
[ "$(scripts/passed.sh commit tidy)" = "$second" ] || fail "records with changes that are not committed"
case $(scripts/passed.sh print) in *"tidy "*"$second"*) ;; *) fail "prints: $(scripts/passed.sh print)" ;; esac
echo "all cases hold"
