# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""What the tests of one MPI stand on: programs built for it, jobs with huddle or without, findings."""
import pathlib

import job
import peer as peer_module

HERE = pathlib.Path(__file__).resolve().parent
PRELOAD = "libhuddle_preload.so"
HEAP = "libhuddle_heap.so"
# The size by which a heap is known among what a rank has mapped.
HEAP_CAP_BYTES = 3 << 30
# Of every rank that runs with huddle: all that fills a page lies in its heap.
HEAP_SETTINGS = {"HEAP": "on", "HEAP_BLOCK": "4K", "HEAP_CAP": str(HEAP_CAP_BYTES)}
# What takes seconds on a machine of its own takes a minute and a half where thirty others want a core.
HANG_SECONDS = 300.0


class Bench:
    def __init__(self, peer, libraries, still, wrong, build, heap=None):
        self.peer = peer
        self.libraries = pathlib.Path(libraries).resolve()
        self.still = pathlib.Path(still).resolve()  # the same that leaves the MPI standing still
        self.wrong = pathlib.Path(wrong).resolve()  # the same, whose results are wrong
        self.build = pathlib.Path(build).resolve() / peer.name
        self.build.mkdir(parents=True, exist_ok=True)
        self.heap = heap  # what HUDDLE_HEAP is for the ranks; None: they have no shared heap
        self.findings = []
        self.built = {}

    def expect(self, holds, sentence):
        if not holds:
            self.findings.append(sentence)
            print(f"  FAILED: {sentence}", flush=True)
        return holds

    def program(self, name, *flags, sources=()):
        """c/NAME.c with what all programs share, built once."""
        key = (name, flags, sources)
        if key not in self.built:
            output = self.build / f"{name}{len(self.built)}"
            files = [HERE / f"c/{name}.c", HERE / "c/expect.c", *(HERE / source for source in sources)]
            self.peer.compile_c(output, files, ["-lm", *flags])
            self.built[key] = output
        return self.built[key]

    def fortran(self, name):
        output = self.build / f"fortran_{pathlib.Path(name).stem}"
        self.peer.compile_fortran(output, [HERE / "fortran" / name])
        return output

    def shared_library(self, name):
        """tools/NAME.c for programs of this MPI."""
        output = self.build / f"lib{name}.so"
        self.peer.compile_c(output, [self.source(f"tools/{name}.c")], ["-shared", "-fPIC"])
        return output

    def plain_program(self, name, *flags):
        """tools/NAME.c, which has no MPI."""
        output = self.build / name
        self.compile_plain(name, output, *flags)
        return output

    def compile_plain(self, name, output, *flags):
        peer_module.compile_by(["gcc", "-Wall", "-Wextra", self.source(f"tools/{name}.c"), "-o", output,
                                *flags])

    def source(self, path):
        return HERE / path

    def preload(self):
        return self.libraries / PRELOAD

    def run(self, program, ranks, arguments=(), huddle=True, settings=None, environment=None,
            deadline=HANG_SECONDS, libraries=None, preload=(), preload_behind=(), meanwhile=None,
            launcher=None, ends_sharing=False):
        """One job. settings: HUDDLE_X of the ranks by X; preload and preload_behind: files that come
        before huddle's, and after it; meanwhile: of job.run; launcher: another peer's; ends_sharing: the
        program does what a shared heap does not survive."""
        own = {}
        files = [str(file) for file in preload]
        if huddle:
            own = self.own_settings(settings or {})
            files += self.own_files(libraries or self.libraries)
        files += [str(file) for file in preload_behind]
        if files:
            own["LD_PRELOAD"] = ":".join(files)
        own.update(environment or {})
        # No setting of whoever runs the tests counts.
        own["XDG_CONFIG_HOME"] = str(self.build)
        by = launcher or self.peer
        outcome = job.run(by.job(ranks, program, arguments, own), by.environment(single_copy=False),
                          deadline, meanwhile)
        # A rank prints why its heap does not start.
        self.expect(ends_sharing or "huddle: heap: " not in outcome.err, f"no heap\n{outcome.tail()}")
        return outcome

    def own_settings(self, settings):
        heap = {**HEAP_SETTINGS, "HEAP": self.heap} if self.heap else {}
        return {f"HUDDLE_{name}": value for name, value in {"STATS": "1", **heap, **settings}.items()}

    def own_files(self, libraries):
        """In the order of `huddle run`."""
        heap = [self.libraries / HEAP] if self.heap else []
        return [str(file) for file in (libraries / PRELOAD, *heap)]

    def does_natively(self, name, ranks, arguments=(), deadline=30.0):
        """Whether the MPI does it without huddle: not all of them do all of MPI."""
        native = self.run(self.program(name), ranks, arguments, huddle=False, deadline=deadline)
        if not native.in_time or native.status != 0:
            what = " ".join(map(str, (name, *arguments)))
            print(f"  {self.peer.name} cannot do it by itself: {what} (status {native.status})", flush=True)
            return False
        return True

    def passes(self, what, outcome, status=0):
        """A job that came to its end, said nothing of what is wrong, and left nothing."""
        if not self.expect(outcome.in_time, f"{what}: not at its end in time\n{outcome.tail()}"):
            return False
        fine = self.expect(outcome.status == status,
                           f"{what}: status {outcome.status}, not {status}\n{outcome.tail()}")
        self.expect(not outcome.left, f"{what}: left {', '.join(outcome.left)}")
        return fine

    def takes(self, what, outcome, operations):
        for operation in operations:
            self.expect(outcome.taken(operation) > 0,
                        f"{what}: huddle took no {operation}: {outcome.calls(operation)}")

    def passed_for(self, what, outcome, operation, reason):
        self.expect(outcome.calls(operation).get(f"MPI: {reason}", 0) > 0,
                    f"{what}: no {operation} was the MPI's for '{reason}': {outcome.calls(operation)}")
