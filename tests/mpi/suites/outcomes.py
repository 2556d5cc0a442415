# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The outcomes of a run's tests by rank, and the differences between two runs."""
import pathlib


class Outcomes:
    """Reads the files that record.py wrote to a folder."""

    def __init__(self, folder):
        self.of_ranks = {}
        self.unfinished = set()  # tests that started and did not end
        self.ended = set()  # ranks that completed
        self.why = {}
        for path in sorted(pathlib.Path(folder).glob("rank-*")):
            self._read(int(path.name.removeprefix("rank-")), path.read_text(encoding="utf-8"))
        for path in sorted(pathlib.Path(folder).glob("why-*")):
            self.why[int(path.name.removeprefix("why-"))] = path.read_text(encoding="utf-8")

    def _read(self, rank, text):
        ends = self.of_ranks.setdefault(rank, {})
        begun = set()
        for line in text.splitlines():
            outcome, _, test = line.partition(" ")
            if outcome == "run":
                begun.add(test)
            elif line == "all done":
                self.ended.add(rank)
            else:
                ends[test] = outcome if test not in ends else f"{ends[test]}+{outcome}"
        self.unfinished |= begun - set(ends)

    def of(self, rank, test):
        return self.of_ranks.get(rank, {}).get(test, "not run")

    def reason(self, rank, test):
        """Returns the trace of a test that failed on this rank."""
        lines = self.why.get(rank, "").splitlines()
        begin = next((i for i, line in enumerate(lines) if test in line.split()), None)
        return "" if begin is None else "\n".join(lines[begin:begin + 25])

    def summary(self):
        """Returns the totals of all ranks, such as "3272 ok, 886 skip"."""
        sums = {}
        for ends in self.of_ranks.values():
            for outcome in ends.values():
                sums[outcome] = sums.get(outcome, 0) + 1
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(sums.items())) or "nothing"


def different(one, other):
    """Returns (rank, test) of all outcomes that differ."""
    found = []
    for rank in sorted({*one.of_ranks, *other.of_ranks}):
        tests = {*one.of_ranks.get(rank, {}), *other.of_ranks.get(rank, {})}
        found += [(rank, test) for test in sorted(tests) if one.of(rank, test) != other.of(rank, test)]
    return found
