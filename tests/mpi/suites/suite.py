# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""One part of mpi4py's tests under one MPI: runs it without huddle and with it, and compares."""
import dataclasses
import pathlib
import re
import shutil
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
import bench  # noqa: E402
import job  # noqa: E402
import modules  # noqa: E402
import outcomes  # noqa: E402
import peer as peer_module  # noqa: E402
import report  # noqa: E402

# The HUDDLE_X settings by X.
WAYS = {"plain": {}, "verify": {"VERIFY": "1"}}
# The slowest test takes less than a minute on a shared machine.
STALL_SECONDS = 240
DEADLINE_SECONDS = 3600
# Runs after which a test with varying outcomes without huddle is known.
NATIVE_RUNS = 3
# A folder without settings or machine files of huddle, so that the user's do not count.
OF_NOBODY = {"XDG_CONFIG_HOME": str(HERE)}
# Limit on the tests that are left out because the MPI does not survive them.
MOST_LEFT_OUT = 8


def present(names):
    """Returns the MPIs that are installed and prints the others."""
    found = []
    for name in names:
        lacks = peer_module.Peer(name).lacks()
        if lacks:
            print(f"{name}: {lacks}")
        else:
            found.append(name)
    return found


def with_huddle(settings, libraries):
    """Returns the environment of ranks with huddle. `settings` holds HUDDLE_X by X, besides the
    statistics. Activates at the first call, because communicators of tests make few calls."""
    files = [bench.PRELOAD, bench.HEAP] if "HEAP" in settings else [bench.PRELOAD]
    own = {f"HUDDLE_{name}": value for name, value in {"STATS": "1", "ACTIVATE_AFTER": "0", **settings}.items()}
    return {**own, "LD_PRELOAD": ":".join(str(libraries / file) for file in files)}


@dataclasses.dataclass
class Run:
    outcomes: outcomes.Outcomes
    job: job.Outcome
    ranks: int

    def is_whole(self):
        return len(self.outcomes.ended) == self.ranks

    def words(self):
        return f"{self.outcomes.summary()}, {self.job.seconds:.0f} s"


class Watch:
    """Ends a job that makes no progress."""

    def __init__(self, folder, stall_seconds):
        self.folder = folder
        self.stall_seconds = stall_seconds
        self.over = threading.Event()

    def __call__(self, mark):
        threading.Thread(target=self._watch, args=(mark,), daemon=True).start()

    def _watch(self, mark):
        seen, since = 0, time.monotonic()
        while not self.over.wait(1.0):
            size = sum(path.stat().st_size for path in self.folder.glob("rank-*"))
            if size != seen:
                seen, since = size, time.monotonic()
            elif time.monotonic() - since > self.stall_seconds:
                job.end_all(mark)
                return


class Suite:
    def __init__(self, part, tests, work, libraries, heap=False, stall_seconds=STALL_SECONDS):
        self.part = part
        self.tests = tests
        self.work = work / str(part).replace(" ", "-")
        self.libraries = pathlib.Path(libraries).resolve()
        self.heap_settings = bench.HEAP_SETTINGS if heap else {}
        self.stall_seconds = stall_seconds
        self.peer = peer_module.Peer(part.mpi)
        self.include, self.exclude = modules.MODULES[part.modules]
        self.left_out = []  # tests that the MPI does not survive without huddle

    def judge(self, ways):
        """Returns what is wrong, in sentences."""
        native = self._baseline()
        if native is None:
            return ["does not come to its end without huddle either"]
        print(f"{self.part}: native: {native.words()}", flush=True)
        findings = []
        for way in ways:
            run = self._run(way)
            taken = report.taken(run.job)
            print(f"{self.part}: {way}: {run.words()}, {report.taken_words(run.job)}", flush=True)
            findings += [f"{way}: {finding}" for finding in self._compare(native, run)]
            if self.part.ranks > 1 and self.part.modules != "spawn" and taken == 0:
                findings.append(f"{way}: huddle took nothing\n{run.job.tail()}")
        return findings

    def _baseline(self):
        """Runs without huddle and without the tests at which the MPI itself dies or hangs."""
        while len(self.left_out) <= MOST_LEFT_OUT:
            native = self._run("native")
            if native.is_whole():
                return native
            unfinished = sorted(native.outcomes.unfinished)
            print(f"{self.part}: native: does not survive {', '.join(unfinished) or 'its start'}\n"
                  f"{native.job.tail()}", flush=True)
            if not unfinished:
                return None
            self.left_out += unfinished
        return None

    def _compare(self, native, run):
        findings = [f"said: {line}" for line in report.complaints(run.job)]
        if not run.is_whole():
            at = ", ".join(sorted(run.outcomes.unfinished)) or "its start or end"
            return [*findings, f"not at its end: {at}\n{run.job.tail()}"]
        if run.job.status != native.job.status:
            findings.append(f"status {run.job.status}, not {native.job.status}\n{run.job.tail()}")
        if run.job.left:
            findings.append(f"left {', '.join(run.job.left)}")
        differences = outcomes.different(native.outcomes, run.outcomes)
        for rank, test, natively in self._explained(native, run, differences):
            findings.append(f"{test} on rank {rank}: {run.outcomes.of(rank, test)}, not "
                            f"{' or '.join(natively)}\n{run.outcomes.reason(rank, test)}")
        return findings

    def _explained(self, native, run, differences):
        """Returns the differences that remain after repeating the modules natively, with all
        native outcomes."""
        if not differences:
            return []
        concerned = {test.split("(")[-1].split(".")[0] for _, test in differences}
        pattern = "^(" + "|".join(sorted(map(re.escape, concerned))) + r")\.py$"
        natives = [native] + [self._run("native", pattern) for _ in range(NATIVE_RUNS - 1)]
        left = []
        for rank, test in differences:
            natively = sorted({each.outcomes.of(rank, test) for each in natives})
            if run.outcomes.of(rank, test) in natively:
                print(f"{self.part}: {test} ends one way or another without huddle", flush=True)
            else:
                left.append((rank, test, natively))
        return left

    def _run(self, way, include=None):
        folder = self.work / way
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        own = {"TMPDIR": str(folder / "tmp"), "XDG_CONFIG_HOME": str(folder)}
        if way != "native":
            own.update(with_huddle({**self.heap_settings, **WAYS[way]}, self.libraries))
        arguments = [HERE / "record.py", self.tests, folder, "-q", "-i", include or self.include, "-e",
                     self.exclude]
        for test in self.left_out:
            arguments += ["-x", test]
        # Spawned processes get the launcher's environment, and import the test.
        launcher = {**self.peer.environment(), "PYTHONPATH": str(self.tests)}
        watch = Watch(folder, self.stall_seconds)
        done = job.run(self.peer.job(self.part.ranks, self.peer.home / "venv/bin/python", arguments, own),
                       launcher, DEADLINE_SECONDS, watch)
        watch.over.set()
        (folder / "log").write_text(done.out + done.err, encoding="utf-8")
        return Run(outcomes.Outcomes(folder), done, self.part.ranks)
