#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs programs that allocate and free large arrays hundreds of times, alternately with and
without huddle: churn.py --libraries DIR --work DIR [--runs N] [--first-seed N] [--ways WAY...]
[--mpi MPI...] [--programs NAME...] [--beside N]

Each program checks its own results. A run is bad if it hangs, dies, finds a wrong result or leaves
something behind. Its core file is kept, and gdb, if installed, prints its threads. Status 1: more
runs were bad with huddle than without.
"""
import argparse
import contextlib
import dataclasses
import pathlib
import shutil
import subprocess
import sys

import suite
from suite import job, peer_module

MPIS = ("openmpi-4", "openmpi-5", "mpich-4", "mpich-5", "intel")
# The HUDDLE_X settings by X, besides the statistics; None: without huddle.
WAYS = {"native": None, "off": {"HEAP": "off"}, "on": {"HEAP": "on"}, "check": {"HEAP": "check"}}
RANKS = 2
DEADLINE_SECONDS = 300
SKIPPED = 77
SOURCES = pathlib.Path(__file__).with_name("churn")
# Computes and sleeps in turns of at most 0.1 s, so that ranks lose their cores at any moment.
BUSY = "import random, time\nwhile True:\n    end = time.monotonic() + random.random() / 10\n" \
       "    while time.monotonic() < end: pass\n    time.sleep(random.random() / 10)\n"


@dataclasses.dataclass
class Program:
    name: str
    file: pathlib.Path
    arguments: tuple  # after the seed
    takes_seed: bool = True
    good: tuple = (0,)  # accepted exit statuses
    environment: dict = dataclasses.field(default_factory=dict)


def programs(peer, work):
    """Yields the programs that are installed or can be built for this MPI."""
    folder = work / peer.name
    folder.mkdir(parents=True, exist_ok=True)
    churn = folder / "churn"
    peer.compile_c(churn, [SOURCES / "churn.c"])
    yield Program("churn", churn, ())
    if not peer.lacks_fortran():
        try:
            transforms = folder / "transforms"
            peer.compile_fortran(transforms, [SOURCES / "transforms.f90"], ["-lfftw3", "-llapack", "-lblas"])
            yield Program("transforms", transforms, (), environment=peer.fortran_environment())
        except RuntimeError as error:
            print(f"{peer.name}: without FFTW and LAPACK: {str(error).splitlines()[-1]}")
    if peer.name == "openmpi-4" and shutil.which("pw.x") and shutil.which("ld1.x"):
        yield plane_waves(folder)
    elif peer.name == "openmpi-4":
        print("openmpi-4: Debian's package quantum-espresso is not installed")


def plane_waves(folder):
    """Returns pw.x of Quantum ESPRESSO, with a pseudopotential generated here: one step for eight
    atoms."""
    for name in ("silicon.ld1", "silicon.in"):
        shutil.copy(SOURCES / name, folder)
    with open(folder / "silicon.ld1", "rb") as said:
        subprocess.run(["ld1.x"], stdin=said, cwd=folder, check=True, capture_output=True)
    # 2: not converged, as expected after one step.
    return Program("pw.x", pathlib.Path(shutil.which("pw.x")), ("-in", folder / "silicon.in"), False, (0, 2))


class Count:
    def __init__(self):
        self.runs = 0
        self.bad = 0
        self.taken = 0


def one_run(peer, program, way, seed, libraries, work):
    """Returns what is wrong with the run (empty if nothing is), and the number of collectives that
    huddle handled."""
    own = {**suite.OF_NOBODY, "OMP_NUM_THREADS": "1", **program.environment}
    if WAYS[way] is not None:
        own |= suite.with_huddle(WAYS[way], libraries)
    folder = work / "running"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    arguments = [seed] if program.takes_seed else []
    command = peer.job(RANKS, "env", ("-C", folder, program.file, *arguments, *program.arguments), own)
    done = job.run(["prlimit", "--core=unlimited", *command], peer.environment(), DEADLINE_SECONDS)
    taken = sum(done.taken(operation) for operation in ("bcast", "allreduce", "alltoall", "allgather"))
    if not done.in_time:
        return "does not end", taken
    if done.status not in program.good:
        return f"status {done.status}\n{done.tail()}\n{of_cores(folder, program.file, work, seed)}", taken
    if done.left:
        return f"left {', '.join(done.left)}", taken
    if WAYS[way] is not None and taken == 0:
        return f"nothing was taken\n{done.tail()}", taken
    if "huddle: heap: " in done.err:
        return f"there was no heap\n{done.tail()}", taken
    return "", taken


def of_cores(folder, file, work, seed):
    said = []
    for number, core in enumerate(sorted(folder.glob("core*"))):
        kept = work / f"core-{file.name}-{seed}-{number}"
        shutil.move(core, kept)
        said.append(f"kept {kept}")
        if shutil.which("gdb"):
            shown = subprocess.run(["gdb", "-batch", "-ex", "thread apply all bt", str(file), str(kept)],
                                   capture_output=True, text=True, check=False, errors="replace")
            said.append(shown.stdout)
    return "\n".join(said)


@contextlib.contextmanager
def busy(processes):
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--work", required=True, help="where programs are built and cores are kept")
    parser.add_argument("--runs", type=int, default=20, help="of each program under each MPI, each way")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["native", "on", "check"])
    parser.add_argument("--mpi", nargs="+", choices=MPIS, default=list(MPIS))
    parser.add_argument("--programs", nargs="+", default=["churn", "transforms", "pw.x"])
    parser.add_argument("--beside", type=int, default=0, help="so many processes want a core as well")
    return parser.parse_args()


def main():
    given = arguments()
    libraries, work = pathlib.Path(given.libraries).resolve(), pathlib.Path(given.work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    peers = [peer_module.Peer(name) for name in suite.present(given.mpi)]
    if not peers:
        return SKIPPED
    all_programs = [(peer, program) for peer in peers for program in programs(peer, work)
                    if program.name in given.programs]
    counts = {}
    with busy(given.beside):
        for seed in range(given.first_seed, given.first_seed + given.runs):
            for peer, program in all_programs:
                for way in given.ways:
                    wrong, taken = one_run(peer, program, way, seed, libraries, work)
                    count = counts.setdefault((peer.name, program.name, way), Count())
                    count.runs += 1
                    count.bad += wrong != ""
                    count.taken += taken
                    if wrong:
                        print(f"{peer.name}: {program.name} {seed}: {way}: {wrong}", flush=True)
    return report(counts)


def report(counts):
    print(f"{'MPI':<10} {'program':<11} {'way':<7} {'runs':>6} {'bad':>5} {'taken':>9}")
    for (mpi, program, way), count in counts.items():
        print(f"{mpi:<10} {program:<11} {way:<7} {count.runs:>6} {count.bad:>5} {count.taken:>9}")
    bad = {way: sum(count.bad for key, count in counts.items() if key[2] == way) for way in WAYS}
    return 1 if any(bad[way] > bad["native"] for way in WAYS if way != "native") else 0


if __name__ == "__main__":
    sys.exit(main())
