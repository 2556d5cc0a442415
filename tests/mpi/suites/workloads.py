# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Short programs that allocate and free large arrays, and one run of such a program."""
import dataclasses
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
# Programs of Debian's packages, which all use Open MPI 4. The inputs are those of the benchmark with fewer steps.
DEBIAN = (
    ("LAMMPS", "lmp", ("-in", "melt.lmp"), {"melt.lmp": ("run             300", "run 25")}, "Total wall time"),
    ("MPB", "mpb-mpi", ("crystal.ctl",), {"crystal.ctl": ("resolution 24", "resolution 8")}, "total elapsed time"),
    ("PETSc", whole_programs.PYTHON, ("-B", "poisson.py"), {"poisson.py": ("SIDE = 48", "SIDE = 32")}, "residual"),
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
    for make in (churn, transforms, training, debian, plane_waves, quickstep, real_space, hdf5, hpcc):
        try:
            yield from make(peer, folder)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print(f"{peer.name}: no {make.__name__}: {str(error).splitlines()[-1]}", flush=True)


def churn(peer, folder):
    peer.compile_c(folder / "churn", [SOURCES / "churn.c"])
    yield Workload("churn", (folder / "churn", SEED))


def transforms(peer, folder):
    if peer.lacks_fortran():
        raise RuntimeError(peer.lacks_fortran())
    peer.compile_fortran(folder / "transforms", [SOURCES / "transforms.f90"], ["-lfftw3", "-llapack", "-lblas"])
    yield Workload("transforms", (folder / "transforms", SEED), environment=peer.fortran_environment())


def training(peer, folder):
    inputs = shortened(folder, {"training.py": ("range(300)", "range(15)")})
    yield Workload("mpi4py", (peer.home / "venv/bin/python", "-B", "training.py"), inputs)


def debian(peer, folder):
    if peer.name != "openmpi-4":
        return
    modules = {"PYTHONPATH": ":".join(map(str, whole_programs.PETSC))}
    for name, program, arguments, shorter, expected in DEBIAN:
        yield Workload(name, (installed(program), *arguments), shortened(folder, shorter), environment=modules,
                       expected=expected)


def plane_waves(peer, folder):
    """Yields pw.x of Quantum ESPRESSO, with a pseudopotential generated here: one step for eight
    atoms."""
    if peer.name != "openmpi-4":
        return
    inputs = folder / "pw.x"
    inputs.mkdir(exist_ok=True)
    shutil.copy(SOURCES / "silicon.in", inputs)
    with open(SOURCES / "silicon.ld1", "rb") as said:
        subprocess.run([installed("ld1.x")], stdin=said, cwd=inputs, check=True, capture_output=True)
    # 2: not converged, as expected after one step.
    yield Workload("pw.x", (installed("pw.x"), "-in", "silicon.in"), inputs, good=(0, 2))


def quickstep(peer, _folder):
    if peer.name == "openmpi-4":
        yield Workload("CP2K", (installed("cp2k.psmp"), "-i", SOURCES / "water.cp2k"), expected="PROGRAM STOPPED IN")


def real_space(peer, _folder):
    if peer.name == "openmpi-4":
        yield Workload("GPAW", (installed("gpaw"), "python", SOURCES / "hydrogen.py"), expected="energy")


def hdf5(peer, _folder):
    if peer.name == "openmpi-4":
        require(pathlib.Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi"), package="python3-h5py-mpi")
        yield Workload("HDF5", (whole_programs.PYTHON, "-B", HERE / "hdf5_files.py", "all.h5", SEED),
                       expected="digest")


def hpcc(peer, folder):
    if peer.name == "openmpi-4":
        inputs = folder / "hpcc"
        inputs.mkdir(exist_ok=True)
        text = whole_programs.HPCC.format(ranks=RANKS).replace("1500  ", "200  ")
        (inputs / "hpccinf.txt").write_text(text, encoding="ascii")
        yield Workload("HPCC", (installed("hpcc"),), inputs)


def installed(program):
    return require(shutil.which(program), package=f"with {program}")


def require(*found, package):
    if not found or found[0] is None or not pathlib.Path(found[0]).exists():
        raise RuntimeError(f"Debian's package {package} is not installed")
    return pathlib.Path(found[0])


def shortened(folder, changes):
    """Returns a folder with inputs of the benchmark in which one text each is replaced."""
    inputs = folder / "-".join(changes)
    inputs.mkdir(exist_ok=True)
    for name, (text, shorter) in changes.items():
        whole = (whole_programs.INPUTS / name).read_text(encoding="utf-8")
        if text not in whole:
            raise RuntimeError(f"{name} does not contain '{text}'")
        (inputs / name).write_text(whole.replace(text, shorter), encoding="utf-8")
    return inputs


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
