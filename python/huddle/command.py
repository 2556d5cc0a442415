# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs the program `huddle` of this package's wheel, or the one in PATH."""
import os
import shutil
import sys


def program():
    """Returns the path of the program, or None."""
    packaged = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "huddle")
    return packaged if os.path.isfile(packaged) else shutil.which("huddle")


def run(*arguments):
    """Replaces this process by the program."""
    path = program()
    if path is None:
        sys.exit("huddle: the program `huddle` is neither in this package nor in PATH; install huddle, or its wheel")
    # The launchers of an MPI wheel, and the Python that has this package, are in the folder of this Python. It comes
    # last, because the user may have selected others.
    search_path = os.environ.get("PATH", os.defpath)
    beside = os.path.dirname(os.path.abspath(sys.executable))
    if beside not in search_path.split(os.pathsep):
        os.environ["PATH"] = search_path + os.pathsep + beside
    os.execv(path, ["huddle", *arguments])


def main():
    run(*sys.argv[1:])
