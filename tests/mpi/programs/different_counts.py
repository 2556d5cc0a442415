# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Erroneous programs whose ranks pass different counts: every rank gets an error soon, or the same
result as without huddle."""
import pathlib
import re
import tempfile

LINE = re.compile(r"rank (\d+): (.*), after (\d+) calls, at ([\d.]+) s")
AT_ONCE = {"ACTIVATE_AFTER": "0"}
# The operation, and the bytes on rank 0 and on the others.
DIFFERENCES = (("bcast", 10, 1000), ("bcast", 1000, 10), ("bcast", 100000, 100), ("bcast", 100, 100000),
               ("allreduce", 8, 4000), ("allreduce", 4000, 8), ("allreduce", 8, 1 << 20), ("reduce", 8, 4000),
               ("allgather", 4096, 4100), ("allgather", 100, 100000))
# A root that only sends detects the error when it has to wait for the others.
CALLS = 200
# An error reaches all ranks within a second. The other second allows for a busy machine.
MOST_SECONDS = 2.0
DEADLINE = 60.0


def run(bench, ranks, arguments, deadline=DEADLINE, **options):
    """Returns the outcome, and for each rank its result, the number of calls, and the time."""
    with tempfile.TemporaryDirectory() as folder:
        told = pathlib.Path(folder) / "told"
        program = bench.program("different_counts")
        outcome = bench.run(program, ranks, [told, *arguments], deadline=deadline, **options)
        lines = LINE.findall(told.read_text(encoding="utf-8")) if told.exists() else []
    return outcome, {int(rank): (result, int(calls), float(at)) for rank, result, calls, at in lines}


def after_joining(bench, thorough):
    for ranks in (2, 3) if thorough else (2,):
        for difference in DIFFERENCES:
            what = f"{difference} on {ranks} ranks"
            outcome, told = run(bench, ranks, [*difference, CALLS, "stop"], settings=AT_ONCE)
            bench.expect(outcome.in_time, f"{what}: hangs\n{outcome.tail()}")
            if not bench.expect(len(told) == ranks, f"{what}: only {told}\n{outcome.tail()}"):
                continue
            results = [result for result, _, _ in told.values()]
            bench.expect("success" not in results, f"{what}: {told}")
            bench.expect("truncated" in results, f"{what}: no rank has the MPI's error: {told}")
            ends = [at for _, _, at in told.values()]
            bench.expect(max(ends) - min(ends) < MOST_SECONDS, f"{what}: not at once: {told}")
            bench.expect("ranks make collective calls that differ" in outcome.err,
                         f"{what}: no sentence\n{outcome.tail()}")


def by_default(bench, thorough):
    """Before huddle is active the MPI handles all calls, and the ranks vote at the same ones."""
    for difference in (("bcast", 10, 1000), ("bcast", 10, 100000)):
        what = f"300 times {difference}"
        native_outcome, native = run(bench, 2, [*difference, 300, "ignore"], deadline=10.0, huddle=False)
        if not native_outcome.in_time:
            print(f"  {bench.peer.name} itself hangs in {what}", flush=True)
            continue
        outcome, told = run(bench, 2, [*difference, 300, "ignore"])
        bench.expect(outcome.in_time, f"{what}: hangs\n{outcome.tail()}")
        bench.expect(len(told) == 2, f"{what}: only {told}\n{outcome.tail()}")
        natively = {rank: result for rank, (result, _, _) in native.items()}
        joined = outcome.taken("bcast") > 0 or "ranks make collective calls that differ" in outcome.err
        if not joined:
            results = {rank: result for rank, (result, _, _) in told.items()}
            bench.expect(results == natively, f"{what}: {told} with huddle, {native} without")


def ends_the_job(bench, thorough):
    outcome, _ = run(bench, 2, ["bcast", 10, 1000, CALLS, "fatal"], settings=AT_ONCE)
    bench.expect(outcome.in_time and outcome.status != 0,
                 f"a fatal error: status {outcome.status}\n{outcome.tail()}")
    bench.expect("rank 0 calls bcast of 10 bytes with root 0, rank 1 calls bcast of 1000 bytes" in outcome.err,
                 f"a fatal error: no sentence\n{outcome.tail()}")


def different_counts(bench, thorough):
    after_joining(bench, thorough)
    by_default(bench, thorough)
    ends_the_job(bench, thorough)
