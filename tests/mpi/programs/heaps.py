# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests the shared heap in programs: it is in use, and collectives work with buffers of any
origin."""
import bench as bench_module
import verification

AT_ONCE = {"ACTIVATE_AFTER": "0"}


def heaps(bench, _thorough):
    if not bench.heap:
        return
    forks(bench)
    program = bench.program("heap")
    for ranks in (2, 3):
        # The MPIs' own collectives are slow if there are more ranks than cores.
        for settings in (AT_ONCE, {**AT_ONCE, "VERIFY": "1"}) if ranks == 2 else (AT_ONCE,):
            what = f"the heaps of {ranks} ranks, {settings}"
            outcome = bench.run(program, ranks, [bench_module.HEAP_LIMIT_BYTES], settings=settings)
            bench.passes(what, outcome)
            if "VERIFY" in settings:
                verification.agrees(bench, what, outcome)
            bench.takes(what, outcome, ("bcast", "allreduce"))
            print(f"  {what}: {outcome.seconds:.1f} s", flush=True)


def forks(bench):
    """Forks that keep the heap shared, and others that end the sharing."""
    outcome = bench.run(bench.program("heap_forks"), 2, settings=AT_ONCE, ends_sharing=True)
    bench.passes("forks with a heap", outcome)
    bench.takes("forks with a heap", outcome, ("allreduce",))
    bench.expect("stops sharing the heap" in outcome.err,
                 f"a fork on a stack of the heap leaves it shared\n{outcome.tail()}")
