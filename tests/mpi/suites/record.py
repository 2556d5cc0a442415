# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs mpi4py's own tests on one rank and records their outcomes.

record.py TESTS FOLDER [OPTION...]: TESTS contains mpi4py's main.py, which gets the options. Writes
FOLDER/rank-N with the lines "run ID" and "OUTCOME ID" as they occur, so that a test that hangs is
known by name, and finally "all done".
"""

import os
import sys
import traceback
import unittest


class Recorder(unittest.TestResult):
    """Writes a line per outcome, and the reasons of failures to a second file for people."""

    def __init__(self, folder, rank):
        super().__init__()
        self.outcomes = open(os.path.join(folder, f"rank-{rank}"), "w", buffering=1, encoding="utf-8")
        self.reasons = open(os.path.join(folder, f"why-{rank}"), "w", buffering=1, encoding="utf-8")

    def note(self, outcome, test):
        print(outcome, test.id(), file=self.outcomes)

    def trouble(self, outcome, test, error):
        self.note(outcome, test)
        print(outcome, test.id(), "".join(traceback.format_exception(*error)), file=self.reasons)

    def startTest(self, test):
        super().startTest(test)
        self.note("run", test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.trouble("fail", test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.trouble("error", test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            failed = issubclass(err[0], test.failureException)
            self.trouble("fail" if failed else "error", subtest, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note("skip", test)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note("fails-as-expected", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note("ok-unexpectedly", test)


class Runner:
    """The runner that unittest calls with the tests that it found."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, tests):
        from mpi4py import MPI

        result = Recorder(self.folder, MPI.COMM_WORLD.Get_rank())
        tests(result)
        print("all done", file=result.outcomes)
        return result


def main():
    tests, folder = sys.argv[1:3]
    sys.dont_write_bytecode = True
    sys.path.insert(0, tests)
    sys.argv = [os.path.join(tests, "main.py"), *sys.argv[3:]]
    import main as mpi4py_tests

    mpi4py_tests.main(module=None, testRunner=Runner(folder))


if __name__ == "__main__":
    main()
