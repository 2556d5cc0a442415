# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs `huddle run` in a folder of its own, for tests: the first arguments are huddle and the C compiler.

The preloaded library beside the copied program only sets a mark in the environment.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HUDDLE, CC = pathlib.Path(sys.argv[1]), sys.argv[2].split()
PATIENCE_SECONDS = 60

MARK = """#include <stdlib.h>
__attribute__((constructor)) static void mark(void) { setenv("MARK", "here", 1); }
"""
# Prints what reaches a rank, in one line.
SHOW = """#!/bin/sh
echo "$1 mark=$MARK stats=$HUDDLE_STATS ops=$HUDDLE_OPS preload=$LD_PRELOAD"
"""
LIBRARIES = ("libhuddle_preload.so", "libhuddle_openmpi.so", "libhuddle_mpich.so",
             "libhuddle_mpi_abi.so")
# Open MPI requires these for running as root and with more ranks than cores.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy":
           ":oversubscribe"}


class RunCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # An input without an end of file: MPICH 4.0's launcher forwards the end to a process that
        # may have ended after such short programs, and then fails, with or without huddle (12 of
        # 300 runs from /dev/null, none of 300 from this).
        cls.open_input, cls.input_end = os.pipe()
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        (cls.folder / "bin").mkdir()
        library = cls.folder / "lib/huddle"
        library.mkdir(parents=True)
        shutil.copy(HUDDLE, cls.folder / "bin/huddle")
        cls.build(MARK, library / LIBRARIES[0], "-shared", "-fPIC")
        for name in LIBRARIES[1:]:
            shutil.copy(library / LIBRARIES[0], library / name)
        cls.preload = str(library / LIBRARIES[0])
        cls.show = cls.folder / "show"
        cls.show.write_text(SHOW, encoding="utf-8")
        cls.show.chmod(0o755)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()
        os.close(cls.open_input)
        os.close(cls.input_end)

    @classmethod
    def build(cls, text, target, *flags):
        source = cls.folder / "source.c"
        source.write_text(text, encoding="utf-8")
        subprocess.run([*CC, str(source), "-o", str(target), *flags], check=True)
        return str(target)

    @classmethod
    def environment(cls, **more):
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        return {**kept, **ALLOWED, "HOME": str(cls.folder), "COLUMNS": "100", **more}

    def huddle(self, *words, program="bin/huddle", **more):
        return subprocess.run([self.folder / program, "run", *map(str, words)], text=True,
                              stdin=self.open_input, capture_output=True, check=False,
                              timeout=PATIENCE_SECONDS, cwd=self.folder,
                              env=self.environment(**more))

    def dry_run(self, *words, **more):
        return json.loads(self.huddle("--dry-run", "--json", *words, **more).stdout)

    def config(self, text):
        """Writes the user's configuration file for one test."""
        file = self.folder / ".config/huddle/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.addCleanup(file.unlink)
        return file

    def shell_script(self, name, lines):
        script = self.folder / name
        script.write_text("#!/bin/sh\n" + lines, encoding="utf-8")
        script.chmod(0o755)
        return f"./{name}"

    def expect_note(self, note, *words, status=0, **more):
        done = self.huddle(*words, **more)
        self.assertEqual(done.returncode, status)
        self.assertTrue(done.stderr.startswith("huddle: "), done.stderr)
        self.assertIn(note, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        return done
