#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks src/mpi/abi against an MPI's own header: real_header_test.py COMPILER MPI

Generates a program that includes both headers and compares every constant, type and predefined
handle, in both directions; builds it with the MPI and runs it on one rank. Status 77: this MPI is
not installed.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77

# Handles that only some members of a family have. Others lack the macro, or it is the null handle.
FORTRAN_OF_SOME = {"MPI_INTEGER16", "MPI_REAL2", "MPI_COMPLEX4"}
MAY_LACK = {
    "openmpi": FORTRAN_OF_SOME | {"MPI_SESSION_NULL"},
    "mpich": FORTRAN_OF_SOME | {f"MPI_LOGICAL{size}" for size in (1, 2, 4, 8, 16)},
    "standard": set(),
}
# Constants without a name in the header, or with another one.
OTHER_NAMES = {
    "openmpi": {"error_proc_failed": "MPI_ERR_OTHER", "root_itself": "MPI_ROOT", "tag_upper_bound": "MPI_TAG_UB"},
    "mpich": {"error_proc_failed": "MPIX_ERR_PROC_FAILED", "root_itself": "MPI_ROOT", "tag_upper_bound": "MPI_TAG_UB"},
    "standard": {"error_proc_failed": "MPI_ERR_PROC_ABORTED", "root_itself": "MPI_ROOT", "tag_upper_bound": "MPI_TAG_UB"},
}
CHECKED_BY_BEHAVIOUR = {"error_aliased_allreduce", "error_aliased_reduce", "aliased_allreduce_from"}
NO_HANDLE = "MPI_COMM_NULL_COPY_FN"  # a function
CARRY_NO_DATA = {"MPI_LB", "MPI_UB"}
# The abi.h that describes each MPI.
ABI_OF = {
    "openmpi-4": "openmpi",
    "openmpi-5": "openmpi",
    "mpich-4": "mpich",
    "mpich-5": "mpich",
    "intel": "mpich",
    "mpich-5-standard": "standard",
    "intel-standard": "standard",
}
HANDLE_TYPES = ("Comm", "Datatype", "Op", "Info", "Request", "Errhandler", "Group", "Message", "Win",
                "Session")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def peers_folder():
    """Returns the folder in which bench/peers installs the MPIs that Debian does not have."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "huddle/peers"


def debian_mpi(name):
    """Returns the include folder, library folder and library name of an MPI of Debian."""
    multiarch = output_of("gcc", "-print-multiarch").strip()
    libraries = pathlib.Path("/usr/lib") / multiarch
    if name == "openmpi-4":
        return libraries / "openmpi/include", libraries / "openmpi/lib", "mpi"
    return pathlib.Path("/usr/include") / multiarch / "mpich", libraries, "mpich"


def pypi_mpi(name):
    """Returns the same for an MPI of bench/peers; NAME-standard is its standard ABI."""
    venv = peers_folder() / name.removesuffix("-standard") / "venv"
    return venv / "include", venv / "lib", "mpi_abi" if name.endswith("-standard") else "mpi"


def real_name(constant):
    if constant.startswith("error_"):
        return "MPI_ERR_" + constant.removeprefix("error_").upper()
    return "MPI_" + constant.upper()


def constant_checks(abi, text):
    """Yields a static_assert for each integer constant of abi.h."""
    names = re.findall(r"inline constexpr int (\w+) =", text)
    assert len(names) > 50, "abi.h's constants were not found"
    for name in names:
        if name not in CHECKED_BY_BEHAVIOUR:
            real = OTHER_NAMES[abi].get(name) or real_name(name)
            yield f'static_assert(ours::{name} == {real}, "{name}");'


def handle_checks(abi, text, macros):
    """Yields a comparison for each predefined handle of abi.h, by its name there."""
    names = re.findall(r'\{\s*"(MPI_\w+)",', text)
    assert len(names) > 90, "abi.h's handles were not found"
    for name in names:
        place, kind = place_of(name, text), type_of(name, macros)
        if name == NO_HANDLE:
            kind = "CopyFunction"
        elif name in MAY_LACK[abi]:
            if name in macros:
                null = f"bits(MPI_{kind.upper()}_NULL)"
                yield f"expect_same_unless_null<ours::{kind}>({place}, bits({name}), {null});"
            continue
        yield f'expect_same("{name}", bits(ours::handle<ours::{kind}>({place}, find)), bits({name}));'


def place_of(name, text):
    """Returns the expression for a handle in abi.h: a variable or an element of a list."""
    single = re.search(r'inline constexpr Predefined (\w+) = \{\s*"%s"' % name, text)
    if single:
        return f"ours::{single.group(1)}"
    for array, body in re.findall(r"inline constexpr std::array<Predefined, \d+> (\w+) = \{\{(.*?)\n\}\};",
                                  text, re.DOTALL):
        listed = re.findall(r'\{"(MPI_\w+)",', body)
        if name in listed:
            return f"ours::{array}[{listed.index(name)}]"
    raise AssertionError(f"{name} is nowhere in abi.h")


def type_of(name, macros):
    """Returns the handle type that the header gives a macro, following aliases."""
    body = macros.get(name, "")
    for kind in HANDLE_TYPES:
        if re.search(rf"\bMPI_{kind}\b", body):
            return kind
    return type_of(body, macros) if body in macros else None


def listing_checks(macros):
    """Yields checks that abi.h lists each datatype and operator of the header."""
    for name in sorted(macros):
        kind = type_of(name, macros)
        if kind in ("Datatype", "Op") and not name.endswith("_NULL") and name not in CARRY_NO_DATA:
            array = {"Datatype": "datatypes", "Op": "operators"}[kind]
            yield (f'expect_listed<ours::{kind}>("{name}", bits({name}), bits(MPI_{kind.upper()}_NULL), '
                   f"ours::{array});")


def program(abi, text, macros):
    lines = ['#include "real_header.h"', *constant_checks(abi, text), "int main() {"]
    lines += handle_checks(abi, text, macros)
    lines += listing_checks(macros)
    lines += ['expect_same("in_place", bits(ours::in_place()), bits(MPI_IN_PLACE));',
              'expect_same("status_ignore", bits(ours::status_ignore()), bits(MPI_STATUS_IGNORE));',
              'expect_same("bottom", bits(static_cast<void*>(ours::bottom)), bits(MPI_BOTTOM));',
              "check_behaviour();", "return differences == 0 ? 0 : 1;", "}"]
    return "\n".join(lines) + "\n"


def main(compiler, name):
    abi = ABI_OF[name]
    mpi = debian_mpi if name in ("openmpi-4", "mpich-4") else pypi_mpi
    include, libraries, library = mpi(name)
    header = include / ("mpi_abi.h" if abi == "standard" else "mpi.h")
    if not header.is_file():
        print(f"{name} is not on this machine ({header}): bench/peers sets it up")
        return SKIPPED
    # Leave out the MPIs' obsolete C++ bindings.
    flags = ["-std=c++20", "-w", "-isystem", str(include), f'-DREAL_HEADER="{header}"',
             "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-I{HERE}", f"-I{ROOT / 'src'}",
             f"-I{ROOT / 'src/mpi/abi' / abi}"]
    text = (ROOT / "src/mpi/abi" / abi / "abi.h").read_text(encoding="utf-8")
    defined = output_of(compiler, *flags, "-E", "-dM", "-x", "c++", str(header))
    macros = dict(re.findall(r"^#define (MPI_[A-Z0-9_]+) (.+)$", defined, re.MULTILINE))
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "same.cc", pathlib.Path(folder) / "same"
        source.write_text(program(abi, text, macros), encoding="utf-8")
        subprocess.run([compiler, *flags, str(source), "-o", str(binary), f"-L{libraries}",
                        f"-Wl,-rpath,{libraries}", f"-l{library}", "-ldl"], check=True)
        status = subprocess.run([str(binary)], check=False, timeout=120).returncode
    print(f"{name}: " + ("all the same" if status == 0 else f"differs (status {status})"))
    return min(status, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
