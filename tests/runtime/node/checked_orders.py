#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reports the coverage of the model checker: checked_orders.py NODE_TESTS [GTEST_FILTER]

Runs the tests that check protocols. For each test and number of ranks, prints the number of jobs for which
every order of events within the budget was tried (exhausted), and the number of all jobs. For the other jobs
HUDDLE_CHECKED_EXECUTIONS orders (default 10,000) and 300 random ones were tried."""
import collections
import re
import subprocess
import sys

TEST = re.compile(r"^\[ RUN +\] (\S+)$")
JOB = re.compile(r"^(\d+) ranks: .* (not )?exhausted")


def main():
    wanted = sys.argv[2] if len(sys.argv) > 2 else "*Checked.*:-*Planted*"
    done = subprocess.run([sys.argv[1], f"--gtest_filter={wanted}"], capture_output=True, text=True, check=False)
    jobs = collections.defaultdict(lambda: collections.defaultdict(list))
    test = None
    for line in done.stdout.splitlines():
        if found := TEST.match(line):
            test = found[1]
        elif found := JOB.match(line):
            jobs[test][int(found[1])].append(found[2] is None)
    ranks = sorted({count for by_ranks in jobs.values() for count in by_ranks})
    print("| jobs exhausted, of all, by ranks | " + " | ".join(map(str, ranks)) + " |")
    print("|---|" + "---|" * len(ranks))
    for test, by_ranks in jobs.items():
        cells = (f"{sum(by_ranks[count])} of {len(by_ranks[count])}" if by_ranks[count] else "" for count in ranks)
        print(f"| {test} | " + " | ".join(cells) + " |")
    if done.returncode != 0:
        print(done.stdout[-4000:])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
