#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests that launchers and runtimes follow the output of huddle map: map_launchers_test.py HUDDLE.

Two ranks or threads must run on the second and the first allowed hardware thread, in that order. Their
places are read from /proc/self/status. The MPIs are those that bench/peers has set up.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HUDDLE = str(pathlib.Path(sys.argv[1]).resolve())
SKIPPED = 77
RANK = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}
echo "rank $rank on $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
"""
THREADS = """
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp critical
  printf("rank %d on %d\\n", omp_get_thread_num(), sched_getcpu());
  return 0;
}
"""
PEERS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "huddle/peers"


class Order:
    """Element 0 on the second hardware thread, element 1 on the first."""

    def __init__(self, folder):
        first, second = sorted(os.sched_getaffinity(0))[:2]
        self.folder, self.pus = folder, (second, first)
        (folder / "two.csv").write_text("0,9\n9,0\n")
        (folder / "rank").write_text(RANK)
        (folder / "rank").chmod(0o755)

    def written(self, emission):
        fixed = ",".join(f"{rank}={pu}" for rank, pu in enumerate(self.pus))
        return subprocess.run([HUDDLE, "map", "two.csv", "--cpus", ",".join(map(str, self.pus)), "--fixed", fixed,
                               "--emit", emission], cwd=self.folder, text=True, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def run(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, text=True, timeout=120, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ran = sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))
        wanted = [f"rank {rank} on {pu}" for rank, pu in enumerate(self.pus)]
        assert done.returncode == 0 and ran == wanted, f"{command}\n{done.stdout}\nwanted: {wanted}"


def launcher_line(text, program):
    """Returns the command in the first line of a file, with the file's name and the program inserted."""
    return text.splitlines()[0].removeprefix("# ").replace("FILE", "file").replace("PROGRAM", program)


def by_mpi(order, peer, emission):
    home = PEERS / peer
    if not (home / "env").exists():
        return f"{home} is not there: bench/peers sets this MPI up"
    text = order.written(emission)
    (order.folder / "file").write_text(text)
    command = re.sub(r"\b(mpirun|mpiexec\.hydra)\b", "mpiexec -n 2", launcher_line(text, "./rank"), count=1)
    if peer in ("openmpi-4", "mpich-4"):
        command = command.replace("mpiexec", f"mpiexec.{peer[:-2]}")
    order.run(f". '{home}/env'; {command}")
    return ""


def by_openmp(order, emission):
    (order.folder / "threads.c").write_text(THREADS)
    compiled = subprocess.run(["gcc", "-fopenmp", "threads.c", "-o", "threads"], cwd=order.folder, check=False)
    if compiled.returncode != 0:
        return "gcc compiles no OpenMP here"
    order.run(f"{order.written(emission).strip()} ./threads")
    return ""


def by_taskset(order):
    (order.folder / "bind").write_text(order.written("taskset"))
    sleepers = [subprocess.Popen(["sleep", "60"]) for _ in order.pus]
    try:
        subprocess.run(["sh", "bind", *(str(one.pid) for one in sleepers)], cwd=order.folder, check=True,
                       stdout=subprocess.DEVNULL)
        found = tuple(min(os.sched_getaffinity(one.pid)) for one in sleepers)
        assert found == order.pus, f"taskset: {found}, wanted {order.pus}"
    finally:
        for one in sleepers:
            one.kill()
            one.wait()
    return ""


def by_slurm(order):
    if not shutil.which("srun") or not shutil.which("scontrol"):
        return "Slurm is not installed"
    config = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True, timeout=60, check=False)
    if not re.search(r"^TaskPlugin\s*=.*affinity", config.stdout, re.MULTILINE):
        return "Slurm's affinity plugin does not run here"
    order.run(f"srun -N 1 -n 2 {order.written('srun-map-cpu').strip()} ./rank")
    return ""


def main():
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: an order of one processor is none")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        order = Order(pathlib.Path(folder))
        tried = {
            "omp-places": lambda: by_openmp(order, "omp-places"),
            "gomp": lambda: by_openmp(order, "gomp"),
            "taskset": lambda: by_taskset(order) if shutil.which("taskset") else "taskset is not installed",
            "openmpi4 with Open MPI 4": lambda: by_mpi(order, "openmpi-4", "openmpi4"),
            "prrte with Open MPI 5": lambda: by_mpi(order, "openmpi-5", "prrte"),
            "hydra with MPICH 4": lambda: by_mpi(order, "mpich-4", "hydra"),
            "hydra with MPICH 5": lambda: by_mpi(order, "mpich-5", "hydra"),
            "intel with Intel MPI": lambda: by_mpi(order, "intel", "intel"),
            "srun-map-cpu with Slurm": lambda: by_slurm(order),
        }
        for name, run in tried.items():
            start = time.monotonic()
            lacking = run()
            print(f"{name}: {'not tried, ' + lacking if lacking else f'read back in {time.monotonic() - start:.1f} s'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
