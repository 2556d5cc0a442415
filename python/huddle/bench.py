# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""`python -m huddle.bench ARGUMENTS` runs `huddle bench ARGUMENTS`, with an MPI of this Python's environment."""
import sys

from .command import run

if __name__ == "__main__":
    run("bench", *sys.argv[1:])
