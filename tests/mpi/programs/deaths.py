# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Ranks that die in the middle of collectives, or their launcher: the job ends when it would without
huddle, and nothing is left of it."""
import os
import random
import signal
import threading
import time

import job

AT_ONCE = {"JOIN_AFTER": "0"}
WAYS = (AT_ONCE, {**AT_ONCE, "VERIFY": "1"})
SEED = 20261120
LONGEST_MS = 300
# A second is what the issue gives huddle to notice; a busy machine takes as much again.
GRACE_SECONDS = 2.0
# It may be so busy for a while that everything takes long: what is slow is held against the same
# death without huddle just then, and has to be slow each time.
ATTEMPTS = 3
LAUNCHER_TRIES = 5
# Longer than ranks need to be in their collectives, and than any of them is to be left.
UP_SECONDS = 3.0
ENDLESS_MS = 1000000
PATIENCE_SECONDS = 30.0


def deaths(bench, thorough):
    lost_descriptors(bench)
    ranks_die(bench, thorough)
    if thorough:
        launcher_dies(bench)


def held_against(native_seconds, native, ours):
    """What ours() took, tried again where that was longer than native() takes; and what the slowest of
    native() took."""
    seconds = ours()
    for _ in range(ATTEMPTS - 1):
        if seconds < native_seconds + GRACE_SECONDS:
            break
        native_seconds = max(native_seconds, native())
        seconds = ours()
    return seconds, native_seconds


def lost_descriptors(bench):
    """Programs that close the descriptors by which their ranks watch each other: no rank has died."""
    outcome = bench.run(bench.program("lost_descriptors"), 2, ["watched"], settings=AT_ONCE)
    bench.passes("descriptors that the program closes", outcome)
    bench.takes("descriptors that the program closes", outcome, ("barrier",))


class Death:
    """Of one or several ranks, which is as good as at once."""

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
        """Of the job, which ends by itself, as one that went wrong, and leaves nothing."""
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
    """Kills the launcher of a job, and sees how long its ranks live on."""

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
