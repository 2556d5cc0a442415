# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Ranks without memory, and ranks whose mathematical library differs: no rank may wait forever or
get a wrong result."""
import os

AT_ONCE = {"ACTIVATE_AFTER": "0"}
SEED = 20261124
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
# The index of the rank that differs.
ODD = 1


def refusals(bench, thorough):
    """huddle gets no memory on one rank, REFUSALS times."""
    lives = int(os.environ.get("REFUSALS", 2000 if thorough else 100))
    library = bench.shared_library("scarce")
    for ranks in (2, 3) if thorough else (2,):
        outcome = bench.run(bench.program("refusals"), ranks, [lives, SEED], settings=AT_ONCE,
                            preload=(library,), deadline=60.0 + lives)
        what = f"{lives} lives of {ranks} ranks without memory"
        bench.passes(what, outcome)
        bench.expect("huddle 1" in outcome.out, f"{what}: huddle was not there: {outcome.out}")
        bench.takes(what, outcome, ("allreduce",))
        print(f"  {outcome.out.strip()}", flush=True)


def other_libm(bench, thorough):
    """One rank's mathematical library is inexact, by a few units in the last place or by far more."""
    library = bench.shared_library("odd_libm")
    script = f'[ {RANK} = {ODD} ] && LD_PRELOAD="{library}:$LD_PRELOAD"; exec "$0" "$@"'
    program = bench.program("exchanges")
    for off in ("1", "1e6") if not thorough else ("1", "16", "1e6", "1e15"):
        outcome = bench.run("/bin/sh", 3, ["-c", script, program], settings=AT_ONCE,
                            environment={"ODD_LIBM": off})
        what = f"a libm that is {off} units off on rank {ODD}"
        bench.passes(what, outcome)
        bench.takes(what, outcome, ("allgather",))
