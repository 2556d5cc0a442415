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


def has_ended(status):
    """Reads /proc/PID/status, which may disappear meanwhile."""
    try:
        return "zombie" in status.read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return True


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
            self.wait_for(lambda: has_ended(status), f"the program survives signal {number}")

    def loop(self):
        """Returns a folder that cannot be searched, even by root: a link to itself."""
        loop = self.folder / "loop"
        if not loop.is_symlink():
            loop.symlink_to(loop)
        return str(loop)

    def test_stub_of_another_installation_is_replaced(self):
        site = self.folder / "site/libhuddle_preload.so"
        site.parent.mkdir()
        shutil.copy(self.preload, site)
        done = self.huddle("-v", "./show", LD_PRELOAD=str(site))
        self.assertIn(f"preload={self.preload}\n", done.stdout)
        self.assertIn(f"{self.preload} replaces {site}", done.stderr)
        self.assertNotIn("replaces", self.huddle("./show", LD_PRELOAD=str(site)).stderr)
        inner = self.huddle("-v", "bin/huddle", "run", "-v", "./show")
        self.assertNotIn("replaces", inner.stderr)

    def test_variables_join_the_list_of_open_mpi_4(self):
        launcher = shutil.which("mpirun.openmpi")
        version = launcher and subprocess.run([launcher, "--version"], text=True, check=True, capture_output=True,
                                              env=self.environment())
        if not version or ") 4." not in version.stdout:
            self.skipTest("Open MPI 4 is not installed")
        rank = ["-n", "1", "sh", "-c", "echo $A $HUDDLE_OPS $MARK"]
        for options, more in ((["--mca", "mca_base_env_list", "A=1"], {}),
                              ([], {"OMPI_MCA_mca_base_env_list": "A=1"})):
            done = self.huddle("--ops", "scan", launcher, *options, *rank, **more)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1 scan here\n", ""))
        (self.folder / "tune").write_text('-mca mca_base_env_list "A=1"\n', encoding="utf-8")
        done = self.expect_note("write 'huddle run' before the program", launcher, "--tune", "tune", *rank)
        self.assertEqual(done.stdout, "1 here\n")
        (self.folder / "app").write_text("-n 1 ./show\n", encoding="utf-8")
        self.expect_note("write 'huddle run' before each program in app", launcher, "--app", "app")

    def test_a_launcher_behind_another_program_gets_a_note(self):
        launcher = self.shell_script("mpiexec", '[ "$1" = --version ] || exec "$@"')
        advice = "write 'huddle run' directly before ./mpiexec"
        self.expect_note(advice, "env", "A=1", launcher, "./show")
        self.expect_note(advice, "timeout", "9", launcher, "./show")
        for words in (["env", "echo", "--", launcher], ["env", "echo", "mpiexec.none"],
                      ["./bin/huddle", "run", "env", "true"]):
            done = self.huddle(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)

    def test_command_starts_in_a_deleted_folder(self):
        gone = self.folder / "gone"
        gone.mkdir()
        huddle = f"rmdir {gone}; {self.folder}/bin/huddle run"
        done = subprocess.run(["sh", "-c", f"{huddle} --stats-json a.json {self.show}"], cwd=gone, text=True,
                              check=False, capture_output=True, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mark=here stats= ", done.stdout)
        self.assertIn("huddle: ignored: HUDDLE_STATS=a.json: ", done.stderr)

    def test_command_starts_without_an_accessible_home_folder(self):
        for options in ([], ["--heap", "auto"], ["--threads", "move"]):
            for variable in ("HOME", "XDG_CONFIG_HOME"):
                done = self.huddle(*options, "./show", **{variable: self.loop()})
                self.assertEqual(done.returncode, 0, (options, variable, done.stderr))
                self.assertIn("mark=here", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
