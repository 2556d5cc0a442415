# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Programs that huddle has nothing to do with: they run, and hear a clear word where it helps."""
import job


def alone(bench, program, settings=None):
    """Without a launcher."""
    environment = {**bench.peer.environment(), "LD_PRELOAD": str(bench.preload()),
                   "XDG_CONFIG_HOME": str(bench.build), **(settings or {})}
    return job.run([str(program)], environment, 30.0)


def without_mpi(bench):
    program = bench.plain_program("no_mpi")
    outcome = alone(bench, program)
    bench.passes("a program without MPI", outcome)
    bench.expect("done" in outcome.out and outcome.err == "", f"a program without MPI: {outcome.tail()}")
    for library in ("libhuddle_openmpi", "libhuddle_mpich", "libhuddle_mpi_abi", "libstdc++", "libmpi"):
        bench.expect(library not in outcome.out, f"a program without MPI loads {library}")


def on_an_unknown_mpi(bench):
    library = bench.build / "libmpi_fake.so"
    bench.compile_plain("fake_mpi", library, "-shared", "-fPIC")
    program = bench.plain_program("on_fake_mpi", str(library))
    outcome = alone(bench, program)
    bench.passes("a program on an unknown MPI", outcome)
    bench.expect("of no family that huddle knows" in outcome.err and "done" in outcome.out,
                 f"a program on an unknown MPI: {outcome.tail()}")


def with_a_static_mpi(bench):
    """Its calls are bound inside of the program, so that nothing preloaded is asked."""
    library = bench.peer.static_library()
    if library is None:
        print(f"  {bench.peer.name} has no static library", flush=True)
        return
    program = bench.build / "static"
    sources = [bench.source("c/profiled.c"), bench.source("c/expect.c")]
    bench.peer.compile_statically(program, sources, library)
    outcome = bench.run(program, 2)
    bench.passes("a program with a static MPI", outcome)
    huddle = bench.libraries.parents[1] / "bin/huddle"
    said = job.run([str(huddle), "run", "--dry-run", str(program)], bench.peer.environment(), 30.0).err
    bench.expect("has its MPI linked into it" in said, f"huddle run says of a static MPI: {said}")


def switched_off(bench):
    outcome = bench.run(bench.program("profiled"), 2, environment={"HUDDLE": "off"})
    bench.passes("HUDDLE=off", outcome)
    bench.expect("huddle" not in outcome.err, f"HUDDLE=off: {outcome.err}")


def summary(bench):
    """One line, by one rank."""
    settings = {"STATS": "0", "SUMMARY": "1", "JOIN_AFTER": "0"}
    outcome = bench.run(bench.program("profiled"), 2, settings=settings)
    bench.passes("a summary", outcome)
    line = "huddle: 80 collectives of rank 0 taken, 0 passed to the MPI (--stats says which)\n"
    bench.expect(outcome.err.count(line) == 1 and outcome.err.count("huddle") == 1,
                 f"a summary is not one line: {outcome.err}")


def strangers(bench, _thorough):
    summary(bench)
    without_mpi(bench)
    on_an_unknown_mpi(bench)
    with_a_static_mpi(bench)
    switched_off(bench)
