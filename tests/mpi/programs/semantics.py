# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""What MPI permits in the operations that huddle handles. Each program checks its own results;
this file checks that huddle took part, and the reasons for fallbacks."""

import json
import os

import reductions
import verification

AT_ONCE = {"ACTIVATE_AFTER": "0"}
# Activates during the program, on some of its communicators only.
AFTER_SOME = {"ACTIVATE_AFTER": "8"}


def datatypes(bench, thorough):
    program = bench.program("datatypes", sources=("c/layouts.c",))
    for ranks in (2, 3, 5) if thorough else (3,):
        for settings in (AT_ONCE, {**AT_ONCE, "VERIFY": "1"}):
            what = f"datatypes on {ranks} ranks, {settings}"
            outcome = bench.run(program, ranks, settings=settings)
            bench.passes(what, outcome)
            if "VERIFY" in settings:
                verification.agrees(bench, what, outcome)
            bench.takes("datatypes", outcome, ("bcast",))


def operators(bench, thorough):
    for name in ("operators", "user_operators"):
        program = bench.program(name)
        for ranks in (2, 3, 5) if thorough else (3,):
            outcome = bench.run(program, ranks, settings=AT_ONCE)
            bench.passes(f"{name} on {ranks} ranks", outcome)
            bench.takes(name, outcome, ("reduce", "allreduce", "scan", "exscan", "reduce_scatter",
                                         "reduce_scatter_block"))


def pairs(bench, thorough):
    """huddle handles reductions that the MPI supports, with the same result, and leaves those to
    the MPI that it rejects: the program's output is the same with and without huddle."""
    tried = reductions.Pairs(bench)
    if not bench.passes("pairs", tried.native) or not bench.passes("pairs", tried.outcome):
        return
    bench.takes("pairs", tried.outcome, ("allreduce", "reduce"))
    wrong = [f"{ours}, natively {theirs}" for ours, theirs in zip(tried.ours, tried.theirs)
             if not reductions.are_alike(ours, theirs, bench.peer.family)]
    bench.expect(len(tried.ours) == len(tried.theirs) > 900 and not wrong,
                 f"pairs: {len(tried.ours)} of {len(tried.theirs)} tried; {'; '.join(wrong[:9])}")
    for kind, operator, fate in tried.fates():
        bench.expect(fate != "passed" or operator in reductions.TRUTH, f"pairs: {operator} of {kind} passes")
    held = json.loads(reductions.SAMPLE.read_text(encoding="utf-8")).get(bench.peer.name)
    if held and held["version"] == tried.version:
        bench.expect(held == tried.sample(), f"pairs: {reductions.SAMPLE.name} says something else")


def buffers(bench, thorough):
    program = bench.program("buffers")
    for ranks in (2, 3, 5) if thorough else (2,):
        outcome = bench.run(program, ranks, settings=AT_ONCE)
        bench.passes(f"buffers on {ranks} ranks", outcome)
        bench.takes("buffers", outcome, ("barrier", "bcast", "reduce", "allreduce"))


def communicators(bench, thorough):
    program = bench.program("communicators")
    for settings in (AT_ONCE, AFTER_SOME):
        for ranks in (1, 2, 3, 5) if thorough else (3,):
            outcome = bench.run(program, ranks, settings=settings)
            bench.passes(f"communicators on {ranks} ranks, {settings}", outcome)
            bench.passed_for("communicators", outcome, "allreduce", "single rank")
            if ranks > 1:
                bench.takes("communicators", outcome, ("barrier", "bcast", "reduce", "allreduce",
                                                       "scan", "alltoall"))
                bench.passed_for("communicators", outcome, "allreduce", "intercommunicator")
                bench.passed_for("communicators", outcome, "gather", "intercommunicator")


LARGE_EXCHANGES = ("gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
                   "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
OF_LARGE_ELEMENTS = ("bcast", "gather", "gatherv", "scatterv", "alltoallw")


def large(bench, thorough):
    """Moves more than 2^31 bytes, which needs four times that memory on each of two ranks."""
    if not thorough:
        return
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if free < 14e9:
        print(f"  no memory for large counts: {free / 1e9:.0f} GB are free, 14 are wanted", flush=True)
        return
    outcome = bench.run(bench.program("large"), 2, settings=AT_ONCE, deadline=300.0)
    bench.passes("large counts", outcome)
    bench.takes("large counts", outcome, ("bcast",))
    for call in OF_LARGE_ELEMENTS:
        name = f"{call} of a large element with gaps"
        outcome = bench.run(bench.program("large"), 2, [call], settings=AT_ONCE)
        bench.passes(name, outcome)
        bench.takes(name, outcome, (call,))
    large_exchanges(bench)


def large_exchanges(bench):
    """Uses large datatypes, and the large-count functions, which current Open MPIs lack."""
    for flags in ((),) if bench.peer.is_open_mpi() else ((), ("-DLARGE_COUNTS",)):
        program = bench.program("large_exchanges", *flags)
        for call in LARGE_EXCHANGES:
            name = f"large {call} {' '.join(flags)}"
            outcome = bench.run(program, 2, [call], settings=AT_ONCE)
            bench.passes(name, outcome)
            bench.takes(name, outcome, (call,))
