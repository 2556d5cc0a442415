# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""An application run without huddle, and in the same manner with it."""
import report
import suite


def environment(settings, libraries):
    """Of its ranks; settings: HUDDLE_X by X, or None without huddle."""
    huddle = {} if settings is None else suite.with_huddle(settings, libraries)
    return {**suite.OF_NOBODY, "OMP_NUM_THREADS": "1", **huddle}


def untaken(way, done, operations):
    """What is wrong, in sentences, where huddle took none of one of these."""
    if way == "native":
        return []
    return [f"{way}: huddle took no {operation}: {done.calls(operation)}" for operation in operations
            if done.taken(operation) == 0]


def findings(name, ways, run, judge):
    """What is wrong, in sentences, by judge(way, done, native). The first way is the native one, and
    run(way) is one job."""
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
