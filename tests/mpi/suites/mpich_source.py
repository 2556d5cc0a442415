# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""MPICH's own tests from Debian's source package: builds them for an MPI and reads their lists."""
import dataclasses
import os
import pathlib
import shutil
import subprocess
import tempfile

# Source packages may not be configured, so their list is derived from that of the binary packages.
ARCHIVES = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
            "Created-By: Packages", "Label: Debian", "Component: main"]
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
PACKAGE = "mpich"


class Missing(Exception):
    """Explains why the tests are not available."""


def tests(cache):
    """Returns the folder of the tests below `cache`, after downloading them if necessary."""
    unpacked = pathlib.Path(cache) / "mpich-source"
    if not unpacked.exists():
        for tool in ("apt-get", "dpkg-source"):
            if shutil.which(tool) is None:
                raise Missing(f"{tool} is not there, which fetches the source of {PACKAGE}")
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as beside:
            _fetch(pathlib.Path(beside))
            # Renamed last and atomically, so that an existing folder is complete.
            next(pathlib.Path(beside).glob(f"{PACKAGE}-*/")).rename(unpacked)
    return unpacked / "test/mpi"


def _fetch(folder):
    archives = subprocess.run(ARCHIVES, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    sources = "".join(f"deb-src [signed-by={KEYS}] {one}\n" for one in sorted(set(archives)) if one)
    if not sources:
        raise Missing("apt knows no archive of Debian here (apt-get update)")
    (folder / "sources.list").write_text(sources, encoding="utf-8")
    (folder / "lists/partial").mkdir(parents=True)
    settings = {"Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "-",
                "Dir::State::Lists": folder / "lists", "Dir::Cache": folder / "cache",
                "APT::Sandbox::User": "root"}
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    for command in (["update"], ["source", PACKAGE]):
        done = subprocess.run(["apt-get", "-qq", *options, *command], cwd=folder, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"apt-get {' '.join(command)} says: {done.stderr.strip()}")


@dataclasses.dataclass(frozen=True)
class Case:
    """A line of a test list: the program and how to run it."""
    folder: str
    program: str
    ranks: int
    arguments: tuple
    environment: tuple
    seconds: float

    def __str__(self):
        return " ".join((f"{self.folder}/{self.program}", str(self.ranks), *self.arguments))


class Build:
    """The test programs, built for one MPI."""

    def __init__(self, source, peer, folder):
        self.source = source
        self.peer = peer
        self.folder = folder / f"mpich-tests-{peer.name}"

    def configure(self):
        if (self.folder / "config.status").exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        # Open MPI still has the functions that MPI 3 removed, but hides them.
        own = [f"MPICC={self.peer.home / 'mpicc'}", f"MPIEXEC={self.peer.home / 'run'}",
               "CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0"]
        strict = [] if self.peer.is_mpich() else ["--enable-strictmpi"]
        self._command(self.source / "configure", "--enable-fortran=no", "--disable-cxx",
                      "--disable-dtpools", "--enable-threads=multiple", *strict, *own)

    def make(self, folder, programs):
        """Builds the programs and returns those that failed: no MPI has all functions."""
        self._command("make", "--keep-going", f"--jobs={os.cpu_count()}", "-C", folder, *programs,
                      check=False)
        return [program for program in programs if not self.path(folder, program).exists()]

    def path(self, folder, program):
        return self.folder / folder / program

    def cases(self, folder):
        """Yields the cases of a folder's list, except those that expect a failure or need
        gigabytes of memory."""
        for line in self._list(folder).read_text(encoding="utf-8").splitlines():
            words = line.split("#")[0].split()
            if not words or words[0].startswith("@"):
                continue
            pairs = [word.split("=", 1) for word in words[2:]]
            given = dict(pairs)
            if {"xfail", "mem", "resultTest"} & set(given):
                continue
            yield Case(folder, words[0], int(words[1]) if len(words) > 1 else 2,
                       tuple(value for name, value in pairs if name == "arg"),
                       tuple(value for name, value in pairs if name == "env"),
                       float(given.get("timeLimit", 180)))

    def _list(self, folder):
        made = self.folder / folder / "testlist"
        return made if made.exists() else self.source / folder / "testlist"

    def _command(self, *words, check=True):
        with open(self.folder / "build.log", "a", encoding="utf-8") as log:
            done = subprocess.run([str(word) for word in words], cwd=self.folder, stdout=log,
                                  stderr=subprocess.STDOUT, check=False, env=self.peer.environment())
        if check and done.returncode != 0:
            raise RuntimeError(f"{words[0]} ends with status {done.returncode}: {log.name}")
