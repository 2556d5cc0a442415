# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""How programs start, end and change: thousands of communicators, threads, sessions, spawned
children, errors."""
import job

AT_ONCE = {"ACTIVATE_AFTER": "0"}
# Activates during the program, on some of its communicators only.
AFTER_SOME = {"ACTIVATE_AFTER": "8"}
OPERATIONS = ("bcast", "allreduce")


def lives(bench, thorough):
    """Programs with an unusual start or end."""
    for name in ("alive", "forks"):
        program = bench.program(name)
        for settings in (AT_ONCE, AFTER_SOME) if thorough else (AT_ONCE,):
            outcome = bench.run(program, 3 if thorough else 2, settings=settings)
            bench.passes(name, outcome)
            # Its broadcasts are all on communicators with too few calls for activation.
            young = name == "alive" and settings is AFTER_SOME
            bench.takes(name, outcome, ("allreduce",) if young else OPERATIONS)
            bench.expect(name != "alive" or outcome.out.count("at the end") > 1,
                         f"{name}: what was kept at MPI_COMM_SELF did not run: {outcome.out}")
    large_calls(bench)
    outcome = bench.run(bench.program("never"), 1)
    bench.passes("a program that never starts MPI", outcome)
    bench.expect("huddle" not in outcome.err, f"a program that never starts MPI: {outcome.err}")


def churn(bench, thorough):
    """Communicators on which huddle never activates, does so when it pays off, after some calls,
    or at the first call."""
    program = bench.program("churn")
    for calls, settings, times, words in ((3, {}, 100000 if thorough else 2000, 1),
                                          (400, {}, 10, 1 << 18),  # enough data for an early
                                                                   # activation
                                          (10, AFTER_SOME, 5000 if thorough else 100, 1),
                                          (2, AT_ONCE, 10000 if thorough else 100, 1)):
        what = f"{times} communicators of {calls} calls"
        outcome = bench.run(program, 2, [times, calls, words], settings=settings, deadline=600.0)
        bench.passes(what, outcome)
        print(f"  {times} communicators, {settings or 'by default'}: {outcome.out.strip()}", flush=True)
        if calls > 3 or settings:
            bench.takes(what, outcome, ("allreduce",))
        else:
            bench.passed_for(what, outcome, "allreduce", "communicator not yet active")


def attributes(bench, thorough):
    """Delete callbacks of the program's attributes communicate, also on the communicator being
    freed."""
    program = bench.program("attributes")
    for settings in (AT_ONCE, {"ACTIVATE_AFTER": "3"}, AFTER_SOME, {}) if thorough else (AT_ONCE, {"ACTIVATE_AFTER": "3"}):
        for ranks in (2, 3, 4) if thorough else (4,):
            what = f"attributes on {ranks} ranks, {settings or 'by default'}"
            outcome = bench.run(program, ranks, [20 if thorough else 1], settings=settings, deadline=150.0)
            bench.passes(what, outcome)
            if settings:
                bench.takes(what, outcome, ("barrier", "bcast", "allreduce"))
            bench.passed_for(what, outcome, "allreduce", "communicator being freed")


# MPIs in which several threads that create communicators at once need minutes, with and without
# huddle, if there are more ranks than cores.
MAKES_ONE_AT_A_TIME = ("mpich-4",)


def large_calls(bench):
    """Activation depends on the time in the MPI, and thus on calls whose sizes not all ranks know."""
    outcome = bench.run(bench.program("pair_sizes"), 2)
    bench.passes("exchanges of large blocks", outcome)
    bench.takes("exchanges of large blocks", outcome, ("alltoallv",))


def pools(bench, thorough):
    """Communicators of the same ranks, in turn and at once, reuse each other's teams."""
    program = bench.program("pools")
    by_threads = 0 if bench.peer.family in MAKES_ONE_AT_A_TIME else 1
    for settings in (AT_ONCE, AFTER_SOME, {}) if thorough else (AT_ONCE, AFTER_SOME):
        for ranks in (2, 3, 4) if thorough else (3,):
            what = f"communicators on {ranks} ranks that take over teams, {settings or 'by default'}"
            outcome = bench.run(program, ranks, [10 if thorough else 1, by_threads], settings=settings,
                                deadline=300.0)
            bench.passes(what, outcome)
            if settings:
                bench.takes(what, outcome, ("barrier", "bcast", "allreduce"))


def threads(bench, thorough):
    program = bench.program("threads")
    for _ in range(5 if thorough else 1):
        outcome = bench.run(program, 2, settings=AT_ONCE, deadline=120.0)
        bench.passes("threads", outcome)
        bench.takes("threads", outcome, ("barrier", "bcast", "reduce", "allreduce"))


# MPIs need the 16 KiB of PTHREAD_STACK_MIN themselves; the rest is for huddle.
STACK_BYTES = (32 << 10, 64 << 10)
ON_LITTLE_STACK = ("barrier", "bcast", "allgather")


def little_stacks(bench, _thorough):
    """A thread with a small stack sets up the team of a communicator, reads the stored results of
    trials, and is the first to call each collective."""
    trials = bench.build / "little_stacks.json"
    trials.write_text('{"schema": 1, "command": "tune", "results": []}')
    for stack in STACK_BYTES:
        arguments = [stack, *ON_LITTLE_STACK]
        if not bench.does_natively("little_stack", 2, arguments):
            continue
        what = f"collectives on {stack >> 10} KiB of stack"
        outcome = bench.run(bench.program("little_stack"), 2, arguments, settings={**AT_ONCE, "TUNE": str(trials)})
        bench.passes(what, outcome)
        bench.takes(what, outcome, ON_LITTLE_STACK)
        bench.expect("stack used" in outcome.out, f"{what}: no thread\n{outcome.tail()}")


def children(bench, _thorough):
    """huddle's own child, which discovers the machine, is invisible to the program."""
    outcome = bench.run(bench.program("children"), 2, settings=AT_ONCE)
    bench.passes("children", outcome)
    bench.takes("children", outcome, ("allreduce",))


def thread_levels(bench, _thorough):
    """All thread levels from MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE."""
    program = bench.program("profiled")
    for level in range(4):
        outcome = bench.run(program, 2, [level], settings=AT_ONCE)
        bench.passes(f"threads of level {level}", outcome)
        bench.takes(f"threads of level {level}", outcome, ("barrier", "bcast", "allreduce", "allgather"))


# MPIs that do not survive a second initialization even without huddle. MPICH 5 fails in about 2 %
# of the runs on a busy machine, because its ranks read wrong addresses of each other.
COMES_UP_ONCE = ("openmpi-5", "mpich-5", "intel")


def sessions(bench, _thorough):
    # With several sessions on one rank, all ranks use the MPI.
    jobs = [("sessions", [1]), ("sessions", [1, "another"]), ("session_and_world", [])]
    if bench.peer.family not in COMES_UP_ONCE:
        jobs.append(("sessions", [2]))
    for name, arguments in jobs:
        if not bench.does_natively(name, 2, arguments):
            continue
        for settings in (AT_ONCE, AFTER_SOME):
            what = f"{name} {arguments}, {settings}"
            outcome = bench.run(bench.program(name), 2, arguments, settings=settings)
            bench.passes(what, outcome)
            if "no sessions" in outcome.out:
                print(f"  {bench.peer.name} is older than sessions", flush=True)
                break
            if "another" in arguments:
                # Intel MPI reports that the world is initialized, so huddle can identify the ranks.
                is_known = "MPI: several MPI sessions" in outcome.calls("allreduce")
                bench.expect(is_known or outcome.taken("allreduce") > 0,
                             f"{what}: another reason than the sessions\n{outcome.tail()}")
            else:
                bench.takes(what, outcome, ("allreduce", "barrier"))


def late_loading(bench, _thorough):
    """A program that loads its MPI late, as Python does, on one rank without a launcher, and with
    the variables of a launcher that do not identify the MPI."""
    module = bench.shared_library("late_module")
    loader = bench.plain_program("late_loader", "-ldl")
    variables = [{}]
    if bench.peer.is_open_mpi():
        variables.append({"PMI_RANK": "0", "PMI_SIZE": "1"})
    for of_launcher in variables:
        environment = {**bench.peer.environment(), **of_launcher, "LD_PRELOAD": str(bench.preload()),
                       "XDG_CONFIG_HOME": str(bench.build)}
        outcome = job.run([str(loader), str(module)], environment)
        what = f"an MPI that is loaded late, {of_launcher}"
        bench.passes(what, outcome)
        bench.expect("fine" in outcome.out, f"{what}\n{outcome.tail()}")
        # Under a launcher that may be that of MPICH, the program finds huddle's functions.
        if of_launcher:
            bench.expect("found" in outcome.out, f"{what}: it does not find MPI_Allgatherv_c")


def spawn(bench, thorough):
    """The children run with or without huddle."""
    program = bench.program("spawn")
    if not bench.does_natively("spawn", 2):
        return
    preload = bench.libraries / "libhuddle_preload.so"
    for file in (preload, "") if thorough else (preload,):
        outcome = bench.run(program, 2, [file] if file else [], settings=AT_ONCE)
        bench.passes(f"children with {file or 'no huddle'}", outcome)
        bench.takes("parents of children", outcome, OPERATIONS)
        bench.passed_for("parents of children", outcome, "allreduce", "spawned processes")
        bench.passed_for("parents of children", outcome, "allreduce", "intercommunicator")


FALLS_OF_OPEN_MPI = ["bcast at no address", "allreduce into no address", "bcast of a dense type at no address",
                     "bcast of a type with gaps at no address",
                     "allgather of a dense type from no address",
                     "alltoall of a dense type into no address"]
# Calls at which an MPI itself is known to crash or hang. Others are detected, which takes time.
KNOWN_FALLS = {
    "openmpi-4": FALLS_OF_OPEN_MPI,
    "openmpi-5": FALLS_OF_OPEN_MPI,
    "mpich-4": ["reduce of -1", "allreduce of -1", "bcast in place"],
    "mpich-5": ["reduce of -1", "allreduce of -1", "reduce of no type", "allreduce of no type",
                "bcast in place"],
    "intel": ["bcast in place", "reduce of aliases", "gatherv of aliases"],
}


def last_try(outcome):
    """Returns the call during which the program ended, or None if it completed."""
    tries = [line.removeprefix("tries ") for line in outcome.out.splitlines()
             if line.startswith("tries ")]
    return tries[-1] if tries and outcome.status != 0 else None


def errors_that_do_no_harm(bench, program):
    """Returns the calls at which this MPI itself crashes or hangs, and the outcome without them."""
    left_out = list(KNOWN_FALLS.get(bench.peer.family, []))
    while True:
        native = bench.run(program, 2, left_out, huddle=False, deadline=10.0)
        at = last_try(native)
        if at is None or at in left_out:
            return left_out, native
        left_out.append(at)


def errors(bench, thorough):
    """Expects the same error classes, and as many calls of the program's handler, as without
    huddle."""
    program = bench.program("errors")
    left_out, native = errors_that_do_no_harm(bench, program)
    bench.passes("errors without huddle", native)
    if left_out:
        print(f"  {bench.peer.name} itself falls over at: {', '.join(left_out)}", flush=True)
    for settings in (AT_ONCE, AFTER_SOME) if thorough else (AT_ONCE,):
        ours = bench.run(program, 2, left_out, settings=settings, deadline=30.0)
        bench.passes("errors", ours)
        for with_huddle, without in zip(ours.out.splitlines(), native.out.splitlines()):
            bench.expect(with_huddle == without,
                         f"errors: '{with_huddle}' with huddle, '{without}' without")
        bench.expect(len(ours.out.splitlines()) == len(native.out.splitlines()),
                     "errors: other lines with huddle")
        bench.takes("errors", ours, ("allreduce",))
        for operation in ("bcast", "gather", "alltoall", "scan"):
            bench.passed_for("errors", ours, operation, "possibly invalid arguments")
