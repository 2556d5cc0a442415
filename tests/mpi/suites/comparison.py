# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs an application without huddle and, in the same way, with it."""
import report
import suite


def environment(settings, libraries):
    """Returns the environment of the ranks. `settings` holds HUDDLE_X by X, or None without
    huddle."""
    huddle = {} if settings is None else suite.with_huddle(settings, libraries)
    return {**suite.OF_NOBODY, "OMP_NUM_THREADS": "1", **huddle}


def untaken(way, done, operations):
    """Returns a sentence for each of these operations of which huddle handled no call."""
    if way == "native":
        return []
    return [f"{way}: huddle took no {operation}: {done.calls(operation)}" for operation in operations
            if done.taken(operation) == 0]


def findings(name, ways, run, judge):
    """Returns what is wrong, in sentences from judge(way, done, native). The first way is the
    native one; run(way) runs one job."""
    sentences = []
    native = None
    for way in ways:
        done = run(way)
        native = native or done
        found = judge(way, done, native)
        sentences += [f"{name}: {finding}" for finding in found]
        print(f"{name} {way}: {report.taken_words(done)}, {len(found)} findings, "
              f"{done.seconds:.0f} s", flush=True)
    return sentences
