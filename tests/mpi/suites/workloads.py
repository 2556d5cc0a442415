# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Short programs that allocate and free large arrays, and one run of such a program."""
import dataclasses
import functools
import pathlib
import re
import shutil
import subprocess
import sys

import stacks
import suite
from suite import HERE, job

sys.path.insert(0, str(HERE.parents[2] / "bench/programs"))
import programs as whole_programs  # noqa: E402

# The HUDDLE_X settings by X, besides the statistics; None: without huddle.
WAYS = {"native": None, "off": {"HEAP": "off"}, "on": {"HEAP": "on"}, "check": {"HEAP": "check"}}
RANKS = 2
SOURCES = HERE / "churn"
SEED = "SEED"  # stands for the seed of a run
# Programs of Debian's packages, which all use Open MPI 4: name, package, program, arguments, an input of the benchmark
# with replacements that make it shorter, and what the program prints at its end.
DEBIAN = (
    ("LAMMPS", "lammps", "lmp", ("-in", "melt.lmp"), ("melt.lmp", {r"run +\d+": "run 25"}), "Total wall time"),
    ("MPB", "mpb-mpi", "mpb-mpi", ("crystal.ctl",), ("crystal.ctl", {r"resolution \d+": "resolution 8"}),
     "total elapsed time"),
    ("CP2K", "cp2k", "cp2k.psmp", ("-i", "water.cp2k"),
     ("water.cp2k", {r"CUTOFF \d+": "CUTOFF 80", r"MAX_SCF \d+": "MAX_SCF 12"}), "PROGRAM STOPPED IN"),
    ("GPAW", "gpaw", "gpaw", ("python", "hydrogen.py"), ("hydrogen.py", {r"h=[\d.]+": "h=0.3"}), "energy"),
)


@dataclasses.dataclass
class Workload:
    name: str
    words: tuple  # the command of a rank
    inputs: pathlib.Path = None  # a folder whose files each run gets a copy of
    good: tuple = (0,)  # accepted exit statuses
    environment: dict = dataclasses.field(default_factory=dict)
    expected: str = ""  # appears in the output of every good run


def workloads(peer, work):
    """Yields the programs that are installed or can be built for this MPI, and prints the others."""
    folder = work / peer.name
    folder.mkdir(parents=True, exist_ok=True)
    makers = [churn, transforms, training]
    if peer.name == "openmpi-4":
        makers += [plane_waves, petsc, hdf5, hpcc, *(functools.partial(debian, *row) for row in DEBIAN)]
    for make in makers:
        try:
            yield make(peer, folder)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print(f"{peer.name}: {str(error).splitlines()[-1]}", flush=True)


def churn(peer, folder):
    peer.compile_c(folder / "churn", [SOURCES / "churn.c"])
    return Workload("churn", (folder / "churn", SEED))


def transforms(peer, folder):
    if peer.lacks_fortran():
        raise RuntimeError(peer.lacks_fortran())
    peer.compile_fortran(folder / "transforms", [SOURCES / "transforms.f90"], ["-lfftw3", "-llapack", "-lblas"])
    return Workload("transforms", (folder / "transforms", SEED), environment=peer.fortran_environment())


def training(peer, folder):
    inputs = shortened(folder, "training.py", {r"range\(\d+\)": "range(15)"})
    return Workload("mpi4py", (peer.home / "venv/bin/python", "-B", "training.py"), inputs)


def debian(name, package, program, arguments, shorter, expected, _peer, folder):
    return Workload(name, (installed(program, package), *arguments), shortened(folder, *shorter),
                    expected=expected)


def petsc(_peer, folder):
    if not whole_programs.PETSC:
        raise RuntimeError("Debian's package python3-petsc4py-real is not installed")
    return Workload("PETSc", (whole_programs.PYTHON, "-B", "poisson.py"),
                    shortened(folder, "poisson.py", {r"SIDE = \d+": "SIDE = 32", r"in range\(\d+\)": "in range(10)"}),
                    environment={"PYTHONPATH": str(whole_programs.PETSC[0])}, expected="residual")


def plane_waves(_peer, folder):
    """Returns pw.x of Quantum ESPRESSO, with a pseudopotential generated here: one step for eight
    atoms."""
    inputs = folder / "pw.x"
    inputs.mkdir(exist_ok=True)
    shutil.copy(SOURCES / "silicon.in", inputs)
    with open(SOURCES / "silicon.ld1", "rb") as said:
        subprocess.run([installed("ld1.x", "quantum-espresso")], stdin=said, cwd=inputs, check=True, capture_output=True)
    # 2: not converged, as expected after one step.
    return Workload("pw.x", (installed("pw.x", "quantum-espresso"), "-in", "silicon.in"), inputs, good=(0, 2))


def hdf5(_peer, _folder):
    installed("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi/__init__.py", "python3-h5py-mpi")
    return Workload("HDF5", (whole_programs.PYTHON, "-B", HERE / "hdf5_files.py", "all.h5", SEED), expected="digest")


def hpcc(_peer, folder):
    inputs = folder / "hpcc"
    inputs.mkdir(exist_ok=True)
    text = whole_programs.HPCC.format(ranks=RANKS)
    (inputs / "hpccinf.txt").write_text(replaced(text, "hpccinf.txt", {r"\d{2,} +N\n": "200 N\n"}), encoding="ascii")
    return Workload("HPCC", (installed("hpcc", "hpcc"),), inputs)


def installed(program, package):
    """Returns the path of a program, or of a file whose path is given."""
    found = program if pathlib.Path(program).is_file() else shutil.which(program)
    if found is None:
        raise RuntimeError(f"Debian's package {package} is not installed")
    return found


def shortened(folder, name, replacements):
    """Returns a folder with this input of the benchmark, with the replacements."""
    whole = (whole_programs.INPUTS / name).read_text(encoding="utf-8")
    inputs = folder / f"with-{name}"
    inputs.mkdir(exist_ok=True)
    (inputs / name).write_text(replaced(whole, name, replacements), encoding="utf-8")
    return inputs


def replaced(text, name, replacements):
    for pattern, shorter in replacements.items():
        text, count = re.subn(pattern, shorter, text)
        if count != 1:
            raise RuntimeError(f"{name} contains '{pattern}' {count} times")
    return text


@dataclasses.dataclass
class Run:
    wrong: str  # what is wrong with the run; empty if nothing is
    taken: int  # collectives that huddle handled


def run(peer, workload, way, seed, libraries, folder, patience_seconds):
    """Runs a program in the empty folder `folder`. Core files and stacks of a bad run stay there."""
    shutil.copytree(workload.inputs, folder) if workload.inputs else folder.mkdir(parents=True)
    own = {**suite.OF_NOBODY, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **workload.environment}
    if WAYS[way] is not None:
        own |= suite.with_huddle(WAYS[way], libraries)
    words = [seed if word == SEED else word for word in workload.words]
    command = peer.job(RANKS, "env", ("-C", folder, *words), own)
    done = job.run(["prlimit", "--core=unlimited", *command], peer.environment(), patience_seconds,
                   at_deadline=lambda mark: stacks.of_processes(job.members(mark), folder))
    taken = sum(done.taken(operation) for operation in ("bcast", "allreduce", "alltoall", "allgather"))
    wrong = findings(done, workload, way, taken)
    if wrong:
        stacks.of_cores(folder)
        (folder / "log").write_text(f"{' '.join(map(str, command))}\n{wrong}\n{done.out}{done.err}", encoding="utf-8")
    return Run(wrong, taken)


def findings(done, workload, way, taken):
    """Returns what is wrong with the run; empty if nothing is."""
    if not done.in_time:
        return "does not end"
    if done.status not in workload.good:
        return f"status {done.status}\n{done.tail()}"
    if not re.search(workload.expected, done.out):
        return f"no '{workload.expected}' in its output\n{done.tail()}"
    if done.left:
        return f"left {', '.join(done.left)}"
    if WAYS[way] is not None and taken == 0:
        return f"nothing was taken\n{done.tail()}"
    if "huddle: heap: " in done.err:
        return f"there was no heap\n{done.tail()}"
    return ""
