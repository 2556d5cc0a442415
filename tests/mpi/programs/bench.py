# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The test bench for one MPI: builds programs, runs jobs with or without huddle, and collects
findings."""
import pathlib

import job
import peer as peer_module

HERE = pathlib.Path(__file__).resolve().parent
PRELOAD = "libhuddle_preload.so"
HEAP = "libhuddle_heap.so"
# This size identifies a heap among the mappings of a rank.
HEAP_LIMIT_BYTES = 3 << 30
# For every rank that runs with huddle: blocks of a page or more are in its heap.
HEAP_SETTINGS = {"HEAP": "on", "HEAP_THRESHOLD": "4K", "HEAP_LIMIT": str(HEAP_LIMIT_BYTES)}
# What takes seconds on an idle machine takes 90 s if thirty other processes compete for the cores.
HANG_SECONDS = 300.0


class Bench:
    def __init__(self, peer, libraries, still, wrong, build, heap=None):
        self.peer = peer
        self.libraries = pathlib.Path(libraries).resolve()
        self.still = pathlib.Path(still).resolve()  # the library without MPI progress
        self.wrong = pathlib.Path(wrong).resolve()  # the library with wrong results
        self.build = pathlib.Path(build).resolve() / peer.name
        self.build.mkdir(parents=True, exist_ok=True)
        self.heap = heap  # HUDDLE_HEAP of the ranks; None: no shared heap
        self.findings = []
        self.built = {}

    def expect(self, holds, sentence):
        if not holds:
            self.findings.append(sentence)
            print(f"  FAILED: {sentence}", flush=True)
        return holds

    def program(self, name, *flags, sources=()):
        """Builds c/NAME.c with the common sources, once, and returns its path."""
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
        """Builds tools/NAME.c as a shared library for programs of this MPI."""
        output = self.build / f"lib{name}.so"
        self.peer.compile_c(output, [self.source(f"tools/{name}.c")], ["-shared", "-fPIC"])
        return output

    def plain_program(self, name, *flags):
        """Builds tools/NAME.c, a program without MPI."""
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
        """Runs one job. `settings` holds the ranks' HUDDLE_X by X. `preload` and `preload_behind`
        are files that are preloaded before and after huddle's; `meanwhile` is passed to job.run;
        `launcher` is another peer whose launcher to use; `ends_sharing` means that the program
        ends the sharing of the heap."""
        own = {}
        files = [str(file) for file in preload]
        if huddle:
            own = self.own_settings(settings or {})
            files += self.own_files(libraries or self.libraries)
        files += [str(file) for file in preload_behind]
        if files:
            own["LD_PRELOAD"] = ":".join(files)
        own.update(environment or {})
        # Ignores the settings of the user who runs the tests, and discovers the machine in every job.
        own["XDG_CONFIG_HOME"] = str(self.build)
        own.setdefault("XDG_CACHE_HOME", "/dev/null")
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
        """Returns the files in the order of `huddle run`."""
        heap = [self.libraries / HEAP] if self.heap else []
        return [str(file) for file in (libraries / PRELOAD, *heap)]

    def does_natively(self, name, ranks, arguments=(), deadline=30.0):
        """Returns whether the program works without huddle: not every MPI implements all of MPI."""
        native = self.run(self.program(name), ranks, arguments, huddle=False, deadline=deadline)
        if not native.in_time or native.status != 0:
            what = " ".join(map(str, (name, *arguments)))
            print(f"  {self.peer.name} cannot do it by itself: {what} (status {native.status})", flush=True)
            return False
        return True

    def passes(self, what, outcome, status=0):
        """Expects that the job ended in time, with this status, and left nothing behind."""
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
