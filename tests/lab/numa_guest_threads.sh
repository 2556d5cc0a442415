#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Threads that talk, on eight processors of four nodes: what numa_guest.sh runs in its guest, whose
# shell is busybox. As root, and with a debugfs that may be written to.
set -u
huddle=/huddle/bin/huddle
pattern=/huddle/lib/huddle/huddle-pattern
sysctl=/proc/sys/kernel/numa_balancing
rounds=/sys/kernel/debug/sched/numa_balancing
period=$rounds/scan_period_min_ms
export HOME=/tmp
status=0

# told WHAT STATUS
told() {
  [ "$2" = 0 ] || status=1
  echo "threads: $1: $([ "$2" = 0 ] && echo yes || echo NO)"
}

# As the kernel has them, of a process's threads in the order of their birth.
masks() {
  for task in "/proc/$1/task"/*; do
    sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status"
  done 2>/dev/null | tr '\n' ' '
}

# Each two partners on both processors of a node, and no two pairs on one.
are_pairs() {
  [ $# = 8 ] && [ "$1" = "$2" ] && [ "$3" = "$4" ] && [ "$5" = "$6" ] && [ "$7" = "$8" ] &&
    [ "$(printf '%s\n' "$1" "$3" "$5" "$7" | sort | tr '\n' ' ')" = "0-1 2-3 4-5 6-7 " ]
}

# What runs already is watched and moved: that takes no write protection, which is of Linux 6.7.
binds_pairs_to_nodes() {
  "$pattern" pairs 90 &
  program=$!
  "$huddle" watch $program --move --allow-sysctl --seconds 80 >/tmp/report 2>&1 &
  watcher=$!
  found=1
  while kill -0 $watcher 2>/dev/null; do
    seen=$(masks $program)
    # shellcheck disable=SC2086  # a word a thread
    if are_pairs $seen; then
      found=0
      kill $watcher
    fi
    sleep 1
  done
  echo "threads: masks $seen"
  wait $watcher
  echo "threads: then  $(masks $program)"
  kill $program
  sed -n 's/^/threads: /p' /tmp/report
  return $found
}

# The agent ends after its program.
leaves_nothing() {
  tries=0
  while [ -e /run/huddle ] && [ $tries -lt 60 ]; do
    tries=$((tries + 1))
    sleep 1
  done
  [ ! -e /run/huddle ]
}

sees_pairs() { "$huddle" profile --accuracy --allow-sysctl --seconds 20 --observer "$1" pairs; }

# Of the kernel's numbers as they are meanwhile, and afterwards.
sees_reads() {
  before=$(cat $period)
  "$huddle" profile --accuracy --allow-sysctl --seconds 60 read-mostly &
  watcher=$!
  while kill -0 $watcher 2>/dev/null && [ "$(cat $sysctl)" = 0 ]; do sleep 1; done
  echo "threads: meanwhile numa_balancing $(cat $sysctl), rounds of $(cat $period) ms"
  wait $watcher
  result=$?
  echo "threads: then numa_balancing $(cat $sysctl), rounds of $(cat $period) ms"
  [ $result = 0 ] && [ "$(cat $sysctl)" = 0 ] && [ "$(cat $period)" = "$before" ]
}

mkdir -p /run
mount -t debugfs none /sys/kernel/debug
# Of several nodes it is on at first. Rounds begin early, and do not become long.
echo 0 >$sysctl
echo 100 >$rounds/scan_delay_ms
echo 200 >$rounds/scan_period_max_ms
echo 1000 >/proc/sys/kernel/ns_last_pid # from here on numbers are as long as each other
binds_pairs_to_nodes
told "pairs are bound to nodes" $?
leaves_nothing
told "nothing is left" $?
sees_pairs perf
told "perf sees pairs" $?
if "$huddle" profile --observer bpf true 2>/tmp/why_not; then
  sees_pairs bpf
  told "bpf sees pairs" $?
else
  sed -n 's/^/threads: without bpf: /p' /tmp/why_not
fi
sees_reads
told "NUMA balancing shows reads, and is set back" $?
exit $status
