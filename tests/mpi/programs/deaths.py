# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Ranks or their launcher die during collectives: the job must end as soon as without huddle, and
leave nothing behind."""
import os
import random
import signal
import threading
import time

import job

AT_ONCE = {"ACTIVATE_AFTER": "0"}
WAYS = (AT_ONCE, {**AT_ONCE, "VERIFY": "1"})
SEED = 20261120
LONGEST_MS = 300
# huddle is specified to detect a death within a second; a busy machine needs another one.
GRACE_SECONDS = 2.0
# The machine may be so busy that everything is slow: a slow run is compared with the same death
# without huddle at that time, and counts only if it is slow in every attempt.
# death without huddle just then, and has to be slow each time.
ATTEMPTS = 3
LAUNCHER_TRIES = 5
# Longer than ranks need to reach their collectives, and than any survivor may remain.
UP_SECONDS = 3.0
ENDLESS_MS = 1000000
PATIENCE_SECONDS = 30.0


def deaths(bench, thorough):
    lost_descriptors(bench)
    ranks_die(bench, thorough)
    if thorough:
        launcher_dies(bench)


def held_against(native_seconds, native, ours):
    """Returns the time of ours(), repeated if it exceeds the native time, and the longest native
    time."""
    seconds = ours()
    for _ in range(ATTEMPTS - 1):
        if seconds < native_seconds + GRACE_SECONDS:
            break
        native_seconds = max(native_seconds, native())
        seconds = ours()
    return seconds, native_seconds


def lost_descriptors(bench):
    """The program closes the descriptors by which its ranks detect deaths: no rank has died."""
    outcome = bench.run(bench.program("lost_descriptors"), 2, ["watched"], settings=AT_ONCE)
    bench.passes("descriptors that the program closes", outcome)
    bench.takes("descriptors that the program closes", outcome, ("barrier",))


class Death:
    """The simultaneous death of one or several ranks."""

    def __init__(self, bench, ranks, chance):
        self.bench = bench
        self.ranks = ranks
        self.milliseconds = chance.randrange(LONGEST_MS)
        self.victims = chance.sample(range(ranks), chance.randint(1, ranks - 1))
        self.settings = chance.choice(WAYS)

    def __str__(self):
        return (f"ranks {self.victims} of {self.ranks} die after {self.milliseconds} ms with "
                f"{self.settings}")

    def native_seconds(self):
        return self._happens(huddle=False).seconds

    def seconds(self):
        """Runs the job and returns its time. It must end by itself with an error, and leave
        nothing behind."""
        outcome = self._happens(huddle=True)
        self.bench.expect(outcome.in_time, f"{self}: the job does not end\n{outcome.tail()}")
        self.bench.expect(outcome.status != 0, f"{self}: and the job says that all is well")
        self.bench.expect(not outcome.left, f"{self}: left {', '.join(outcome.left)}")
        return outcome.seconds

    def _happens(self, huddle):
        return self.bench.run(self.bench.program("dying"), self.ranks,
                              [self.milliseconds, *self.victims], huddle=huddle,
                              settings=self.settings)


def ranks_die(bench, thorough):
    chance = random.Random(SEED)
    tries = 60 if thorough else 2
    ranks = 3 if thorough else 2
    longest = max(Death(bench, ranks, chance).native_seconds() for _ in range(10 if thorough else 2))
    slowest = 0.0
    for _ in range(tries):
        death = Death(bench, ranks, chance)
        seconds, longest = held_against(longest, death.native_seconds, death.seconds)
        slowest = max(slowest, seconds)
        bench.expect(seconds < longest + GRACE_SECONDS,
                     f"{death}: the job ends after {seconds:.1f} s, without huddle {longest:.1f} s")
    print(f"  {tries} deaths: {slowest:.1f} s from start to end, {longest:.1f} s without huddle",
          flush=True)


class Assassin:
    """Kills the launcher of a job and measures how long its ranks survive."""

    def __init__(self, after_seconds):
        self.after_seconds = after_seconds
        self.seconds = PATIENCE_SECONDS
        self.done = threading.Event()

    def __call__(self, mark):
        threading.Thread(target=self._kill, args=(mark,), daemon=True).start()

    def _kill(self, mark):
        time.sleep(self.after_seconds)
        for pid in job.launchers(mark):
            os.kill(pid, signal.SIGKILL)
        start = time.monotonic()
        while job.members(mark) and time.monotonic() < start + PATIENCE_SECONDS:
            time.sleep(0.02)
        self.seconds = time.monotonic() - start
        job.end_all(mark)
        self.done.set()


def launcher_dies(bench):
    chance = random.Random(SEED)

    def die(huddle):
        assassin = Assassin(UP_SECONDS + chance.random())
        bench.run(bench.program("dying"), 2, [ENDLESS_MS, 0], huddle=huddle, settings=AT_ONCE,
                  meanwhile=assassin)
        assassin.done.wait(2 * PATIENCE_SECONDS)
        return assassin.seconds

    longest = die(huddle=False)
    slowest = 0.0
    for _ in range(LAUNCHER_TRIES):
        seconds, longest = held_against(longest, lambda: die(huddle=False), lambda: die(huddle=True))
        slowest = max(slowest, seconds)
        bench.expect(seconds < longest + GRACE_SECONDS,
                     f"its launcher dead, a job lives for {seconds:.1f} s, without huddle {longest:.1f} s")
    print(f"  {LAUNCHER_TRIES} deaths of launchers: ranks live {slowest:.1f} s longer, {longest:.1f} s "
          f"without huddle", flush=True)
