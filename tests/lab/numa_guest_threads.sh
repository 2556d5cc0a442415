#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests communicating threads on the eight processors and four nodes of the guest of numa_guest.sh, whose shell is
# that of busybox. Runs as root, with a writable debugfs.
set -u
huddle=/huddle/bin/huddle
pattern=/huddle/lib/huddle/huddle-pattern
sysctl=/proc/sys/kernel/numa_balancing
rounds=/sys/kernel/debug/sched/numa_balancing
period=$rounds/scan_period_min_ms
export HOME=/tmp
status=0

# report_result WHAT STATUS: prints whether a test passed.
report_result() {
  [ "$2" = 0 ] || status=1
  echo "threads: $1: $([ "$2" = 0 ] && echo yes || echo NO)"
}

# masks PROCESS: prints the kernel's affinity masks of the threads, in the order of their creation.
masks() {
  for task in "/proc/$1/task"/*; do
    sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status"
  done 2>/dev/null | tr '\n' ' '
}

# are_pairs MASK...: succeeds if each pair of partners has both processors of one node, and pairs have different nodes.
are_pairs() {
  [ $# = 8 ] && [ "$1" = "$2" ] && [ "$3" = "$4" ] && [ "$5" = "$6" ] && [ "$7" = "$8" ] &&
    [ "$(printf '%s\n' "$1" "$3" "$5" "$7" | sort | tr '\n' ' ')" = "0-1 2-3 4-5 6-7 " ]
}

# Watches and moves a running program, which does not need the write protection of Linux 6.7.
binds_pairs_to_nodes() {
  "$pattern" pairs 90 &
  program=$!
  "$huddle" watch $program --move --allow-sysctl --seconds 80 >/tmp/report 2>&1 &
  watcher=$!
  found=1
  while kill -0 $watcher 2>/dev/null; do
    seen=$(masks $program)
    # shellcheck disable=SC2086  # one word per thread
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

# Succeeds after the agent, which ends after its program, has removed its files.
leaves_nothing() {
  tries=0
  while [ -e /run/huddle ] && [ $tries -lt 60 ]; do
    tries=$((tries + 1))
    sleep 1
  done
  [ ! -e /run/huddle ]
}

sees_pairs() { "$huddle" profile --accuracy --allow-sysctl --seconds 20 --observer "$1" pairs; }

# Checks that huddle sees reads, and that the kernel's settings during the run are restored after it.
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
# NUMA balancing is on by default with several nodes. Scans start early, and their periods stay short.
echo 0 >$sysctl
echo 100 >$rounds/scan_delay_ms
echo 200 >$rounds/scan_period_max_ms
echo 1000 >/proc/sys/kernel/ns_last_pid # later thread IDs have equal lengths, so that `masks` lists them in order
binds_pairs_to_nodes
report_result "pairs are bound to nodes" $?
leaves_nothing
report_result "nothing is left" $?
sees_pairs perf
report_result "perf sees pairs" $?
if "$huddle" profile --observer bpf true 2>/tmp/why_not; then
  sees_pairs bpf
  report_result "bpf sees pairs" $?
else
  sed -n 's/^/threads: without bpf: /p' /tmp/why_not
fi
sees_reads
report_result "NUMA balancing shows reads, and its settings are restored" $?
exit $status
