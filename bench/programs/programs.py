# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Debian's MPI programs of different kinds, each with a small input: their commands and their packages.

A run takes seconds: long enough for start-up to be a small part of it, short enough for many rounds.
"""
import dataclasses
import gzip
import pathlib
import shutil
import subprocess
from typing import Callable

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
PYTHON = "/usr/bin/python3"  # Debian's, which finds Debian's modules
FOAM_CASE = pathlib.Path("/usr/share/doc/openfoam-examples/examples/incompressible/simpleFoam/pitzDaily")
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
# By default Open MPI binds each rank to one core, which all threads of the rank would share.
TWO_THREADS = {"OMP_NUM_THREADS": "2", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMP_WAIT_POLICY": "passive"}
CP2K = ("cp2k.psmp", "-i", str(INPUTS / "water.cp2k"))
PETSC = sorted(pathlib.Path("/usr/lib/petscdir").glob("*/*-real/lib/python3/dist-packages"))
# HPL and PTRANS of a matrix with 3,200 rows on one row of processes. The other tests derive their sizes from it.
HPCC = """HPLinpack benchmark input file
of whole runs
HPL.out    output file name
8          device out
1          number of problem sizes
3200       N
1          number of block sizes
96         NB
0          process mapping by rows
1          number of process grids
1          P
{ranks}    Q
16.0       threshold
1          number of panel factorisations
2          right-looking
1          number of stopping criteria
4          NBMIN
1          number of panels in recursion
2          NDIV
1          number of recursive factorisations
2          right-looking
1          number of broadcasts
1          increasing ring, modified
1          number of lookahead depths
1          depth
2          swapping: both
64         swapping threshold
0          L1 transposed
0          U transposed
1          equilibration
8          memory alignment
##### PTRANS
0          further problem sizes
0          N
0          further block sizes
0          NB
"""


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    kind: str
    packages: tuple[str, ...]
    words: tuple[str, ...]  # the command that mpirun runs
    prepare: Callable[[pathlib.Path, int, dict], None] = lambda work, ranks, environment: None
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    def installed(self):
        return shutil.which(self.words[0]) is not None


def prepare_abinit(work, ranks, environment):
    """Copies the input, because ABINIT writes its output beside it."""
    shutil.copy(INPUTS / "silicon.abi", work)


def prepare_hpcc(work, ranks, environment):
    (work / "hpccinf.txt").write_text(HPCC.format(ranks=ranks), encoding="ascii")


def foam_dictionary(name, lines):
    return f"FoamFile {{ version 2.0; format ascii; class dictionary; object {name}; }}\n{lines}\n"


def prepare_foam(work, ranks, environment):
    """Prepares 400 iterations of the backward-facing step from OpenFOAM's examples, without output."""
    shutil.copytree(FOAM_CASE, work, dirs_exist_ok=True)
    for packed in work.rglob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    (work / "system/decomposeParDict").write_text(foam_dictionary(
        "decomposeParDict", f"numberOfSubdomains {ranks}; method simple; simpleCoeffs {{ n ({ranks} 1 1); }}"))
    (work / "system/controlDict").write_text(foam_dictionary(
        "controlDict", "application simpleFoam; startFrom startTime; startTime 0; stopAt endTime; endTime 400;"
        " deltaT 1; writeControl timeStep; writeInterval 1000000;"))
    for step in ("blockMesh", "decomposePar"):
        subprocess.run([step], cwd=work, env=environment, check=True, stdout=subprocess.DEVNULL)


PROGRAMS = (
    Program("Quantum ESPRESSO", "plane waves", ("quantum-espresso", "quantum-espresso-data"),
            ("pw.x", "-in", str(INPUTS / "silicon.pw"))),
    Program("NWChem", "Gaussian basis", ("nwchem-openmpi", "nwchem-data"),
            ("nwchem.openmpi", str(INPUTS / "water.nw"))),
    Program("MPB", "eigenmodes of Maxwell's equations", ("mpb-mpi",),
            ("mpb-mpi", str(INPUTS / "crystal.ctl"))),
    Program("OpenFOAM", "flow", ("openfoam", "openfoam-examples"),
            ("simpleFoam", "-parallel"), prepare_foam, {"WM_PROJECT_DIR": "/usr/share/openfoam"}),
    Program("LAMMPS", "molecular dynamics", ("lammps",), ("lmp", "-in", str(INPUTS / "melt.lmp"))),
    Program("PETSc", "sparse solver", ("python3-petsc4py",), (PYTHON, "-B", str(INPUTS / "poisson.py")),
            environment={"PYTHONPATH": ":".join(map(str, PETSC))}),
    Program("mpi4py, NumPy", "training by data-parallel ranks", ("python3-mpi4py", "python3-numpy"),
            (PYTHON, "-B", str(INPUTS / "training.py"))),
    Program("ABINIT", "plane waves", ("abinit", "abinit-data"), ("abinit", "silicon.abi"), prepare_abinit, ONE_THREAD),
    Program("CP2K", "Gaussian and plane waves", ("cp2k",), CP2K, environment=ONE_THREAD),
    Program("CP2K, OpenMP", "Gaussian and plane waves, 2 threads per rank", ("cp2k",), CP2K, environment=TWO_THREADS),
    Program("GPAW", "real-space grid", ("gpaw",), ("gpaw", "python", str(INPUTS / "hydrogen.py")),
            environment=ONE_THREAD),
    Program("HPCC", "benchmark suite", ("hpcc",), ("hpcc",), prepare_hpcc),
)
