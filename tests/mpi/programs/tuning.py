# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Calls that huddle's algorithms and the MPI run in turns have the same results as before, and the
statistics show the trials. A file keeps the results of trials for the next run."""
import json
import re
import tempfile
from pathlib import Path

AT_ONCE = {"ACTIVATE_AFTER": "0", "TUNE_AFTER": "4"}
CALLS = 600  # the first trial of a class ends after 564 at most
TRIAL = re.compile(r"^(\w+) +(\S+) +(\d+)  (.*\*.*)$", re.MULTILINE)
COMPARED = "MPI: timed for comparison"
FASTER = "MPI: faster in the MPI"
LATER = 1_000_000  # calls, more than one run makes


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
    with tempfile.TemporaryDirectory() as folder:
        stored_tuning(bench, program, Path(folder) / "tune.json")


def stored_tuning(bench, program, file):
    """Changes the results of one run before the next one begins with them."""
    settings = {**AT_ONCE, "TUNE": str(file)}
    bench.passes("the run that stores its trials", bench.run(program, 2, [CALLS], settings=settings))
    if not bench.expect(file.exists(), "no results of trials are stored"):
        return
    stored = json.loads(file.read_text())
    operations = {result["operation"] for result in stored["results"]}
    bench.expect({"bcast", "allreduce", "alltoallv", "gather"} <= operations, f"stored: {operations}")
    for result in stored["results"]:
        result["calls_until_next_trial"] = LATER
        if result["operation"] == "bcast":
            result["kept"] = "mpi"
        elif result["operation"] == "gather":
            result.update(kept="alternative", algorithm="direct" if result.get("algorithm") == "slots" else "slots")
            result.pop("copy_method", None)
    file.write_text(json.dumps(stored))
    again = bench.run(program, 2, [CALLS], settings=settings)
    bench.passes("the run with stored trials", again)
    for operation in operations:
        calls = again.calls(operation)
        bench.expect(calls.get(COMPARED, 0) == 0, f"{operation} was tried again: {calls}")
    bench.expect(again.calls("bcast").get(FASTER, 0) > 0, f"the stored choice was not used: {again.calls('bcast')}")
    for result in json.loads(file.read_text())["results"]:
        left = result["calls_until_next_trial"]
        bench.expect(LATER - 10 * CALLS <= left < LATER, f"the calls of the second run do not count: {result}")
    file.write_text("mine\n")
    refused = bench.run(program, 2, [CALLS], settings=settings)
    bench.passes("a run with a file of another kind", refused)
    bench.expect(refused.err.count("the results of trials are not stored") == 1, f"no warning\n{refused.tail()}")
    bench.expect(file.read_text() == "mine\n", "a file of another kind was replaced")


def repeats(bench, thorough):
    program = bench.program("repeats", sources=("c/collectives.c",))
    for ranks in (2, 3):
        for seed in range(1, 21 if thorough else 4):
            for settings in ({"TUNE": "on", "STATS": "0"}, {"TUNE": "off", "STATS": "0"}, {}):
                outcome = bench.run(program, ranks, [seed], settings={**AT_ONCE, **settings})
                bench.passes(f"repeated calls on {ranks} ranks, seed {seed}, {settings}", outcome)
