# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Calls that huddle's algorithms and the MPI run in turns have the same results as before, and the
statistics show the trials."""
import re

AT_ONCE = {"ACTIVATE_AFTER": "0"}
CALLS = 80  # the first trial of a class ends after 61 at most
TRIAL = re.compile(r"^(\w+) +(\S+) +(\d+)  (.*\*.*)$", re.MULTILINE)
COMPARED = "MPI: timed for comparison"


def tuning(bench, thorough):
    program = bench.program("tuned", sources=("c/collectives.c",))
    for ranks in (2, 3, 5) if thorough else (2, 3):
        what = f"tuned calls on {ranks} ranks"
        outcome = bench.run(program, ranks, [CALLS], settings=AT_ONCE)
        bench.passes(what, outcome)
        bench.takes(what, outcome, ("bcast", "allreduce", "alltoallv", "gather", "barrier"))
        trials = TRIAL.findall(outcome.err)
        bench.expect({"bcast", "allreduce", "alltoallv", "gather"} <= {trial[0] for trial in trials},
                     f"{what}: the trials are {trials}\n{outcome.tail()}")
        for operation in ("bcast", "allreduce", "alltoallv", "gather"):
            calls = outcome.calls(operation).get(COMPARED, 0)
            bench.expect(calls >= 3, f"{what}: {calls} calls of {operation} were compared")
    differing = bench.run(program, 2, [CALLS, 1], settings=AT_ONCE)
    bench.expect(differing.in_time and differing.status != 0 and "ranks make collective calls that differ" in differing.err,
                 f"a call that differs after the trials: status {differing.status}\n{differing.tail()}")
    by_prediction = bench.run(program, 2, [CALLS], settings={**AT_ONCE, "TUNE": "off"})
    bench.passes("calls that are not tuned", by_prediction)
    bench.expect("trial" not in by_prediction.err, "HUDDLE_TUNE=off: there are trials")
    verified = bench.run(program, 2, [CALLS], settings={**AT_ONCE, "VERIFY": "1"})
    bench.passes("tuned calls that are verified", verified)
    bench.expect(COMPARED not in str(verified.calls("bcast")), "HUDDLE_VERIFY=1: calls were not verified")


def repeats(bench, thorough):
    program = bench.program("repeats", sources=("c/collectives.c",))
    for ranks in (2, 3):
        for seed in range(1, 21 if thorough else 4):
            for settings in ({"TUNE": "on", "STATS": "0"}, {"TUNE": "off", "STATS": "0"}, {}):
                outcome = bench.run(program, ranks, [seed], settings={**AT_ONCE, **settings})
                bench.passes(f"repeated calls on {ranks} ranks, seed {seed}, {settings}", outcome)
