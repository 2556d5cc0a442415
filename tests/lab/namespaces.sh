# shellcheck shell=bash disable=SC2034,SC2154,SC2164  # `hosts`, set -e and `status` are the sourcing script's
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Simulates several hosts on one machine, for a script that sources this file with its own arguments: each host is a
# set of namespaces with its own network, hostname, processes and /dev/shm. The script itself is the host that starts
# jobs. The hosts end with the script. Needs root and iproute2.
# Requires: the array `hosts` has their names. Defines $root, $build, $lab, bring_up, launcher_of, job, expect_output, fail.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
self=$(realpath "$0")
peers=${XDG_CACHE_HOME:-$HOME/.cache}/huddle/peers
network=10.77.0
limit_seconds=120
cd "$root"

# Replaces ssh: [OPTIONS] HOST COMMAND...
if [ "${1:-}" = --agent ]; then
  shift
  while [ "${1#-}" != "$1" ]; do
    case $1 in -l | -p | -o | -i) shift 2 ;; *) shift ;; esac
  done
  host=$1
  shift
  keeper=$(cat "$LAB_OF_HOSTS/$host.pid")
  # Hosts have separate process IDs, so files that are named by a process ID must be in separate folders.
  exec nsenter -t "$keeper" -n -u -i -m "--pid=/proc/$keeper/ns/pid_for_children" \
    env TMPDIR="$LAB_OF_HOSTS/$host" /bin/sh -c "$*"
fi

if [ "$(id -u)" != 0 ]; then
  echo "${self##*/}: needs root, for namespaces with networks" >&2
  exit "${status_without_root:-1}"
fi
# Restarts the script in new namespaces, so that the hosts and their processes end with it.
if [ "${1:-}" != --inside ]; then
  build=$(realpath "${1:-build/release}")
  exec unshare --mount --pid --net --uts --ipc --fork --kill-child --mount-proc --propagation private \
    "$self" --inside "$build"
fi
build=$2
lab=$root/build/lab/$(basename "$self" .sh)
export LAB_OF_HOSTS=$lab
rm -rf --one-file-system "$lab"
mkdir -p "$lab"

bring_up() {
  local number=0 host keeper
  hostname front
  echo "127.0.0.1 localhost" >"$lab/names"
  echo "$network.100 front" >>"$lab/names"
  for host in "${hosts[@]}"; do echo "$network.$((++number)) $host" >>"$lab/names"; done
  mount --bind "$lab/names" /etc/hosts
  ip link set lo up
  ip link add eth0 type bridge
  ip addr add "$network.100/24" dev eth0
  ip link set eth0 up
  number=0
  for host in "${hosts[@]}"; do
    mkdir -p "$lab/$host"
    unshare --net --uts --ipc --mount --pid --fork --mount-proc --propagation private \
      sh -c "hostname $host; mount -t tmpfs none /dev/shm; touch $lab/$host.up; exec sleep infinity" &
    keeper=$!
    echo "$keeper" >"$lab/$host.pid"
    until [ -e "$lab/$host.up" ]; do kill -0 "$keeper"; done
    ip link add "to_$host" type veth peer name eth0 netns "$keeper"
    ip link set "to_$host" master eth0 up
    nsenter -t "$keeper" -n sh -c \
      "ip link set lo up; ip addr add $network.$((++number))/24 dev eth0; ip link set eth0 up"
  done
  printf '#!/bin/sh\nexec %s --agent "$@"\n' "$self" >"$lab/agent"
  chmod +x "$lab/agent"
}

# shape RATE: limits the links to the rate of a network card, in both directions. The queues are short, so that TCP
# adapts to the rate.
shape() {
  local host keeper
  for host in "${hosts[@]}"; do
    keeper=$(cat "$lab/$host.pid")
    tc qdisc add dev "to_$host" root tbf rate "$1" burst 16kb latency 50ms
    nsenter -t "$keeper" -n tc qdisc add dev eth0 root tbf rate "$1" burst 16kb latency 50ms
  done
}

# Prints the launcher's command for these hosts, one word per line, without the placement of ranks. Excludes Open MPI
# 4's osc component `rdma`, because it cannot create windows over TCP, and Open MPI does not try the next component.
launcher_of() {
  local ours=$network.0/24
  case $1 in
    openmpi-4)
      printf '%s\n' mpiexec.openmpi --prefix /usr --host "$(slots_of)" -n "$((2 * ${#hosts[@]}))" \
        --mca plm rsh --mca plm_rsh_agent "$lab/agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca oob_tcp_if_include $ours --mca btl_tcp_if_include $ours --mca pml ob1 \
        --mca btl self,vader,tcp --mca osc ^rdma --mca mpi_yield_when_idle 1
      ;;
    openmpi-5)
      printf '%s\n' "$peers/$1/venv/bin/mpiexec" --prefix "$(realpath "$peers/$1/venv")" \
        --host "$(slots_of)" -n "$((2 * ${#hosts[@]}))" \
        --prtemca plm_ssh_agent "$lab/agent" --prtemca plm_ssh_no_tree_spawn 1 \
        --prtemca prte_if_include $ours --mca btl_tcp_if_include $ours --mca pml ob1 --mca btl self,sm,tcp \
        --mca mpi_yield_when_idle 1
      ;;
    mpich-5 | intel)
      printf '%s\n' "$peers/$1/venv/bin/mpiexec.hydra" -launcher rsh -launcher-exec "$lab/agent" -iface eth0 \
        -n "$((2 * ${#hosts[@]}))"
      ;;
  esac
}
# Prints the options that place the ranks on the hosts in order, as slots_of defines, even if there are fewer cores.
seating_of() {
  case $1 in
    openmpi-4) printf '%s\n' --oversubscribe --bind-to none ;;
    openmpi-5) printf '%s\n' --map-by :OVERSUBSCRIBE --bind-to none ;;
    mpich-5 | intel) printf '%s\n' -hosts "$(slots_of)" ;;
  esac
}
# seated MPI LAYOUT: selects a placement of ranks. On four hosts: two per host (blocks), the same round-robin (turns),
# 3+1+2+1 (uneven), one per host (single). On two hosts: three, one or two per host (threes, pair, two). If there are
# more hosts, one on each of five or eight. Sets $launcher, $huddle_launcher (the same, with huddle) and $ranks.
seated() {
  local mpi=$1 layout=$2 word
  slots='h1:2,h2:2,h3:2,h4:2' ranks=8
  [ "$layout" != uneven ] || slots='h1:3,h2:1,h3:2,h4:1' ranks=7
  [ "$layout" != single ] || slots='h1:1,h2:1,h3:1,h4:1' ranks=4
  [ "$layout" != threes ] || slots='h1:3,h2:3' ranks=6
  [ "$layout" != pair ] || slots='h1:1,h2:1' ranks=2
  [ "$layout" != two ] || slots='h1:2,h2:2' ranks=4
  [ "$layout" != five ] || slots='h1:1,h2:1,h3:1,h4:1,h5:1' ranks=5
  [ "$layout" != eight ] || slots='h1:1,h2:1,h3:1,h4:1,h5:1,h6:1,h7:1,h8:1' ranks=8
  mapfile -t launcher < <(launcher_of "$mpi"; seating_of "$mpi")
  for word in "${!launcher[@]}"; do
    case ${launcher[word]} in
      h1:*) launcher[word]=$slots ;;
      -n) launcher[word + 1]=$ranks ;;
      :OVERSUBSCRIBE) [ "$layout" != turns ] || launcher[word]=node:OVERSUBSCRIBE ;;
    esac
  done
  [ "$layout" != turns ] || case $mpi in
    openmpi-4) launcher+=(--map-by node) ;;
    mpich-5 | intel) launcher+=(-ppn 1) ;;
  esac
  huddle_launcher=("$build/bin/huddle" run "${launcher[@]}")
}

# Prints the options of huddle explain for a placement.
placed_words() {
  case $1 in
    blocks) echo --nodes 4 --ranks-per-node 2 ;;
    turns) echo --nodes 4 --ranks-per-node 2 --map round-robin ;;
    uneven) echo --map 3,1,2,1 ;;
    single) echo --nodes 4 --ranks-per-node 1 ;;
    five) echo --nodes 5 --ranks-per-node 1 ;;
    eight) echo --nodes 8 --ranks-per-node 1 ;;
  esac
}

# Prints the HUDDLE_NET for an MPI. `auto` suffices if the launcher provides the list of ranks that have huddle, as
# those of Open MPI 4 and of the MPICH family do.
net_of() {
  case $1 in openmpi-5) echo on ;; *) echo auto ;; esac
}

slots_of() {
  local list
  list=$(printf ',%s:2' "${hosts[@]}")
  echo "${list#,}"
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER=tcp FI_TCP_IFACE=eth0 I_MPI_FABRICS=shm:ofi
# Hides the machine files of the user and of the host.
export XDG_CONFIG_HOME=$lab/config
[ ! -d /etc/huddle/machines ] || mount -t tmpfs none /etc/huddle/machines
# A job's daemons on other hosts get only the environment that the launcher passes on.
unset LD_PRELOAD

status=0
fail() {
  echo "FAILED: $*" >&2
  status=1
}

# job NAME COMMAND...: runs a job that must succeed. Writes its output to $lab/NAME.
job() {
  local name=$1
  shift
  timeout "$limit_seconds" "$@" >"$lab/$name" 2>&1 </dev/null || {
    fail "$name: status $?"
    tail -n 20 "$lab/$name" >&2
  }
}
# expect_output NAME WHAT PATTERN: fails with the message WHAT unless the output of job NAME matches PATTERN.
expect_output() {
  grep -Eq -- "$3" "$lab/$1" || {
    fail "$1: $2"
    tail -n 20 "$lab/$1" >&2
  }
}
