# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs mpi4py's own tests on one rank and records what became of each, line by line.

record.py TESTS FOLDER [OPTION...]: TESTS holds mpi4py's main.py, which takes the options; FOLDER
gets a file rank-N with lines "run ID" and "OUTCOME ID", written as they happen, so that a test that
never ends is known by its name, and in the end "all done".
"""

import os
import sys
import traceback
import unittest


class Recorder(unittest.TestResult):
    """One line for each outcome; why a test failed goes to a second file, for people."""

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
    """What unittest's program asks to run the tests that it has found."""

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
