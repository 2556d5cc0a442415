#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests the Debian package from an administrator's view: builds it, installs it into a minimal Debian 12, uses it and
# removes it. Needs root.
# shellcheck disable=SC2016  # the shell inside expands its arguments
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/lab/fresh_debian.sh
lab=$PWD/build/package-lab

need_own_mounts "$@"

fail() { echo "FAILED: $*" >&2; exit 1; }
# expect WORDS COMMAND: fails unless the output of the command inside contains the words
expect() {
  local said
  said=$(inside "$lab" "$2" 2>&1) || fail "$2: $said"
  [[ $said = *"$1"* ]] || fail "$2: no '$1' in: $said"
  echo "$2: fine"
}

package=$(packaging/debian.sh)
# Suppressed tags: the builder sets the maintainer, and the package is not meant for Debian's archive.
lintian --allow-root --fail-on error,warning \
  --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs \
  "$package" || fail "lintian found errors in $package"
fresh_debian "$lab" ca-certificates
cp "$package" "$lab/debian/root/huddle.deb"
inside "$lab" 'apt-get -qq install -y --no-install-recommends /root/huddle.deb' >"$lab/install.log" 2>&1 ||
  fail "installation failed: $(tail -n 20 "$lab/install.log")"

expect "huddle $(sed -n 's/^project(huddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" 'huddle --version'
expect "predicted" 'huddle explain bcast 1M -n 8 --machine /usr/share/huddle/machines/songshan.toml'
expect "python3-matplotlib" 'echo {} >x.json; huddle report x.json 2>&1 || true'
for file in /usr/share/man/man1/huddle-run.1.gz /usr/share/man/man3/huddle_bcast.3.gz \
  /usr/share/man/man7/huddle-settings.7.gz /usr/share/bash-completion/completions/huddle /usr/share/zsh/site-functions/_huddle \
  /usr/share/fish/vendor_completions.d/huddle.fish; do
  expect "$file" "dpkg -L huddle"
done

# With an MPI: doctor finds it, and huddle handles a program's collectives.
inside "$lab" 'apt-get -qq install -y --no-install-recommends openmpi-bin libopenmpi-dev gcc libc6-dev pkg-config' \
  >"$lab/mpi.log" 2>&1 || fail "no MPI: $(tail -n 20 "$lab/mpi.log")"
cp tests/lab/mpi_sum.c examples/allreduce.c "$lab/debian/root"
expect "Open MPI" 'huddle doctor'
expect "" 'cd /root && mpicc -o sum mpi_sum.c'
as_root="OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HUDDLE_ACTIVATE_AFTER=8"
expect "2 ranks, 0 sums wrong" "cd /root && $as_root huddle run mpirun -n 2 --oversubscribe ./sum"
expect "huddle took 92" "cd /root && $as_root huddle run --stats mpirun -n 2 --oversubscribe ./sum 2>&1 |
  awk '\$1 == \"allreduce\" && !/MPI/ { n += \$2 } END { print \"huddle took\", n }'"

# A program that calls the library, built against the package.
expect "4 ranks: 6 and 2" 'cd /root && gcc -o allreduce allreduce.c $(pkg-config --cflags --libs huddle) && ./allreduce'

# A report, after matplotlib is installed.
inside "$lab" 'apt-get -qq install -y --no-install-recommends python3-matplotlib' >"$lab/python.log" 2>&1 ||
  fail "no matplotlib: $(tail -n 20 "$lab/python.log")"
cp bench/results/amd-epyc-2c-1b1d3050-peers-2-ranks.json "$lab/debian/root/bench.json"
expect "bench.html" 'cd /root && huddle report bench.json && grep -c "<svg" bench.html'

inside "$lab" 'apt-get -qq purge -y huddle' >"$lab/purge.log" 2>&1 || fail "removal failed"
left=$(inside "$lab" 'find / -xdev -iname "*huddle*" -not -path "/root/*" -not -path "/var/*" -not -path "/proc/*"')
[ -z "$left" ] || fail "files left after removal: $left"
echo "$(basename "$package"): installed, used and removed"
