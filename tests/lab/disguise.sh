#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests where this machine looks like another one: tests/lab/disguise.sh BUILD_FOLDER DISGUISE [CTEST_OPTION...]
#
#   other-maker    another maker and model of processor, no hypervisor
#   one-core       one processor
#   four-cores     four, whether or not there are as many: two that are one are slow where both spin
#   half-allowed   twice as many cores as there are, half of them allowed
#   threads        every two processors are hardware threads of one core
#   two-nodes      the processors are those of two NUMA nodes
#   small-shm      next to no room in /dev/shm
#   nobody         another user than root, whose home is not there
#   frozen-home    nothing can be written in the home folder
#
# A disguise is a namespace with files of our own mounted over the kernel's, so that whoever asks sees
# the same, however it was started; it ends with the script and leaves nothing behind. Exits with 77
# where no namespace is to be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
self=$here/disguise.sh
nobody=65534
readonly cannot_run=77
readonly most_processors=8

skip() { echo "disguise.sh: skipped: $*" >&2; exit "$cannot_run"; }

if [ "${1:-}" != --inside ]; then
  namespaces=(--mount --pid --fork --kill-child --mount-proc --propagation private)
  # Who is not root is root of a namespace of users, where the system lets him.
  [ "$(id -u)" = 0 ] || namespaces+=(--map-root-user)
  unshare "${namespaces[@]}" true 2>/dev/null || skip "no namespaces for mounts here (unshare ${namespaces[*]})"
  stage=$(mktemp -d)
  trap 'rmdir "$stage"' EXIT
  status=0
  unshare "${namespaces[@]}" "$self" --inside "$stage" "$@" || status=$?
  exit "$status"
fi
stage=$2 build=$(realpath "$3") disguise=$4
shift 4

# All that a disguise needs is in memory. What ctest keeps of a run is the outer run's own.
mount -t tmpfs -o mode=755 tmpfs "$stage"
mkdir -p "$build/Testing"
mount -t tmpfs -o mode=1777 tmpfs "$build/Testing"

# The processors that are there, as far as a disguise wants them: an even number, unless there is one.
mapfile -t real < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ "${#real[@]}" -le "$most_processors" ] || real=("${real[@]:0:most_processors}")
[ $((${#real[@]} % 2)) = 0 ] || [ "${#real[@]}" = 1 ] || unset "real[-1]"
count=${#real[@]}
even=$((count > 1 ? count : 2))

# another_machine ALLOWED OPTION...: the files of tests/lab/disguise/machine.py over this machine's, and
# the first so many of its processors allowed
another_machine() {
  local allowed=$1
  "$here/disguise/machine.py" "$stage/machine" "${@:2}"
  cc -shared -fPIC -O1 -Wall -Werror "-DDISGUISED=$allowed" "-DREAL=$(IFS=, && echo "${real[*]}")" \
    -o "$stage/affinity.so" "$here/disguise/affinity.c" -ldl
  mount --bind "$stage/machine/cpuinfo" /proc/cpuinfo
  mount --bind "$stage/machine/cpu" /sys/devices/system/cpu
  mount --bind "$stage/machine/node" /sys/devices/system/node
  # What the real processors are allowed to whom.
  [ ! -d /sys/fs/cgroup ] || mount -t tmpfs tmpfs /sys/fs/cgroup
  # /etc/ld.so.preload is seldom there, and cannot be made: /etc is the system's, with one file more.
  echo "$stage/affinity.so" >"$stage/ld.so.preload"
  if [ -e /etc/ld.so.preload ]; then
    mount --bind "$stage/ld.so.preload" /etc/ld.so.preload
  else
    mkdir "$stage/etc" "$stage/etc.work"
    mv "$stage/ld.so.preload" "$stage/etc/"
    mount -t overlay -o "lowerdir=/etc,upperdir=$stage/etc,workdir=$stage/etc.work" overlay /etc
  fi
  [ "$(nproc)" = "$allowed" ] || { echo "disguise.sh: $disguise does not hold: $(nproc) processors" >&2; exit 1; }
}

# The build stays writable and unchanged: what is written into it goes to memory.
build_in_memory() {
  mkdir "$stage/build" "$stage/build.work"
  mount -t overlay -o "lowerdir=$build,upperdir=$stage/build,workdir=$stage/build.work" overlay "$build"
}

# What cannot run there, and why.
cannot_run_in() {
  # They have namespaces of their own, or other builds.
  echo '^(lab|asan|tsan|fuzz|style|scripts)\.'
  case $1 in
    # Threads that spin for each other on two cores that are one take a time slice for each step.
    four-cores) [ "$count" -ge 4 ] || echo '^(calibrate|bench)\.|^cli\.(Bench|Calibrate)|^docs\.guide$|^bench\.mpi$' ;;
    # The MPIs themselves do not start.
    small-shm) echo '^mpi\.(abi|programs|suites)|^bench\.mpi$' ;;
  esac
}

as=()
case $disguise in
  other-maker) another_machine "$count" --cores "$count" ;;
  one-core) another_machine 1 --cores 1 ;;
  four-cores) another_machine 4 --cores 4 ;;
  half-allowed) another_machine "$count" --cores $((2 * count)) ;;
  threads) another_machine "$even" --cores $((even / 2)) --threads 2 ;;
  two-nodes) another_machine "$even" --cores "$even" --nodes 2 ;;
  small-shm) mount -t tmpfs -o size=256k,mode=1777 tmpfs /dev/shm ;;
  nobody)
    [ "$(awk '{ print $3 }' /proc/self/uid_map)" -gt "$nobody" ] || skip "only root can become another user"
    # Programs that root keeps in his home stay within reach: it is the same, but open to look into.
    if [ ! -d "$HOME" ] || setpriv "--reuid=$nobody" "--regid=$nobody" --clear-groups test -x "$HOME"; then :; else
      mkdir -m 755 "$stage/home" "$stage/home.work"
      mount -t overlay -o "lowerdir=$HOME,upperdir=$stage/home,workdir=$stage/home.work" overlay "$HOME"
    fi
    # The build belongs to this user, as it would after a build by this user.
    build_in_memory
    find "$build" -type d -exec chown "$nobody:$nobody" {} +
    rm -f "$build/install_manifest.txt"
    as=(setpriv "--reuid=$nobody" "--regid=$nobody" --clear-groups --no-new-privs
      env -u TMPDIR -u XDG_CACHE_HOME -u XDG_CONFIG_HOME HOME=/nowhere USER=nobody LOGNAME=nobody
      GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory 'GIT_CONFIG_VALUE_0=*')
    "${as[@]}" test -r "$build/CTestTestfile.cmake" || skip "nobody cannot read $build"
    ;;
  frozen-home)
    mount --rbind "$HOME" "$HOME"
    mount -o remount,ro,bind "$HOME"
    # A build below the home folder stays writable.
    [[ $build/ != "$HOME"/* ]] || build_in_memory
    ;;
  *) echo "disguise.sh: no such disguise: $disguise" >&2; exit 2 ;;
esac
run=(ctest --test-dir "$build" --output-on-failure --no-label-summary --no-tests=error
  --exclude-regex "$(cannot_run_in "$disguise" | paste -sd '|')")
# For a look around: with --shell in place of ctest's options.
[ "${1:-}" != --shell ] || { run=(sh -c "$2"); set --; }
"${as[@]}" "${run[@]}" "$@"
