#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests `srun huddle run` under a real Slurm, whose nodes are namespaces of this machine: munged and slurmctld run in
# that of the script, slurmd in h1 to h4. Open MPI 4 uses PMIx; MPICH 5 uses PMI-1 and Intel MPI PMI-2, both served by
# Slurm's pmi2 plugin. Needs root, iproute2, Debian's slurmd, slurmctld, slurm-client, munge and libpmi2-0, and the
# MPIs that bench/peers has set up. tests/lab/slurm.sh [BUILD_FOLDER]
# SLURM_MPIS: the MPIs to test. HOSTS_DEATHS: as in hosts.sh. Exits with status 77 if it cannot run.
set -euo pipefail
hosts=(h1 h2 h3 h4)
status_without_root=77
# shellcheck source=tests/lab/namespaces.sh
. "$(dirname "$0")/namespaces.sh"
# shellcheck source=tests/lab/between_hosts.sh
. "$(dirname "$0")/between_hosts.sh"
pmi2_library=/usr/lib/x86_64-linux-gnu/libpmi2.so.0
# srun passes its environment to the ranks.
export OMPI_MCA_btl_tcp_if_include=$network.0/24 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_mpi_yield_when_idle=1

for program in munged slurmctld slurmd srun; do
  command -v "$program" >/dev/null || {
    echo "slurm.sh: skipped: $program is not installed"
    exit 77
  }
done

# until_it_is WHAT COMMAND...: waits until the command succeeds, because daemons need time to start, at most 30 s
until_it_is() {
  local what=$1 end=$((SECONDS + 30))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || {
      fail "$what: not within 30 s"
      tail -n 5 "$lab"/slurm/*.log >&2
      exit 1
    }
    sleep 0.1
  done
}
# shellcheck disable=SC2317  # until_it_is calls it
is_idle() { [ "$(sinfo --noheader --format %T 2>/dev/null)" = idle ]; }

# Starts Slurm with all of its files in the lab, so that it does not interfere with one of this machine.
slurm_up() {
  local own=$lab/slurm host
  install -d -m 700 "$own" "$own/state"
  mkdir -p "$lab/tmp"
  export SLURM_CONF=$own/slurm.conf
  cat >"$SLURM_CONF" <<END
ClusterName=lab
SlurmctldHost=front($network.100)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$own/munge.socket
StateSaveLocation=$own/state
SlurmdSpoolDir=$lab/%n/spool
TmpFS=$lab/%n
SlurmctldPidFile=$own/slurmctld.pid
SlurmdPidFile=$own/%n.pid
SlurmctldLogFile=$own/slurmctld.log
SlurmdLogFile=$own/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
NodeName=h[1-${#hosts[@]}] NodeAddr=$network.[1-${#hosts[@]}] CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  echo "PMIxCliTmpDirBase=$lab/tmp" >"$own/mpi.conf"
  (umask 077 && head -c 1024 /dev/urandom >"$own/munge.key")
  munged --foreground --force --key-file "$own/munge.key" --socket "$own/munge.socket" --pid-file "$own/munged.pid" \
    --seed-file "$own/munge.seed" --log-file "$own/munged.log" >"$own/munged.out" 2>&1 &
  until_it_is "munged is there" test -S "$own/munge.socket"
  slurmctld -D >"$own/slurmctld.out" 2>&1 &
  for host in "${hosts[@]}"; do
    mkdir -p "$lab/$host/spool"
    # The setting is one path for all hosts, so each host mounts its own folder there.
    inside "$host" mount --bind "$lab/$host" "$lab/tmp"
    inside "$host" env TMPDIR="$lab/$host" slurmd -D -N "$host" >"$own/$host.out" 2>&1 &
  done
  until_it_is "all nodes are idle" is_idle
}

# step MPI LAYOUT: selects the srun command. On four hosts: two ranks per host, the same round-robin, or 3+1+2+1. For
# Intel MPI, whose ranks do not yield their cores, always two ranks on two hosts. Sets $launcher and $huddle_launcher.
step() {
  local mpi=$1 layout=$2 plugin=pmi2
  [ "$mpi" != openmpi-4 ] || plugin=pmix
  launcher=(srun "--mpi=$plugin" --kill-on-bad-exit)
  case $mpi-$layout in
    intel-*) launcher+=(-N2 -n4) ;;
    *-blocks) launcher+=(-N4 -n8 --distribution=block) ;;
    *-turns) launcher+=(-N4 -n8 --distribution=cyclic) ;;
    *-uneven)
      printf '%s\n' h1 h1 h1 h2 h3 h3 h4 >"$lab/seats"
      launcher=(env "SLURM_HOSTFILE=$lab/seats" "${launcher[@]}" -n7 --distribution=arbitrary)
      ;;
  esac
  [ "$mpi" != intel ] || launcher=(env I_MPI_PMI=pmi2 "I_MPI_PMI_LIBRARY=$pmi2_library" "${launcher[@]}")
  huddle_launcher=("${launcher[@]}" "$build/bin/huddle" run)
}

try() {
  local mpi=$1 program=$lab/$1-program several=$lab/$1-several layout launcher huddle_launcher
  local layouts=(blocks turns uneven)
  if [ ! -x "$peers/$mpi/mpicc" ]; then
    echo "$mpi: skipped: $peers/$mpi does not exist; run bench/peers"
    return
  fi
  if [ "$mpi" = intel ]; then
    layouts=(blocks)
    [ -e "$pmi2_library" ] || {
      echo "$mpi: skipped: $pmi2_library does not exist"
      return
    }
  fi
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/mpi/programs/c/{communicators,expect}.c
  "$peers/$mpi/mpicc" -O1 -o "$several" tests/mpi/programs/c/{several_nodes,expect}.c
  for layout in "${layouts[@]}"; do
    step "$mpi" "$layout"
    try_taken "$mpi" "$layout" "$several" brief
  done
  if [ "$mpi" != intel ]; then
    step "$mpi" blocks
    try_errors "$mpi"
    try_strangers "$mpi" "$program"
    try_deaths "$mpi" first other host
  fi
  echo "$mpi: tested under Slurm $(srun --version | sed 's/.* //')"
}

bring_up
slurm_up
for mpi in ${SLURM_MPIS:-openmpi-4 mpich-5 intel}; do try "$mpi"; done
exit "$status"
