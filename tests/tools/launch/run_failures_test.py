#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests that `huddle run` starts the command in environments that are unusual or partly broken."""
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from run_case import PATIENCE_SECONDS, RunCase


def ignore_child_signal():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


class RunFailures(RunCase):
    def start(self, *words, **options):
        """Starts huddle without waiting for it."""
        return subprocess.Popen([self.folder / "bin/huddle", *words], cwd=self.folder, text=True,
                                stdin=self.open_input, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(), **options)

    def output_of(self, process):
        """Returns the output and the errors of a process, which is killed if it does not end."""
        try:
            return process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise

    def wait_for(self, reached, what):
        end = time.monotonic() + PATIENCE_SECONDS
        while not reached():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def test_comparison_and_profile_end_if_the_caller_ignores_sigchld(self):
        profiler = self.folder / "lib/huddle/libhuddle_profile_preload.so"
        shutil.copy(self.preload, profiler)
        self.addCleanup(profiler.unlink)
        # Not a shell, because some shells reset the signal.
        program = ["sed", "-n", "/SigIgn/w ignored", "/proc/self/status"]
        for words, status in ((["run", "--compare", "1"], 0), (["profile", "--mode", "ranks"], 1)):
            (self.folder / "ignored").unlink(missing_ok=True)
            # pylint: disable-next=subprocess-popen-preexec-fn
            with self.start(*words, *program, preexec_fn=ignore_child_signal) as process:
                errors = self.output_of(process)[1]
            self.assertEqual(process.returncode, status, errors)
            mask = int((self.folder / "ignored").read_text(encoding="utf-8").split()[1], 16)
            self.assertTrue(mask >> (signal.SIGCHLD - 1) & 1, "the program inherits it")

    def test_a_comparison_that_ends_early_ends_the_program(self):
        program = self.shell_script("stays", "echo $$ > pid; exec sleep 1000")
        pid = self.folder / "pid"
        for number in (signal.SIGHUP, signal.SIGKILL):
            pid.unlink(missing_ok=True)
            with self.start("run", "--compare", "2", program) as process:
                self.wait_for(lambda: pid.exists() and pid.read_text(encoding="utf-8").endswith("\n"),
                              "the program does not start")
                process.send_signal(number)
                self.output_of(process)
            self.assertEqual(process.returncode, -number)
            status = pathlib.Path("/proc", pid.read_text(encoding="utf-8").strip(), "status")
            self.wait_for(lambda: not status.exists() or "zombie" in status.read_text(encoding="utf-8"),
                          f"the program survives signal {number}")

    def loop(self):
        """Returns a folder that cannot be searched, even by root: a link to itself."""
        loop = self.folder / "loop"
        if not loop.is_symlink():
            loop.symlink_to(loop)
        return str(loop)

    def test_command_starts_without_an_accessible_home_folder(self):
        for options in ([], ["--heap", "auto"], ["--threads", "move"]):
            for variable in ("HOME", "XDG_CONFIG_HOME"):
                done = self.huddle(*options, "./show", **{variable: self.loop()})
                self.assertEqual(done.returncode, 0, (options, variable, done.stderr))
                self.assertIn("mark=here", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
