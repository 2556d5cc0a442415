# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Evaluates huddle's output in a job."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "programs"))
import job as jobs  # noqa: E402
import verification  # noqa: E402

HEADING = "huddle: collectives of rank 0"
# The table of trials, and its rows: operation, largest size, number of trials, three times.
TRIALS_HEADING = "huddle: times of the latest trials"
TRIALS_LINE = re.compile(r"\w+ +(\d+[KMG]?|-) +\d+  ")
# The lines of the report on all ranks, without its rows.
REPORT = re.compile(r"huddle: (blocking collectives took |of this, |rank \d+ entered |[\d.]+ \w+ cannot be divided)"
                    r"|  operation ")
OPERATIONS = ("barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv",
              "alltoallw", "gather", "gatherv", "scatter", "scatterv", "reduce_scatter",
              "reduce_scatter_block", "scan", "exscan")


def taken(job):
    return sum(job.taken(operation) for operation in OPERATIONS)


def taken_between_nodes(job):
    return sum(calls for operation in OPERATIONS for how, calls in job.calls(operation).items()
               if how.startswith("nodes"))


def words(calls, between_nodes):
    return f"{calls} collectives taken" + (f", {between_nodes} of them between nodes" if between_nodes else "")


def taken_words(job):
    return words(taken(job), taken_between_nodes(job))


def complaints(job):
    """Returns every line of huddle's output that is not in a table of the statistics, and the
    remarks below a table, except for the last line of a verified run without differences."""
    found = []
    in_table = False
    for line in job.err.splitlines():
        if line.startswith((HEADING, TRIALS_HEADING)):
            in_table = True
        elif REPORT.match(line):
            in_table = False
        elif line.startswith("huddle: "):
            if not verification.is_without_difference(line):
                found.append(line)
        elif in_table and line.startswith("  "):
            found.append(line.strip())
        else:
            in_table = in_table and (jobs.STATS_LINE.match(line) or TRIALS_LINE.match(line)
                                     or line.startswith("operation "))
    return found


def status(findings):
    """Prints the findings and returns the exit status of a suite."""
    for finding in findings:
        print(f"  FAILED: {finding}")
    return 1 if findings else 0
