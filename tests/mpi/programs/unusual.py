# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Programs with unusual arguments, with an unusual environment of the process, and on an old kernel."""

import subprocess

AT_ONCE = {"ACTIVATE_AFTER": "0"}
RANKS = 2
# The operation of each case of c/unusual.c.
ARGUMENTS = {"halves": "alltoallv", "member": "allgather", "addresses": "allreduce", "displacements": "scatterv",
             "room": "alltoall", "gaps": "allreduce"}


def arguments(bench, thorough):
    program = bench.program("unusual")
    for case, operation in ARGUMENTS.items():
        for ranks in (2, 3, 4) if thorough else (2, 3):
            if not bench.does_natively("unusual", ranks, [case]):
                continue
            for settings in (AT_ONCE, {"ACTIVATE_AFTER": "8"}):
                what = f"unusual arguments: {case} on {ranks} ranks, {settings}"
                outcome = bench.run(program, ranks, [case], settings=settings)
                bench.passes(what, outcome)
                bench.takes(what, outcome, (operation,))


def environments(bench, _thorough):
    program = bench.program("environment")
    for change in ("traps", "variables", "descriptors"):
        if not bench.does_natively("environment", RANKS, [change]):
            continue
        for settings, variables in ((AT_ONCE, {}), ({"ACTIVATE_AFTER": "8"}, {}), ({"STATS": "0", "SUMMARY": "times"}, {"HUDDLE": "off"})):
            what = f"changed environment: {change}, {settings}, {variables}"
            outcome = bench.run(program, RANKS, [change], settings=settings, environment=variables)
            bench.passes(what, outcome)
            if not variables:
                bench.takes(what, outcome, ("reduce", "allreduce", "bcast"))


def old_kernel(bench, _thorough):
    """Linux 4.18 has no pidfds. A filter of system calls makes this kernel like it."""
    wrapper = bench.plain_program("old_kernel")
    case = "on the system calls of Linux 4.18"
    if not bench.expect(subprocess.run([wrapper, "true"], check=False).returncode == 0, f"no filter: {case}"):
        return
    outcome = bench.run(wrapper, RANKS, [bench.program("lost_descriptors"), "watched"], settings=AT_ONCE)
    bench.passes(case, outcome)
    bench.takes(case, outcome, ("barrier",))
