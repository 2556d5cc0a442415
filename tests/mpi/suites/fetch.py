#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Downloads the sources of suites, for runs without a network: fetch.py FOLDER

Prints what is not available; the suite that needs it is skipped.
"""
import pathlib
import subprocess
import sys

import mpi4py_source
import mpich_source


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for source in (mpi4py_source, mpich_source):
        try:
            source.tests(folder)
        except (mpich_source.Missing, subprocess.CalledProcessError) as why:
            print(f"{source.__name__}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
