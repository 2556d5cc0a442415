# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The report on all ranks at the end of a job: waiting for a late rank is separated from transfer."""
import json
import re
import tempfile

LATE = 1
RANKS = 2
ROUNDS = 200
LATE_MICROSECONDS = 500
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


def rows_of(document):
    """Returns the collectives of all ranks by operation, summed over sizes, algorithms and reasons."""
    sums = {}
    for communicator in document["communicators"]:
        if len(communicator["ranks"]) < RANKS:
            continue
        for row in communicator["collectives"]:
            one = sums.setdefault(row["operation"], {"calls": 0, "waiting": 0.0, "rows": []})
            one["calls"] += row["calls"]
            one["waiting"] += row.get("waiting_seconds", {}).get("max", 0.0)
            one["rows"].append(row)
    return sums


def written(bench, environment):
    """Returns the seconds that the ranks waited by their own clocks, and the document."""
    program = bench.program("late")
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/stats.json"
        outcome = bench.run(program, RANKS, [str(LATE), str(LATE_MICROSECONDS)], settings={"STATS": file},
                            environment=environment)
        bench.passes(f"statistics in a file, {environment}", outcome)
        bench.expect("huddle: " not in outcome.err, f"statistics in a file are printed, too: {outcome.err}")
        with open(file, encoding="utf-8") as stream:
            document = json.load(stream)
    waited = re.search(r"waited ([\d.]+) s and ([\d.]+) s", outcome.out)
    return sorted(map(float, waited.groups())), document


def in_a_file(bench):
    for off in (True, False):
        what = f"statistics in a file, off: {off}"
        waited, document = written(bench, {"HUDDLE": "off"} if off else {"HUDDLE_ACTIVATE_AFTER": "0", "HUDDLE_TUNE": "off"})
        rows = rows_of(document)
        bench.expect(document["ranks"] == RANKS and document["off"] == off, f"{what}: {document}")
        for operation in ("allreduce", "bcast"):
            bench.expect(rows[operation]["calls"] == ROUNDS, f"{what}: {rows[operation]}")
            for row in rows[operation]["rows"]:
                how = "fallback_reason" if off else "algorithm"
                bench.expect(row["handled"] != off and row[how], f"{what}: {row}")
        waiting, transfer, seconds = (document[key] for key in ("waiting_seconds", "transfer_seconds", "seconds"))
        for expected, found in zip(waited, (waiting["min"], waiting["max"])):
            bench.expect(abs(expected - found) <= 0.1 * waited[1], f"{what}: waited {waited} s, reported {waiting}")
        bench.expect(abs(waiting["mean"] + transfer["mean"] - seconds["mean"]) <= 1e-6 * seconds["mean"],
                     f"{what}: {waiting} and {transfer} are not {seconds}")
        if off:
            predicted = [row["predicted_ns"] for row in rows["allreduce"]["rows"]]
            bench.expect(all(ns > 0 for ns in predicted), f"{what}: predicted {predicted}")
            saving = document["predicted_saving_seconds"]
            bench.expect(0 <= saving <= transfer["mean"], f"{what}: {saving} s of {transfer} are saved")


def as_text(bench):
    program = bench.program("late")
    outcome = bench.run(program, RANKS, [str(LATE), str(LATE_MICROSECONDS)],
                        settings={"STATS": "0", "SUMMARY": "times"}, environment={"HUDDLE": "off"})
    bench.passes("the times of a job without huddle", outcome)
    for words in ("mean of 2 ranks", "was waiting for ranks that entered later", "rank 1 entered",
                  "is predicted to save"):
        bench.expect(outcome.err.count(words) == 1, f"a job without huddle: '{words}' is missing: {outcome.err}")


def missing(bench):
    """A single rank has no statistics of all ranks."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/stats.json"
        outcome = bench.run(bench.program("zero_bytes", sources=("c/collectives.c",)), 1, settings={"STATS": file})
        bench.passes("statistics of one rank in a file", outcome)
        bench.expect(outcome.err.count(f"{file} is not written") == 1, f"no warning: {outcome.err}")


def of_zero_bytes(bench):
    """No prediction exists for such calls."""
    program = bench.program("zero_bytes", sources=("c/collectives.c",))
    for environment in ({"HUDDLE": "off"}, {"HUDDLE_ACTIVATE_AFTER": "0"}):
        outcome = bench.run(program, RANKS, [ROUNDS], settings={"STATS": "0", "SUMMARY": "times"},
                            environment=environment)
        bench.passes(f"the times of calls without data, {environment}", outcome)
        bench.expect("mean of 2 ranks" in outcome.err, f"calls without data, {environment}: {outcome.err}")


def with_a_stranger(bench):
    """No rank waits for one whose calls are not timed; the report is then on rank 0 alone."""
    program = bench.program("late")
    for change in ("-u LD_PRELOAD", "HUDDLE_STATS=0"):
        script = f'[ {RANK} = {LATE} ] && exec env {change} "$0" "$@"; exec "$0" "$@"'
        outcome = bench.run("/bin/sh", RANKS, ["-c", script, program, str(LATE), str(LATE_MICROSECONDS)])
        bench.passes(f"statistics with {change} on a rank", outcome)
        bench.expect("mean of" not in outcome.err and "blocking collectives took" in outcome.err,
                     f"statistics with {change} on a rank: {outcome.err}")


def reports(bench, thorough):
    del thorough
    in_a_file(bench)
    of_zero_bytes(bench)
    missing(bench)
    as_text(bench)
    with_a_stranger(bench)
