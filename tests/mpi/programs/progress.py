# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""A rank that waits in huddle must keep its MPI progressing, and so must one that never waits,
because it arrives last. Each case must also hang with the library without progress, to show that
the test detects it."""

WAITING = ("isend", "iallreduce", "rma", "late")
OPERATIONS = ("barrier", "bcast", "reduce", "allreduce")
# No operation exceeds 60 s on a busy machine; a hang is detected after 2 s.
GENEROUS_SECONDS = "60"
SHORT_SECONDS = "2"
ROUNDS = "100"
WAITING_RANK = "0"


def windows(bench, thorough):
    """Access epochs that ended before a barrier are complete after it, although the barrier used
    no message of the MPI."""
    program = bench.program("windows")
    for ranks in (2, 3, 5) if thorough else (2,):
        name = f"windows on {ranks} ranks"
        outcome = bench.run(program, ranks, [ROUNDS], settings={"ACTIVATE_AFTER": "0"})
        bench.passes(name, outcome)
        bench.takes(name, outcome, ("barrier",))


def run(bench, thorough):
    windows(bench, thorough)
    program = bench.program("progress")
    # Without trials, whose calls progress the MPI.
    at_once = {"ACTIVATE_AFTER": "0", "TUNE": "off"}
    # Separate jobs, because after large messages MPI_Get of Debian's MPICH returns a wrong number,
    # even without huddle.
    for waiting in ("messages", "rma", "late"):
        for ranks in (2, 3) if thorough else (2,):
            name = f"progress of {waiting} on {ranks} ranks"
            outcome = bench.run(program, ranks, [waiting, GENEROUS_SECONDS, WAITING_RANK, *OPERATIONS],
                                settings=at_once)
            bench.passes(name, outcome)
            bench.expect("stuck" not in outcome.out, f"{name}: {outcome.out.strip()}")
            bench.takes(name, outcome, OPERATIONS)
    for waiting in WAITING:
        for operation in OPERATIONS if thorough else ("barrier",):
            still = bench.run(program, 2, [waiting, SHORT_SECONDS, WAITING_RANK, operation], settings=at_once,
                              libraries=bench.still)
            bench.expect(f"stuck: {waiting} under {operation}" in still.out,
                         f"{waiting} under {operation} does not need huddle to keep the MPI moving: "
                         f"this test shows nothing here\n{still.tail()}")
