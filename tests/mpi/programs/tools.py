# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tools between a program and its MPI see the same calls as without huddle, and huddle handles the
same calls as without them. Parallel I/O, whose calls come from within the MPI, works."""
import tempfile

AT_ONCE = {"ACTIVATE_AFTER": "0", "TUNE": "off"}
# Activates during the program, on some of its communicators only.
AFTER_SOME = {"ACTIVATE_AFTER": "8", "TUNE": "off"}
SEEN = "the tool saw 20 barriers, 20 bcasts, 20 reductions, 20 gathers"
COUNTER = "tools/counter.c"


def check(bench, where, outcome):
    what = f"a tool {where}"
    bench.passes(what, outcome)
    bench.expect(SEEN in outcome.out, f"{what}: {outcome.out.strip()}, not: {SEEN}")
    for operation in ("barrier", "bcast", "allreduce", "allgather"):
        bench.expect(outcome.taken(operation) == 20,
                     f"{what}: huddle took {outcome.taken(operation)} of 20 {operation}s")


def tools(bench, _thorough):
    library = bench.shared_library("counter")
    plain = bench.program("profiled")
    inside = bench.program("profiled", sources=(COUNTER,))
    between = bench.program("profiled", f"-L{library.parent}", f"-Wl,-rpath,{library.parent}",
                            "-Wl,--no-as-needed", "-lcounter")
    check(bench, "linked into the program", bench.run(inside, 2, settings=AT_ONCE))
    check(bench, "between program and MPI", bench.run(between, 2, settings=AT_ONCE))
    check(bench, "preloaded before huddle", bench.run(plain, 2, settings=AT_ONCE, preload=(library,)))
    check(bench, "preloaded behind huddle",
          bench.run(plain, 2, settings=AT_ONCE, preload_behind=(library,)))


def files(bench, thorough):
    program = bench.program("files")
    for settings in (AT_ONCE, AFTER_SOME) if thorough else (AT_ONCE,):
        with tempfile.TemporaryDirectory() as folder:
            outcome = bench.run(program, 3 if thorough else 2, [f"{folder}/numbers"], settings=settings)
        bench.passes("files", outcome)
        if settings is AT_ONCE:  # elsewhere it makes too few calls for activation
            bench.takes("files", outcome, ("allreduce",))
