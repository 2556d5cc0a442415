#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make test-all`: the full matrix. A step that fails does not stop the others; the table at the end
# says how each went, and where its output is.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

logs=$PWD/build/test-all
mkdir -p "$logs"
table=()
failed=0

step() { # step NAME COMMAND...
  local name=$1 start=$SECONDS word=passed
  shift
  echo "== $name: $*"
  "$@" >"$logs/$name.log" 2>&1 </dev/null || { word=FAILED; failed=1; tail -n 40 "$logs/$name.log"; }
  table+=("$(printf '%-14s %6d s  %-7s %s' "$name" $((SECONDS - start)) "$word" "build/test-all/$name.log")")
  echo "   $word after $((SECONDS - start)) s"
}

# shellcheck disable=SC2317  # called through step
preset() { scripts/build.sh "$1" && ctest --preset "$1" --parallel "${JOBS:-$(nproc)}" --no-tests=error; }
# Benchmarks are not timed tests: that they build and run is all that is asked here.
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
  [ "$status" = 77 ] && echo "skipped: no namespaces here" && status=0
  return "$status"
}

scripts/install-packages.sh build package test test-all || exit 1
step test scripts/test.sh
step many env TEAMS_TO_MAKE=100000 BIG_COUNTS=1 \
  build/release/tests/api/api_tests --gtest_filter='*ByTheThousand:*MoreThanAnIntCounts'
for name in debug asan tsan clang; do step "$name" preset "$name"; done
step bench bench
# An MPI against itself, made slower by known factors: is that what the benchmark finds?
step factors python3 -B tests/bench/mpi/mpi_test.py build/release/bin/huddle --timed
# Programs and suites of others under every MPI, without huddle and with it.
step peers bench/peers
peers=${XDG_CACHE_HOME:-$HOME/.cache}/huddle/peers
step launchers env PEERS="$peers/openmpi-5/venv:$peers/mpich-5/venv:$peers/intel/venv" \
  python3 -B tests/launch/run_test.py build/release/bin/huddle cc
suites=(--libraries build/release/lib/huddle --work build/test-all/suites)
step mpi4py python3 -B tests/mpi/suites/mpi4py_suite.py "${suites[@]}"
# Where ranks' buffers lie does not change what comes of a call.
step mpi4py-heap python3 -B tests/mpi/suites/mpi4py_suite.py --heap --mpi openmpi-4 mpich-5 --ranks 2 3 \
  --modules collectives memory "${suites[@]}"
step imb python3 -B tests/mpi/suites/imb.py "${suites[@]:0:2}"
step lammps python3 -B tests/mpi/suites/lammps.py "${suites[@]}"
step scalapack python3 -B tests/mpi/suites/scalapack.py "${suites[@]:0:2}"
step hdf5 python3 -B tests/mpi/suites/hdf5.py "${suites[@]}"
step petsc python3 -B tests/mpi/suites/petsc.py "${suites[@]:0:2}"
step eztrace python3 -B tests/mpi/suites/eztrace.py "${suites[@]}"
step mpich-tests python3 -B tests/mpi/suites/mpich_tests.py "${suites[@]}"
# Programs that make and free large arrays, natively and in the heap in turns: half an hour of them.
step churn python3 -B tests/mpi/suites/churn.py "${suites[@]:0:2}" --work build/test-all/churn \
  --runs "${CHURN_RUNS:-50}" --beside 1
# Ordinary programs whose large blocks all are in a heap that peers could map.
step heap python3 -B tests/heap/preload/programs_test.py build/release/lib/huddle/libhuddle_heap.so \
  cc c++ --thorough
step heap-stress env LD_PRELOAD="$PWD/build/release/lib/huddle/libhuddle_heap.so" HEAP_ROUNDS=20000 \
  TEST_HUDDLE_HEAP=at-once build/release/tests/heap/preload/malloc_tests '--gtest_filter=MallocStress.*'
# Threads whose sharing is known, of every pattern, watched while they run.
step threads build/release/bin/huddle profile --accuracy --seconds 4
# Reads as well, by the kernel's NUMA balancing, which root alone may turn on: a minute, since it is slow.
if [ "$(id -u)" = 0 ]; then
  step threads-reads build/release/bin/huddle profile --accuracy --allow-sysctl --seconds 60 read-mostly
else
  table+=("$(printf '%-14s %8s  %-7s %s' threads-reads - NOT-RUN 'needs root: kernel.numa_balancing')")
fi
# Agents, guardians and programs killed at a hundred moments each.
step threads-kill env THREAD_KILL_TRIES=100 build/release/tests/threads/threads_tests \
  '--gtest_filter=MoverTest.*:NumaBalancingTest.*'
# Networks simulated against SimGrid, and 16,384 nodes in little time and memory.
# The newest UCX as well: its wheel needs no GPU.
# shellcheck disable=SC2317  # called through step
ucx_wheel() {
  if ! [ -d build/test-all/ucx ]; then
    python3 -m venv build/test-all/ucx
    build/test-all/ucx/bin/pip install -q libucx-cu12==1.22.0
  fi
  python3 -B tests/ucx/real_ucx_test.py build/release/bin/huddle "$(command -v ucx_info)" \
    build/test-all/ucx/lib/python3*/site-packages/libucx/bin/ucx_info
}
step ucx ucx_wheel
step paths python3 -B tests/ucx/paths_again.py build/release/bin/huddle
step simgrid python3 -B tests/sim/simgrid_test.py build/release/bin/huddle --thorough
step sim-large tests/sim/large_test.sh build/release/bin/huddle
step tidy scripts/tidy.sh
step fuzz tests/fuzz/run.sh "${FUZZ_SECONDS:-180}"
step aarch64 tests/lab/aarch64.sh
step numa-guest tests/lab/numa_guest.sh
step numa-threads env NUMA_GUEST_PART=threads tests/lab/numa_guest.sh
# Every test where the machine looks like another one; what cannot run in one of them, disguise.sh says.
for name in other-maker one-core four-cores half-allowed threads two-nodes small-shm nobody frozen-home; do
  step "$name" disguise "$name"
done
# Programs of all kinds under every MPI that bench/peers has set up.
step programs tests/mpi/programs/driver.py --level thorough all
step programs-heap tests/mpi/programs/driver.py --heap --level brief all
step deaths-heap tests/mpi/programs/driver.py --heap --level thorough --only deaths openmpi-4 mpich-5
# Ten times the orders of events that `make test` tries.
step checker env HUDDLE_CHECKED_EXECUTIONS=100000 tests/node/checked_orders.py \
  build/release/tests/node/node_tests
# Schedules between nodes: every root of few ranks, then more ranks than `make test` has time for.
net_tests=build/release/tests/net/net_tests
step net-roots env NET_RANKS=1..256 $net_tests '--gtest_filter=*AllFewerRanks/*'
step net-more env NET_RANKS=257..1024 $net_tests '--gtest_filter=*AllFewerRanks/*'
step net-most env NET_RANKS=1025..4096 $net_tests \
  '--gtest_filter=*AllFewerRanks/*:-*ring:*neighbor:*far_first:*slices:*spread:*pairwise'
# Thousands of ranks killed at random moments, where `make test` kills some hundreds.
step kill env KILL_TRIES=5000 build/release/tests/team/team_tests '--gtest_filter=*Death.*'
# The same of memory that one rank does not get.
step refusals env REFUSALS=10000 build/release/tests/team/team_tests '--gtest_filter=Scarcity.*'
step refusals-mpi env REFUSALS=10000 tests/mpi/programs/driver.py --only refusals openmpi-4 mpich-4
if [ "$(id -u)" = 0 ]; then
  step hosts tests/lab/hosts.sh
  step hosts-beside tests/lab/hosts_programs.sh
  step hosts-suites tests/lab/hosts_suites.sh
  step hosts-bits tests/lab/hosts_bits.sh
  step slurm tests/lab/slurm.sh
  step debian-package tests/lab/debian-package.sh
  step portable tests/lab/portable.sh
  step clean-debian tests/lab/clean-debian.sh
else
  table+=("$(printf '%-14s %8s  %-7s %s' hosts - NOT-RUN 'needs root: sudo tests/lab/hosts.sh')")
  table+=("$(printf '%-14s %8s  %-7s %s' hosts-beside - NOT-RUN 'needs root: sudo tests/lab/hosts_programs.sh')")
  table+=("$(printf '%-14s %8s  %-7s %s' hosts-suites - NOT-RUN 'needs root: sudo tests/lab/hosts_suites.sh')")
  table+=("$(printf '%-14s %8s  %-7s %s' hosts-bits - NOT-RUN 'needs root: sudo tests/lab/hosts_bits.sh')")
  table+=("$(printf '%-14s %8s  %-7s %s' slurm - NOT-RUN 'needs root: sudo tests/lab/slurm.sh')")
  table+=("$(printf '%-14s %8s  %-7s %s' debian-package - NOT-RUN 'needs root: sudo tests/lab/debian-package.sh')")
  table+=("$(printf '%-14s %8s  %-7s %s' portable - NOT-RUN 'needs root: sudo tests/lab/portable.sh')")
  table+=("$(printf '%-14s %8s  %-7s %s' clean-debian - NOT-RUN 'needs root: sudo tests/lab/clean-debian.sh')")
fi

echo
printf '%-14s %8s  %-7s %s\n' step time result output
printf '%s\n' "${table[@]}"
exit "$failed"
