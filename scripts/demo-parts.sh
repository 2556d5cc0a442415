#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Prints the targets that `make demo` builds: those that the README's commands need, for the MPI that is on
# the PATH. `make build` builds the parts for all MPIs.
set -euo pipefail

# The program, the libraries that it preloads regardless of the MPI, and its helper programs.
echo huddle huddle_preload huddle_profile_preload huddle_look huddle_heap_preload \
  huddle_threads_helper huddle_pattern huddle-start-up

# The MPI's processes load the first two. The others measure inside such processes.
command -v mpirun >/dev/null || command -v mpiexec >/dev/null || exit 0
abi=mpich
case $({ mpirun --version || mpiexec --version; } 2>/dev/null) in *'Open MPI'*) abi=openmpi ;; esac
echo "huddle_$abi" "huddle_profile_$abi" "huddle-bench-$abi" "huddle-network-$abi"
