# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Fortran programs with MPI's three bindings, and a C program by another compiler."""
import shutil

import exchanges

OPERATIONS = ("barrier", *exchanges.OPERATIONS)
SOURCES = ("with_mpif_h.f", "with_use_mpi.f90", "with_mpi_f08.f90")


def fortran(bench, thorough):
    if bench.peer.lacks_fortran():
        print(f"  no Fortran: {bench.peer.lacks_fortran()}", flush=True)
        return
    for source in SOURCES:
        if "f08" in source and not bench.peer.has_mpi_f08():
            print(f"  {bench.peer.name} has no mpi_f08 for gfortran", flush=True)
            continue
        program = bench.fortran(source)
        for settings in ({"ACTIVATE_AFTER": "0"}, {"ACTIVATE_AFTER": "8"}):
            for ranks in (2, 3) if thorough else (2,):
                outcome = bench.run(program, ranks, settings=settings,
                                    environment=bench.peer.fortran_environment())
                bench.passes(f"{source} on {ranks} ranks", outcome)
                bench.takes(f"{source}, {settings}", outcome, OPERATIONS)


def clang(bench, _thorough):
    if shutil.which("clang") is None:
        print("  clang is not there", flush=True)
        return
    program = bench.build / "by_clang"
    sources = [bench.source("c/profiled.c"), bench.source("c/expect.c")]
    bench.peer.compile_c(program, sources, ["-lm"], compiler="clang")
    outcome = bench.run(program, 2, settings={"ACTIVATE_AFTER": "0"})
    bench.passes("a program by clang", outcome)
    bench.takes("a program by clang", outcome, ("barrier", "bcast", "allreduce", "allgather"))
