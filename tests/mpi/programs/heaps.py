# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The shared heap itself, where programs have it: that it is really there, whatever origin a buffer is
of."""
import bench as bench_module
import verification

AT_ONCE = {"JOIN_AFTER": "0"}


def heaps(bench, _thorough):
    if not bench.heap:
        return
    program = bench.program("heap")
    for ranks in (2, 3):
        # The MPIs' own way takes long where ranks outnumber the cores.
        for settings in (AT_ONCE, {**AT_ONCE, "VERIFY": "1"}) if ranks == 2 else (AT_ONCE,):
            what = f"the heaps of {ranks} ranks, {settings}"
            outcome = bench.run(program, ranks, [bench_module.HEAP_CAP_BYTES], settings=settings)
            bench.passes(what, outcome)
            if "VERIFY" in settings:
                verification.agrees(bench, what, outcome)
            bench.takes(what, outcome, ("bcast", "allreduce"))
            print(f"  {what}: {outcome.seconds:.1f} s", flush=True)
