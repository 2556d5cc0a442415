# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs a job under an MPI and returns its output and what it left behind."""
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import uuid

# In the environment of every process of a job, to find processes that outlive it.
MARK = "JOB_OF_A_TEST"
# The full time passes only if something remains.
PATIENCE_SECONDS = 30.0
# The format of a line of `HUDDLE_STATS=1`.
STATS_LINE = re.compile(r"^(\w+) +(\d+) +(\d+|-) +([\d.]+|-)  (.+)$", re.MULTILINE)


@dataclasses.dataclass
class Outcome:
    status: int
    out: str
    err: str
    seconds: float
    in_time: bool
    left: list  # what outlived the job: processes, and files of huddle

    def calls(self, operation):
        """Returns rank 0's calls of this operation by how they were run, from the statistics."""
        done = {}
        for name, calls, _, _, how in STATS_LINE.findall(self.err):
            if name == operation:
                done[how] = done.get(how, 0) + int(calls)
        return done

    def taken(self, operation):
        return sum(calls for how, calls in self.calls(operation).items() if not how.startswith("MPI: "))

    def tail(self):
        return "\n".join((self.out + self.err).splitlines()[-12:])


def run(command, environment, deadline_seconds=90.0, meanwhile=None, at_deadline=None):
    """Runs a job in its own folder, so that core files of dying ranks are deleted with it.
    `meanwhile` is called with the job's mark after the start and must return at once.
    `at_deadline` is called with the mark before a job that takes too long is ended."""
    mark = uuid.uuid4().hex
    before = shared_files()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="job-", ignore_cleanup_errors=True) as folder, \
            subprocess.Popen(command, env={**environment, MARK: mark}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             errors="replace", cwd=folder, start_new_session=True) as process:
        in_time = True
        try:
            if meanwhile is not None:
                meanwhile(mark)
            out, err = process.communicate(timeout=deadline_seconds)
        except subprocess.TimeoutExpired:
            in_time = False
            if at_deadline is not None:
                at_deadline(mark)
            end_all(mark)
            out, err = process.communicate()
        except KeyboardInterrupt:
            end_all(mark)
            process.wait()
            raise
    seconds = time.monotonic() - start
    left = outliving(mark, before)
    end_all(mark)
    return Outcome(process.returncode, out, err, seconds, in_time, left)


def members(mark):
    """Returns the processes of a job, including the launcher and daemons."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # has ended, or belongs to another user
    return found


def launchers(mark):
    """Returns the process of a job that this process started, which started all others."""
    return [pid for pid in members(mark) if parent_of(pid) == os.getpid()]


def parent_of(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    return int(re.search(r"^PPid:\s*(\d+)", status, re.MULTILINE)[1])


def outliving(mark, before):
    """Returns what remains long after the launcher has ended. Daemons may take a moment to end on
    a busy machine, and files of other jobs come and go."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        left = [f"process {pid}" for pid in members(mark)] + sorted(shared_files() - before)
        if not left or time.monotonic() >= end:
            return left
        time.sleep(0.02)


def end_all(mark):
    for pid in members(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def shared_files():
    """Returns huddle's shared files, including those of other jobs on this machine."""
    return {f"/dev/shm/{entry.name}" for entry in pathlib.Path("/dev/shm").iterdir()
            if "huddle" in entry.name}
