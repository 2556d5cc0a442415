# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Programs with device memory under a simulated device-aware MPI: huddle must not access device
memory, and all ranks must agree on that, whenever the driver is loaded. A library simulates the
driver."""
import exchanges
import verification

AT_ONCE = {"ACTIVATE_AFTER": "0"}
WHENS = ("before", "after", "late", "thread")


def fake_driver(bench):
    folder = bench.build / "driver"
    folder.mkdir(exist_ok=True)
    output = folder / "libcuda.so.1"
    bench.compile_plain("fake_cuda", output, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1")
    return output


def devices(bench, thorough):
    program = bench.program("device", sources=("c/collectives.c",))
    library = fake_driver(bench)
    for ranks in (2, 3, 5) if thorough else (2, 3):
        for when in WHENS if thorough or ranks == 2 else ("late",):
            for settings in (AT_ONCE, {**AT_ONCE, "VERIFY": "1"}) if thorough or when == "late" else (AT_ONCE,):
                what = f"a device's memory on {ranks} ranks, its driver {when}, {settings}"
                outcome = bench.run(program, ranks, [library, when], settings=settings)
                bench.passes(what, outcome)
                if "VERIFY" in settings:
                    verification.agrees(bench, what, outcome)
                bench.takes(what, outcome, exchanges.OPERATIONS)
                for operation in exchanges.OPERATIONS:
                    bench.passed_for(what, outcome, operation, "device memory")
                print(f"  {what}: {outcome.seconds:.1f} s", flush=True)
    without(bench, program, library)
    threads(bench, library)


def without(bench, program, library):
    """Without a driver there are no votes and no fallbacks."""
    outcome = bench.run(program, 2, [library, "never"], settings=AT_ONCE)
    bench.passes("no device", outcome)
    bench.takes("no device", outcome, exchanges.OPERATIONS)
    bench.expect("device memory" not in outcome.err, f"no device: {outcome.tail()}")


def threads(bench, library):
    """Threads with a communicator each, while the driver is loaded."""
    outcome = bench.run(bench.program("device_threads"), 2, [library], settings=AT_ONCE)
    bench.passes("threads with a device's memory", outcome)
    bench.takes("threads with a device's memory", outcome, ("allreduce", "bcast"))
    bench.passed_for("threads with a device's memory", outcome, "allreduce", "device memory")
