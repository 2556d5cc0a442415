#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make test-all`: runs all tests and checks. A step that fails does not stop the others; the table at the end shows
# the result of each step and the file with its output. scripts/test-all.sh PART runs the steps of one part, and
# scripts/test-all.sh list prints the parts. tests/passed.txt has the commit at which each part last passed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

only=${1:-}
logs=$PWD/build/test-all
mkdir -p "$logs"
table=()
parts=()
failed_parts=" "

# part NAME: begins a part, to which the following steps belong. Succeeds if they are selected to run.
part() {
  current=$1
  parts+=("$1")
  [ -z "$only" ] || [ "$only" = "$1" ]
}

step() { # step NAME COMMAND...
  local name=$1 start=$SECONDS word=passed
  shift
  echo "== $name: $*"
  "$@" >"$logs/$name.log" 2>&1 </dev/null || { word=FAILED; failed_parts+="$current "; tail -n 40 "$logs/$name.log"; }
  table+=("$(printf '%-14s %6d s  %-7s %s' "$name" $((SECONDS - start)) "$word" "build/test-all/$name.log")")
  echo "   $word after $((SECONDS - start)) s"
}

not_run() { # not_run NAME REASON
  table+=("$(printf '%-14s %8s  %-7s %s' "$1" - NOT-RUN "$2")")
  failed_parts+="$current "
}

# shellcheck disable=SC2317  # called through step
preset() { scripts/build.sh "$1" && ctest --preset "$1" --parallel "${JOBS:-$(nproc)}" --no-tests=error; }
# Checks only that the benchmarks build and run, not their times.
# shellcheck disable=SC2317  # called through step
bench() {
  scripts/build.sh release -DHUDDLE_BENCH=ON copy_bench place_bench &&
    build/release/bench/copy_bench --benchmark_min_time=0.01 --benchmark_filter=4096 &&
    build/release/bench/place_bench 8 64 1
}
# shellcheck disable=SC2317  # called through step
disguise() {
  local status=0
  tests/lab/disguise.sh build/release "$1" --parallel "${JOBS:-$(nproc)}" || status=$?
  [ "$status" = 77 ] && echo "skipped: namespaces are not allowed here" && status=0
  return "$status"
}

# Tests the newest UCX, from a wheel of PyPI. The wheel for CUDA also works without a GPU.
# shellcheck disable=SC2317  # called through step
ucx_wheel() {
  if ! [ -d build/test-all/ucx ]; then
    python3 -m venv build/test-all/ucx
    build/test-all/ucx/bin/pip install -q libucx-cu12==1.22.0
  fi
  python3 -B tests/tools/ucx/real_ucx_test.py build/release/bin/huddle "$(command -v ucx_info)" \
    build/test-all/ucx/lib/python3*/site-packages/libucx/bin/ucx_info
}

if [ "$only" != list ]; then
  scripts/install-packages.sh build package test test-deep test-all || exit 1
  bench/peers >/dev/null
  scripts/build.sh release -DHUDDLE_TESTS=ON -DHUDDLE_CHECKS=ON -DHUDDLE_PRECOMPILE_TESTS=ON || exit 1
fi
peers=${XDG_CACHE_HOME:-$HOME/.cache}/huddle/peers
suites=(--libraries build/release/lib/huddle --work build/test-all/suites)

if part tiers; then
  step test scripts/test.sh
  step test-deep scripts/test.sh deep
fi

if part builds; then
  for name in debug clang; do step "$name" preset "$name"; done
  # The other builds are unity builds. This one detects sources that lack an #include.
  step no-unity scripts/build.sh check -DHUDDLE_UNITY=OFF -DHUDDLE_TESTS=ON
  step bench bench
  step tidy scripts/tidy.sh
fi

if part sanitizers; then
  for name in asan tsan; do step "$name" preset "$name"; done
fi

if part fuzz; then
  step fuzz tests/fuzz/run.sh "${FUZZ_SECONDS:-180}"
fi

if part proofs; then
  # Ten times the number of event orders that `make test` and `make test-deep` try.
  step checker env HUDDLE_CHECKED_EXECUTIONS=100000 tests/runtime/node/checked_orders.py \
    build/release/tests/runtime/node/node_tests
  # Schedules between nodes: every root for few ranks, then more ranks.
  schedules_tests=build/release/tests/runtime/schedules/schedules_tests
  step net-roots env NET_RANKS=1..256 $schedules_tests '--gtest_filter=*UpTo64Ranks/*'
  step net-more env NET_RANKS=257..1024 $schedules_tests '--gtest_filter=*UpTo64Ranks/*'
  step net-most env NET_RANKS=1025..4096 $schedules_tests \
    '--gtest_filter=*UpTo64Ranks/*:-*ring:*neighbor:*far_first:*slices:*spread:*pairwise'
  # Simulated networks against SimGrid, and 16,384 nodes in little time and memory.
  step simgrid python3 -B tests/simulate/network/simgrid_test.py build/release/bin/huddle --thorough
  step sim-large tests/simulate/network/large_test.sh build/release/bin/huddle
fi

if part deaths; then
  # Kills thousands of ranks at random moments; `make test` kills some hundreds.
  step kill env KILL_TRIES=5000 build/release/tests/runtime/team/team_tests '--gtest_filter=*Death.*'
  # Allocations that fail on one rank.
  step refusals env REFUSALS=10000 build/release/tests/runtime/team/team_tests '--gtest_filter=Scarcity.*'
  step refusals-mpi env REFUSALS=10000 tests/mpi/programs/driver.py --only refusals openmpi-4 mpich-4
  # Agents, guardians and programs killed at a hundred moments each.
  step threads-kill env THREAD_KILL_TRIES=100 build/release/tests/placement/threads/threads_tests \
    '--gtest_filter=MoverTest.*:NumaBalancingTest.*'
  step many env TEAMS_TO_MAKE=100000 BIG_COUNTS=1 \
    build/release/tests/runtime/api/api_tests --gtest_filter='*ByTheThousand:*MoreThanAnIntCounts'
fi

if part programs; then
  step programs tests/mpi/programs/driver.py --level thorough all
  step programs-heap tests/mpi/programs/driver.py --heap --level brief all
  step deaths-heap tests/mpi/programs/driver.py --heap --level thorough --only deaths openmpi-4 mpich-5
  step launchers env PEERS="$peers/openmpi-5/venv:$peers/mpich-5/venv:$peers/intel/venv" \
    python3 -B tests/tools/launch/run_test.py build/release/bin/huddle cc
fi

# Test suites and programs of other projects under every MPI, without huddle and with it.
if part torch; then
  step torch env PYTHONPATH=python LIBHUDDLE=build/release/src/runtime/api/libhuddle.so TEST_HUDDLE_PROGRAM=build/release/bin/huddle \
    /usr/bin/python3 -B -m pytest -q tests/python/torch_test.py tests/python/torch_work_test.py \
    tests/python/launchers_test.py
fi

if part suites; then
  step mpi4py python3 -B tests/mpi/suites/mpi4py_suite.py "${suites[@]}"
  # The result of a call must not depend on the location of the ranks' buffers.
  step mpi4py-heap python3 -B tests/mpi/suites/mpi4py_suite.py --heap --mpi openmpi-4 mpich-5 --ranks 2 3 \
    --modules collectives memory "${suites[@]}"
  step imb python3 -B tests/mpi/suites/imb.py "${suites[@]:0:2}"
  step lammps python3 -B tests/mpi/suites/lammps.py "${suites[@]}"
  step scalapack python3 -B tests/mpi/suites/scalapack.py "${suites[@]:0:2}"
  step hdf5 python3 -B tests/mpi/suites/hdf5.py "${suites[@]}"
  step petsc python3 -B tests/mpi/suites/petsc.py "${suites[@]:0:2}"
  step eztrace python3 -B tests/mpi/suites/eztrace.py "${suites[@]}"
  step mpich-tests python3 -B tests/mpi/suites/mpich_tests.py "${suites[@]}"
  # Programs that allocate and release large arrays, alternately without and with the shared heap, for half an hour.
  step soak python3 -B tests/mpi/suites/soak.py "${suites[@]:0:2}" --work build/test-all/soak \
    --tally build/test-all/soak/tally.csv --ways native on check --runs "${SOAK_RUNS:-20}" --beside 1 --priority normal
fi

if part heap; then
  # Ordinary programs with all of their large blocks in the shared heap.
  step heap python3 -B tests/runtime/heap/preload/programs_test.py build/release/lib/huddle/libhuddle_heap.so \
    cc c++ --thorough
  step heap-stress env LD_PRELOAD="$PWD/build/release/lib/huddle/libhuddle_heap.so" HEAP_ROUNDS=20000 \
    TEST_HUDDLE_HEAP=at-once build/release/tests/runtime/heap/preload/malloc_tests '--gtest_filter=MallocStress.*'
fi

if part measurements; then
  # The benchmark must find the factors by which an MPI was slowed down on purpose.
  step factors python3 -B tests/tools/bench/mpi/mpi_test.py build/release/bin/huddle --timed
  # Profiles threads that share data in known patterns, and checks the result.
  step threads build/release/bin/huddle profile --accuracy --seconds 4
  # The same for reads, by the kernel's NUMA balancing, which only root can turn on. This takes a minute.
  if [ "$(id -u)" = 0 ]; then
    step threads-reads build/release/bin/huddle profile --accuracy --allow-sysctl --seconds 60 read-mostly
  else
    not_run threads-reads 'needs root: kernel.numa_balancing'
  fi
  step ucx ucx_wheel
  step paths python3 -B tests/tools/ucx/paths_again.py build/release/bin/huddle
fi

if part machines; then
  step aarch64 tests/lab/aarch64.sh
  step numa-guest tests/lab/numa_guest.sh
  step numa-threads env NUMA_GUEST_PART=threads tests/lab/numa_guest.sh
  # All tests on a host that appears to be a different machine. disguise.sh lists those that cannot run there.
  for name in other-maker one-core four-cores half-allowed threads two-nodes small-shm nobody frozen-home; do
    step "$name" disguise "$name"
  done
fi

if part hosts; then
  for name in hosts:hosts hosts-beside:hosts_programs hosts-suites:hosts_suites hosts-bits:hosts_bits slurm:slurm; do
    if [ "$(id -u)" = 0 ]; then
      step "${name%:*}" "tests/lab/${name#*:}.sh"
    else
      not_run "${name%:*}" "needs root: sudo tests/lab/${name#*:}.sh"
    fi
  done
fi

if part packages; then
  step wheel tests/lab/wheel.sh
  for name in debian-package portable clean-debian; do
    if [ "$(id -u)" = 0 ]; then
      step "$name" "tests/lab/$name.sh"
    else
      not_run "$name" "needs root: sudo tests/lab/$name.sh"
    fi
  done
fi

if [ "${#table[@]}" = 0 ]; then
  [ "$only" = list ] || echo "make test-all has no part '$only'. The parts are:" >&2
  printf '%s\n' "${parts[@]}"
  [ "$only" = list ]
  exit
fi
echo
printf '%-14s %8s  %-7s %s\n' step time result output
printf '%s\n' "${table[@]}"

# A part passed if all of its steps did.
for name in "${parts[@]}"; do
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  [[ $failed_parts == *" $name "* ]] || scripts/passed.sh record "$name"
done
scripts/passed.sh print
[ "$failed_parts" = " " ]
