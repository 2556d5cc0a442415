# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Counts runs and failures of programs in a file, orders the runs that remain, and bounds the rate of failures."""
import csv
import dataclasses
import itertools
import math
import os
import pathlib
import random

COLUMNS = ("program", "MPI", "commit", "way", "runs", "failures", "seed")
CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Key:
    program: str
    mpi: str
    commit: str
    way: str


@dataclasses.dataclass
class Count:
    runs: int = 0
    failures: int = 0

    def __add__(self, other):
        return Count(self.runs + other.runs, self.failures + other.failures)

    def __sub__(self, other):
        return Count(self.runs - other.runs, self.failures - other.failures)


class Tally:
    """The counts of all commits. `seed` determines the order of a commit's runs and the seeds of its programs."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.counts = {}
        self.seeds = {}
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = Key(row["program"], row["MPI"], row["commit"], row["way"])
                self.counts[key] = Count(int(row["runs"]), int(row["failures"]))
                self.seeds[key.commit] = int(row["seed"])

    def runs(self, key):
        return self.counts.get(key, Count()).runs

    def seed(self, commit):
        return self.seeds.setdefault(commit, random.randrange(1 << 31))

    def add(self, key, failed):
        """Counts a run and writes the file."""
        self.counts[key] = self.counts.get(key, Count()) + Count(1, int(failed))
        self.seed(key.commit)
        self.write()

    def write(self):
        """Replaces the file at once, so that a reader or an interruption never finds part of it."""
        new = self.path.with_name(f".{self.path.name}.new")
        with new.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            for key in sorted(self.counts, key=dataclasses.astuple):
                count = self.counts[key]
                rows.writerow((*dataclasses.astuple(key), count.runs, count.failures, self.seeds[key.commit]))
        os.replace(new, self.path)

    def by_way(self):
        """Returns the sums over all programs, MPIs and commits by way."""
        sums = {}
        for key, count in self.counts.items():
            sums[key.way] = sums.get(key.way, Count()) + count
        return sums


def order(tally, keys, turns=None):
    """Yields the keys of the next runs: first those by which some ways of a program lag behind the others, because a
    soak was stopped, then `turns` times (None: without end) every key, each time in another random order."""
    commits = {key.commit for key in keys}
    start = "-".join(f"{tally.seed(commit)}" for commit in sorted(commits))
    randomness = random.Random(f"{start} {sum(map(tally.runs, keys))}")
    yield from shuffled(lagging(tally, keys), randomness)
    for _ in itertools.count() if turns is None else range(turns):
        yield from shuffled(keys, randomness)


def lagging(tally, keys):
    most = {}
    for key in keys:
        same = dataclasses.replace(key, way="")
        most[same] = max(most.get(same, 0), tally.runs(key))
    return [key for key in keys for _ in range(most[dataclasses.replace(key, way="")] - tally.runs(key))]


def shuffled(keys, randomness):
    return randomness.sample(keys, len(keys))


def highest_rate(count, confidence=CONFIDENCE):
    """Returns the upper Clopper-Pearson bound: at a higher rate of failures, at most this number of failures would be
    less probable than 1 - confidence. Without failures it is about 3 / runs, the rule of three."""
    if count.failures >= count.runs:
        return 1.0
    low, high = count.failures / count.runs, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if probability_of_at_most(count.failures, count.runs, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def probability_of_at_most(failures, runs, rate):
    return math.fsum(math.exp(math.lgamma(runs + 1) - math.lgamma(k + 1) - math.lgamma(runs - k + 1)
                              + k * math.log(rate) + (runs - k) * math.log1p(-rate))
                     for k in range(failures + 1))
