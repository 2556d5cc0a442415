# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Programs that huddle cannot or must not handle: they run, with a clear message if it helps."""
import job
import peer as peer_module


def alone(bench, program, settings=None):
    """Runs a program without a launcher."""
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


def where_nothing_calls_mpi(bench):
    """If statistics are requested, a program without MPI prints that it has none; shells that
    start it print nothing."""
    huddle = str(bench.libraries.parents[1] / "bin/huddle")
    words = "huddle: the program did not call MPI, so there is nothing to report\n"
    for command, said in ((["ls", "/"], words), (["sh", "-c", "ls /"], ""), (["env", "ls", "/"], "")):
        outcome = job.run([huddle, "run", "-v", *command], bench.peer.environment(), 30.0)
        bench.expect(outcome.err == said, f"huddle run -v {' '.join(command)} says {outcome.err!r}")


def on_an_unknown_mpi(bench):
    library = bench.build / "libmpi_fake.so"
    for flags in ((), ("-DCONSTANTS",)):
        bench.compile_plain("fake_mpi", library, "-shared", "-fPIC", *flags)
        program = bench.plain_program("on_fake_mpi", str(library))
        outcome = alone(bench, program)
        what = f"a program on an unknown MPI {flags}"
        bench.passes(what, outcome)
        bench.expect("huddle does not support this MPI" in outcome.err and "done" in outcome.out,
                     f"{what}: {outcome.tail()}")


def where_failures_are_tolerated(bench):
    """A job with ULFM expects that collectives can be revoked."""
    outcome = bench.run(bench.program("profiled"), 2, settings={"ACTIVATE_AFTER": "0"},
                        environment={"OMPI_MCA_mpi_ft_enable": "1"})
    bench.passes("a fault-tolerant job", outcome)
    bench.expect("MPI: fault tolerance (ULFM)" in outcome.calls("allreduce") and outcome.taken("allreduce") == 0,
                 f"a fault-tolerant job: {outcome.tail()}")


def with_a_static_mpi(bench):
    """Calls of a statically linked MPI are bound within the program and cannot be intercepted."""
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
    bench.expect("contains its MPI" in said, f"huddle run says of a static MPI: {said}")


def switched_off(bench):
    quiet = {"STATS": "0"}
    outcome = bench.run(bench.program("profiled"), 2, settings=quiet, environment={"HUDDLE": "off"})
    bench.passes("HUDDLE=off", outcome)
    bench.expect("huddle" not in outcome.err, f"HUDDLE=off: {outcome.err}")
    outcome = bench.run(bench.program("profiled"), 2, settings=quiet | {"SUMMARY": "times"},
                        environment={"HUDDLE": "off"})
    bench.passes("HUDDLE=off with a summary", outcome)
    for words in ("off; all 80 collectives of rank 0 ran in the MPI\n", "blocking collectives took ", "of this, "):
        bench.expect(outcome.err.count(f"huddle: {words}") == 1, f"HUDDLE=off with a summary: {outcome.err}")
    off_by_a_file(bench)


def off_by_a_file(bench):
    """The setting also works without `huddle run`; the environment overrides it."""
    file = bench.build / "huddle/config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text('huddle = "off"\n', encoding="utf-8")
    for environment, reasons in (({}, 4), ({"HUDDLE": "on"}, 0)):
        outcome = bench.run(bench.program("profiled"), 2, environment=environment)
        bench.passes("off by a file", outcome)
        bench.expect(outcome.err.count("MPI: huddle is off") == reasons,
                     f"off by a file, {environment}: {outcome.err}")
    file.unlink()


def with_wrong_settings(bench):
    """An error in a configuration file is reported in one line per job, with and without `huddle
    run`."""
    file = bench.build / "huddle/config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text('stats = "on"\nmachin = "x"\n', encoding="utf-8")
    huddle = str(bench.libraries.parents[1] / "bin/huddle")
    program = bench.program("profiled")
    words = bench.peer.job(2, program, [], {"XDG_CONFIG_HOME": str(bench.build)})
    environment = {**bench.peer.environment(), "XDG_CONFIG_HOME": str(bench.build)}
    under_run = job.run([huddle, "run", *words], environment, 60.0)
    by_itself = bench.run(program, 2, settings={"ACTIVATE_AFTER": "0"})
    file.unlink()
    for what, outcome in (("under huddle run", under_run), ("preloaded", by_itself)):
        what = f"a wrong setting in a file, {what}"
        bench.passes(what, outcome)
        bench.expect(outcome.err.count("unknown setting 'machin'") == 1, f"{what}: {outcome.err}")
        bench.expect(outcome.calls("barrier"), f"{what}: its other setting does not hold: {outcome.err}")
    bench.takes("a wrong setting in a file", by_itself, ("allreduce",))


def with_a_broken_machine_file(bench):
    """Without a machine file every collective falls back to the MPI, with one line that gives the
    reason."""
    file = bench.build / "broken.toml"
    file.write_text("schema = 1\nname = \n", encoding="utf-8")
    outcome = bench.run(bench.program("profiled"), 2,
                        settings={"STATS": "0", "ACTIVATE_AFTER": "0", "MACHINE": str(file)})
    bench.passes("a broken machine file", outcome)
    bench.expect(outcome.err.count(f"huddle: {file}:2: ") == 1 and outcome.err.count("huddle: ") == 1,
                 f"a broken machine file: {outcome.err}")


def by_another_launcher(bench):
    """Each process runs as a singleton; one line reports that."""
    other = peer_module.Peer("mpich-4" if bench.peer.is_open_mpi() else "openmpi-4")
    if other.lacks():
        print(f"  no launcher of another family: {other.lacks()}", flush=True)
        return
    if bench.run(bench.program("profiled"), 2, huddle=False, launcher=other).status != 0:
        print(f"  {bench.peer.name} refuses {other.name}'s launcher by itself", flush=True)
        return
    outcome = bench.run(bench.program("profiled"), 2, settings={"STATS": "0"}, launcher=other)
    bench.passes(f"a program by {other.name}'s launcher", outcome)
    bench.expect(outcome.err.count("2 processes of this program were started by ") == 1 and
                 outcome.err.count("huddle: ") == 1, f"by {other.name}'s launcher: {outcome.err}")


def summary(bench):
    """One line by one rank."""
    settings = {"STATS": "0", "SUMMARY": "1", "ACTIVATE_AFTER": "0", "TUNE": "off"}
    outcome = bench.run(bench.program("profiled"), 2, settings=settings)
    bench.passes("a summary", outcome)
    line = "huddle: 80 collectives of rank 0 handled, 0 left to the MPI\n"
    bench.expect(outcome.err.count(line) == 1 and outcome.err.count("huddle") == 1,
                 f"a summary is not one line: {outcome.err}")
    outcome = bench.run(bench.program("profiled"), 1, settings=settings)
    line = "huddle: 0 collectives of rank 0 handled, 80 left to the MPI (single rank: 80)\n"
    bench.expect(line in outcome.err, f"a summary of one rank: {outcome.err}")


def strangers(bench, _thorough):
    summary(bench)
    without_mpi(bench)
    where_nothing_calls_mpi(bench)
    on_an_unknown_mpi(bench)
    where_failures_are_tolerated(bench)
    with_a_static_mpi(bench)
    with_wrong_settings(bench)
    with_a_broken_machine_file(bench)
    by_another_launcher(bench)
    switched_off(bench)
