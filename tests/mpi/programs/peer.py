# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The MPIs that bench/peers installs: how to build a program and start a job with each."""
import os
import pathlib
import subprocess

STANDARD = "-standard"

# Tests usually have more ranks than cores, so that an MPI that only spins takes minutes. These
# settings make it yield its core or sleep briefly, if it can.
SETTINGS = {
    "openmpi-4": {"OMPI_MCA_mpi_yield_when_idle": "1"},
    "openmpi-5": {"OMPI_MCA_mpi_yield_when_idle": "1"},
    # With TCP among the transports, Debian's MPICH hangs in MPI_Finalize even without huddle.
    "mpich-4": {"UCX_TLS": "self,sysv,posix", "UCX_LOG_LEVEL": "error"},
    # It sleeps in programs with MPI_THREAD_MULTIPLE, such as Python's; in others it spins
    # nevertheless.
    "mpich-5": {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"},
    "intel": {"I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp", "I_MPI_THREAD_YIELD": "3"},
}
# Large messages then take two copies, so that both sides must make progress.
WITHOUT_SINGLE_COPY = {
    "openmpi-4": {"OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                  # the other one-sided component needs single copy
                  "OMPI_MCA_osc": "pt2pt"},
    "openmpi-5": {"OMPI_MCA_smsc": "^cma,xpmem,knem"},
    "mpich-5": {"MPIR_CVAR_CH4_CMA_ENABLE": "0", "MPIR_CVAR_CH4_XPMEM_ENABLE": "0"},
}


def folder_of_peers():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "huddle/peers"


class Peer:
    """NAME, or NAME-standard for the same MPI with the ABI of MPI 5."""

    def __init__(self, name):
        self.name = name
        self.family = name.removesuffix(STANDARD)
        self.is_standard = name.endswith(STANDARD)
        self.home = folder_of_peers() / self.family

    def is_open_mpi(self):
        return self.family.startswith("openmpi")

    def is_mpich(self):
        return self.family.startswith("mpich")

    def lacks(self):
        """Returns why nothing can run under this MPI; empty if it is usable."""
        needed = [self.home / "run", self.home / "mpicc"]
        if self.is_standard:
            needed += [self.home / "venv/include/mpi_abi.h", self.home / "venv/lib/libmpi_abi.so"]
        missing = [str(path) for path in needed if not path.exists()]
        return f"{missing[0]} is not there: bench/peers sets this MPI up" if missing else ""

    def lacks_fortran(self):
        if self.fortran_compiler() is None:
            return "it comes without Fortran's modules for gfortran, or gfortran is not there"
        return ""

    def fortran_compiler(self):
        """Returns None if the MPI has no modules for gfortran, as most of PyPI's."""
        command = {"openmpi-4": ["mpif90.openmpi"], "mpich-4": ["mpif90.mpich"],
                   "intel": self._intels_fortran()}.get(self.name)
        return command if command and _works(command) else None

    def _intels_fortran(self):
        """Returns the compiler with the modules for the installed gfortran, in a folder that
        PyPI's wrapper does not find."""
        venv = self.home / "venv"
        if not _works(["gfortran"]):
            return None
        version = subprocess.run(["gfortran", "-dumpversion"], capture_output=True, text=True,
                                 check=True).stdout.strip()
        modules = sorted((venv / "include/mpi/gfortran").glob(f"{version.split('.')[0]}.*"))
        return ["env", f"I_MPI_ROOT={venv}", str(venv / "bin/mpifc"), f"-I{modules[-1]}",
                f"-Wl,-rpath,{venv / 'lib'}"] if modules else None

    def fortran_environment(self):
        """Lets Intel's Fortran library find the library below it."""
        return {"LD_LIBRARY_PATH": str(self.home / "venv/lib")} if self.family == "intel" else {}

    def has_mpi_f08(self):
        """Intel's mpi_f08 is for Intel's compilers only."""
        return self.family != "intel"

    def compile_c(self, output, sources, flags=(), compiler="gcc"):
        if self.is_standard:
            command = [compiler, f"-I{self._folder_of_standard_header(output.parent)}"]
            library = self.home / "venv/lib"
            after = [f"-L{library}", f"-Wl,-rpath,{library}", "-lmpi_abi"]
        else:
            names = ("OMPI_CC", "MPICH_CC", "I_MPI_CC")
            command, after = ["env", *(f"{name}={compiler}" for name in names), self.home / "mpicc"], []
        compile_by([*command, "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-pthread", *sources, "-o",
                  output, *flags, *after])

    def compile_fortran(self, output, sources, flags=()):
        # mpif.h accepts buffers of any type.
        compile_by([*self.fortran_compiler(), "-fallow-argument-mismatch", "-O1", "-g", *sources, "-o", output, f"-J{output.parent}",
                  *flags])

    def static_library(self):
        """Returns the static library, which only Debian's MPICH has."""
        found = sorted(pathlib.Path("/usr/lib").glob("*/libmpich.a")) if self.name == "mpich-4" else []
        return found[0] if found else None

    def compile_statically(self, output, sources, library):
        below = ["-lhwloc", "-lucp", "-lucs", "-luct", "-lucm", "-lm", "-ldl"]
        header = (self.home / "include").resolve()
        compile_by(["gcc", "-pthread", f"-I{header}", *sources, library, "-o", output, *below])

    def job(self, ranks, program, arguments=(), rank_environment=None):
        """Returns the command that starts the program. `rank_environment` is set after the
        launcher, so that libraries are preloaded into the ranks only."""
        environment = [f"{name}={value}" for name, value in (rank_environment or {}).items()]
        start = ["env", *environment] if environment else []
        return [str(word) for word in (self.home / "run", "-n", ranks, *start, program,
                                       *arguments)]

    def environment(self, single_copy=True):
        """Returns the launcher's environment without the user's settings for huddle."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("HUDDLE") and name != "LD_PRELOAD"}
        without = {} if single_copy else WITHOUT_SINGLE_COPY.get(self.family, {})
        return {**kept, **SETTINGS[self.family], **without}

    def _folder_of_standard_header(self, build):
        """Returns a folder in which the header of the standard ABI has the name that programs
        include."""
        folder = build / "standard"
        folder.mkdir(exist_ok=True)
        header = folder / "mpi.h"
        if not header.exists():
            header.symlink_to(self.home / "venv/include/mpi_abi.h")
        return folder


def _works(compiler):
    try:
        return subprocess.run([*compiler, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def compile_by(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"does not compile: {' '.join(map(str, command))}\n{done.stderr}")
