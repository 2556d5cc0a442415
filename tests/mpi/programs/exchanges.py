# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The collectives that move blocks between all ranks, to one and from one."""
import verification

AT_ONCE = {"JOIN_AFTER": "0"}
# In the midst of the program: some of its communicators join and some do not.
AFTER_SOME = {"JOIN_AFTER": "8"}
VERIFIED = {**AT_ONCE, "VERIFY": "1"}
MOVES = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "gather", "gatherv", "scatter",
         "scatterv")
OPERATIONS = ("bcast", "reduce", "allreduce", *MOVES, "reduce_scatter", "reduce_scatter_block", "scan",
              "exscan")


def exchanges(bench, thorough):
    """Of many sizes, in place, with other blocks for each pair."""
    program = bench.program("exchanges")
    for ranks in (2, 3, 5) if thorough else (2, 3):
        # The MPIs' own way takes long where ranks outnumber the cores.
        for settings in (AT_ONCE, VERIFIED) if thorough or ranks == 2 else (AT_ONCE,):
            what = f"exchanges on {ranks} ranks, {settings}"
            outcome = bench.run(program, ranks, settings=settings, deadline=180.0)
            bench.passes(what, outcome)
            if "VERIFY" in settings:
                verification.agrees(bench, what, outcome)
            bench.takes(what, outcome, MOVES)


def blocks(bench, thorough):
    """In all kinds of layouts. Intel's allgather into columns is wrong by itself, and verification
    says so."""
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
    """The loops of benchmarks, whose results are looked at: as a user tries huddle first."""
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
    """What is wrong at a root alone."""
    for ranks in (2, 3, 5) if thorough else (2,):
        outcome = bench.run(bench.program("at_root"), ranks, settings=AT_ONCE)
        bench.passes(f"what is wrong at the root of {ranks} ranks", outcome)
        bench.passed_for("what is wrong at the root", outcome, "gather", "arguments for the MPI to judge")


def sizes(bench, thorough):
    """Blocks of another size than who gets them expects."""
    calls = ("alltoallv", "alltoallw", "gatherv", "scatterv")
    for ranks in (2, 3, 5) if thorough else (2,):
        what = f"sizes that differ on {ranks} ranks"
        outcome = bench.run(bench.program("sizes"), ranks, settings=AT_ONCE)
        bench.passes(what, outcome)
        bench.expect(f"huddle: rank {ranks - 1} sends 8 bytes to rank 0, which expects 4" in outcome.err,
                     f"{what}: nobody says which\n{outcome.tail()}")
        bench.takes(what, outcome, calls)
