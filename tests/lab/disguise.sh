#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Runs the tests on a machine disguised as another: tests/lab/disguise.sh BUILD_FOLDER DISGUISE [CTEST_OPTION...]
#
#   other-maker    another vendor and model of processor, no hypervisor
#   one-core       one core
#   four-cores     four cores; if there are fewer, several share a real one, which is slow if they spin
#   half-allowed   twice the number of real cores, half of them allowed
#   threads        pairs of processors are hardware threads of one core
#   two-nodes      the processors belong to two NUMA nodes
#   small-shm      almost no space in /dev/shm
#   nobody         a user other than root, whose home folder does not exist
#   frozen-home    the home folder is read-only
#
# A disguise is a mount namespace in which our own files hide the kernel's, so that all processes in it see the
# same machine. It ends with the script and leaves nothing behind. Exits with status 77 if the system does not allow
# namespaces.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
self=$here/disguise.sh
nobody=65534
readonly cannot_run=77
readonly most_processors=8

skip() { echo "disguise.sh: skipped: $*" >&2; exit "$cannot_run"; }

if [ "${1:-}" != --inside ]; then
  namespaces=(--mount --pid --fork --kill-child --mount-proc --propagation private)
  # Other users become root in a user namespace, if the system allows it.
  [ "$(id -u)" = 0 ] || namespaces+=(--map-root-user)
  unshare "${namespaces[@]}" true 2>/dev/null || skip "mount namespaces are not allowed here (unshare ${namespaces[*]})"
  stage=$(mktemp -d)
  trap 'rmdir "$stage"' EXIT
  status=0
  unshare "${namespaces[@]}" "$self" --inside "$stage" "$@" || status=$?
  exit "$status"
fi
stage=$2 build=$(realpath "$3") disguise=$4
shift 4

# All files of a disguise are in memory, and so is the Testing folder of ctest, which belongs to the outer run.
mount -t tmpfs -o mode=755 tmpfs "$stage"
mkdir -p "$build/Testing"
mount -t tmpfs -o mode=1777 tmpfs "$build/Testing"

# The real processors that a disguise uses: an even number, unless there is only one.
mapfile -t real < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[ "${#real[@]}" -le "$most_processors" ] || real=("${real[@]:0:most_processors}")
[ $((${#real[@]} % 2)) = 0 ] || [ "${#real[@]}" = 1 ] || unset "real[-1]"
count=${#real[@]}
even=$((count > 1 ? count : 2))

# another_machine ALLOWED OPTION...: mounts the files of tests/lab/disguise/machine.py over this machine's, and allows
# the first ALLOWED processors.
another_machine() {
  local allowed=$1
  "$here/disguise/machine.py" "$stage/machine" "${@:2}"
  cc -shared -fPIC -O1 -Wall -Werror "-DDISGUISED=$allowed" "-DREAL=$(IFS=, && echo "${real[*]}")" \
    -o "$stage/affinity.so" "$here/disguise/affinity.c" -ldl
  mount --bind "$stage/machine/cpuinfo" /proc/cpuinfo
  mount --bind "$stage/machine/cpu" /sys/devices/system/cpu
  mount --bind "$stage/machine/node" /sys/devices/system/node
  # The real cgroup files would show which real processors are allowed.
  [ ! -d /sys/fs/cgroup ] || mount -t tmpfs tmpfs /sys/fs/cgroup
  # /etc/ld.so.preload usually does not exist and must not be created on the host, so an overlay adds it to /etc.
  echo "$stage/affinity.so" >"$stage/ld.so.preload"
  if [ -e /etc/ld.so.preload ]; then
    mount --bind "$stage/ld.so.preload" /etc/ld.so.preload
  else
    mkdir "$stage/etc" "$stage/etc.work"
    mv "$stage/ld.so.preload" "$stage/etc/"
    mount -t overlay -o "lowerdir=/etc,upperdir=$stage/etc,workdir=$stage/etc.work" overlay /etc
  fi
  [ "$(nproc)" = "$allowed" ] || { echo "disguise.sh: $disguise failed: nproc prints $(nproc)" >&2; exit 1; }
}

# Makes the build folder writable without changing it: an overlay keeps changes in memory.
build_in_memory() {
  mkdir "$stage/build" "$stage/build.work"
  mount -t overlay -o "lowerdir=$build,upperdir=$stage/build,workdir=$stage/build.work" overlay "$build"
}

# Prints patterns of the tests that cannot run in a disguise.
cannot_run_in() {
  # These create their own namespaces or use other builds.
  echo '^(lab|asan|tsan|fuzz|style|scripts)\.'
  case $1 in
    # If two cores share a real one, threads that spin for each other need a time slice for each step.
    four-cores) [ "$count" -ge 4 ] || echo '^(calibrate|bench)\.|^cli\.(Bench|Calibrate)|^docs\.choices$|^bench\.mpi$' ;;
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
    # Programs in root's home folder must stay accessible, so an overlay gives it permissions to search.
    if [ ! -d "$HOME" ] || setpriv "--reuid=$nobody" "--regid=$nobody" --clear-groups test -x "$HOME"; then :; else
      mkdir -m 755 "$stage/home" "$stage/home.work"
      mount -t overlay -o "lowerdir=$HOME,upperdir=$stage/home,workdir=$stage/home.work" overlay "$HOME"
    fi
    # Changes the owner of the build folder, as if this user had built it.
    build_in_memory
    find "$build" -type d -exec chown "$nobody:$nobody" {} +
    rm -f "$build/install_manifest.txt"
    as=(setpriv "--reuid=$nobody" "--regid=$nobody" --clear-groups --no-new-privs
      env -u TMPDIR -u XDG_CACHE_HOME -u XDG_CONFIG_HOME HOME=/nowhere USER=nobody LOGNAME=nobody
      GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory 'GIT_CONFIG_VALUE_0=*')
    "${as[@]}" test -r "$build/CTestTestfile.cmake" || skip "the user nobody cannot read $build"
    ;;
  frozen-home)
    mount --rbind "$HOME" "$HOME"
    mount -o remount,ro,bind "$HOME"
    # A build below the home folder stays writable.
    [[ $build/ != "$HOME"/* ]] || build_in_memory
    ;;
  *) echo "disguise.sh: unknown disguise: $disguise" >&2; exit 2 ;;
esac
run=(ctest --test-dir "$build" --output-on-failure --no-label-summary --no-tests=error
  --exclude-regex "$(cannot_run_in "$disguise" | paste -sd '|')")
# For debugging: --shell COMMAND instead of ctest's options runs a shell command.
[ "${1:-}" != --shell ] || { run=(sh -c "$2"); set --; }
"${as[@]}" "${run[@]}" "$@"
