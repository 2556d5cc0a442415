# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The warning about ranks that share a core while another one is free: it appears once, and not in
jobs without that mistake."""
import os
import pathlib

AT_ONCE = {"ACTIVATE_AFTER": "0"}
RANKS = 2
# The job with more ranks than hardware threads is skipped on machines with more of them.
MOST_CPUS = 8
WARNING = " no rank of this job (CPU"


def bindings(bench, _thorough):
    cpus = sorted(os.sched_getaffinity(0))
    if len({core_of(cpu) for cpu in cpus}) < RANKS:
        print("  skipped: one core", flush=True)
        return
    one = ["taskset", "-c", str(cpus[0])]
    expect_warnings(bench, "ranks without a mistake", [], AT_ONCE, 0)
    outcome = expect_warnings(bench, "both ranks on one core", one, AT_ONCE, 1)
    bench.expect(f"huddle: ranks 0-1 share 1 core (CPU {cpus[0]}), " in outcome.err,
                 f"the warning does not name the ranks and the core\n{outcome.tail()}")
    option = "mpirun --bind-to core --map-by core" if bench.peer.is_open_mpi() else "-bind-to core"
    if bench.peer.family != "intel":
        bench.expect(option in outcome.err, f"the warning lacks '{option}'\n{outcome.tail()}")
    if len(cpus) <= MOST_CPUS:
        expect_warnings(bench, "more ranks than cores", one, AT_ONCE, 0, ranks=len(cpus) + 1)
    expect_warnings(bench, "a launcher on one core", [], AT_ONCE, 0, on=cpus[:1])
    outcome = bench.run(one[0], RANKS, [*one[1:], bench.program("each"), "allreduce"],
                        environment={"HUDDLE": "off"})
    bench.expect(WARNING not in outcome.err, f"a warning with huddle off\n{outcome.tail()}")


def core_of(cpu):
    return pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()


def expect_warnings(bench, what, binding, settings, count, ranks=RANKS, on=None):
    """Runs a program with several communicators, with the launcher bound to the CPUs `on`."""
    own = os.sched_getaffinity(0)
    command = [*binding, bench.program("communicators")]
    try:
        os.sched_setaffinity(0, on or own)
        outcome = bench.run(command[0], ranks, command[1:], settings=settings)
    finally:
        os.sched_setaffinity(0, own)
    bench.passes(what, outcome)
    found = outcome.err.count(WARNING)
    bench.expect(found == count, f"{what}: {found} warnings instead of {count}\n{outcome.tail()}")
    return outcome
