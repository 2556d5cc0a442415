# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The collectives that move blocks: all-to-all, all-to-one and one-to-all."""
import verification

AT_ONCE = {"ACTIVATE_AFTER": "0"}
# Activates during the program, on some of its communicators only.
AFTER_SOME = {"ACTIVATE_AFTER": "8"}
VERIFIED = {**AT_ONCE, "VERIFY": "1"}
MOVES = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "gather", "gatherv", "scatter",
         "scatterv")
OPERATIONS = ("bcast", "reduce", "allreduce", *MOVES, "reduce_scatter", "reduce_scatter_block", "scan",
              "exscan")


def exchanges(bench, thorough):
    """Many sizes, in place, and with different blocks for each pair."""
    program = bench.program("exchanges")
    for ranks in (2, 3, 5) if thorough else (2, 3):
        # The MPIs' own collectives are slow if there are more ranks than cores.
        for settings in (AT_ONCE, VERIFIED) if thorough or ranks == 2 else (AT_ONCE,):
            what = f"exchanges on {ranks} ranks, {settings}"
            outcome = bench.run(program, ranks, settings=settings, deadline=180.0)
            bench.passes(what, outcome)
            if "VERIFY" in settings:
                verification.agrees(bench, what, outcome)
            bench.takes(what, outcome, MOVES)


def blocks(bench, thorough):
    """Blocks in all kinds of layouts. Not verified under Intel MPI, whose own allgather into
    columns is wrong."""
    program = bench.program("blocks_laid_out", sources=("c/layouts.c",))
    ways = (AT_ONCE,) if bench.peer.family == "intel" else (AT_ONCE, VERIFIED)
    for ranks in (2, 3, 5) if thorough else (3,):
        for settings in ways:
            what = f"blocks in layouts on {ranks} ranks, {settings}"
            outcome = bench.run(program, ranks, settings=settings)
            bench.passes(what, outcome)
            if "VERIFY" in settings:
                verification.agrees(bench, what, outcome)
            bench.takes(what, outcome, ("allgather", "alltoallv", "alltoallw", "gather", "scatter"))


def validated(bench, thorough):
    """The loops of benchmarks with validation of results, which users often try first."""
    program = bench.program("validated")
    for ranks in (2, 3, 5) if thorough else (2, 3):
        for settings in (AFTER_SOME, VERIFIED) if thorough else (AFTER_SOME,):
            what = f"benchmarks' loops on {ranks} ranks, {settings}"
            outcome = bench.run(program, ranks, settings=settings)
            bench.passes(what, outcome)
            if "VERIFY" in settings:
                verification.agrees(bench, what, outcome)
            bench.takes(what, outcome, ("barrier", "bcast", "reduce", "allreduce", *MOVES, "reduce_scatter",
                                        "reduce_scatter_block"))


def at_root(bench, thorough):
    """Errors at the root only."""
    for ranks in (2, 3, 5) if thorough else (2,):
        outcome = bench.run(bench.program("at_root"), ranks, settings=AT_ONCE)
        bench.passes(f"what is wrong at the root of {ranks} ranks", outcome)
        bench.passed_for("what is wrong at the root", outcome, "gather", "possibly invalid arguments")


def sizes(bench, thorough):
    """Blocks of another size than their receiver expects."""
    calls = ("alltoallv", "alltoallw", "gatherv", "scatterv")
    for ranks in (2, 3, 5) if thorough else (2,):
        what = f"sizes that differ on {ranks} ranks"
        # An MPI does not report a block that is smaller than its receiver expects.
        outcome = bench.run(bench.program("sizes"), ranks, settings={**AT_ONCE, "TUNE": "off"})
        bench.passes(what, outcome)
        bench.expect(f"huddle: rank {ranks - 1} sends 8 bytes to rank 0, which expects 4" in outcome.err,
                     f"{what}: nobody says which\n{outcome.tail()}")
        bench.takes(what, outcome, calls)
