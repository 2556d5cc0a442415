#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Records what the threads of each kernel share, and keeps a part: record.py BUILD [SECONDS [KERNEL...]]

`huddle profile --record` observes the page faults of a real run. The script keeps the last seconds, and
drops pages that only one thread touches, which affect no counts. If that is still too much, it keeps every
n-th page with all of its touches in order, so that the counts of that page do not change. Pages are
renumbered from 0.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = ["sp", "lu", "ft", "ep", "is", "cg", "mg"]
MOST_TOUCHES = 3000  # about 60 KB
KEPT_NS = 5_000_000_000


def thinned(text):
    """Returns the last seconds of every n-th shared page, with the smallest n for at most MOST_TOUCHES touches."""
    head, names, *lines = text.splitlines()
    end = int(lines[-1].split()[1])
    lines = [line for line in lines if int(line.split()[1]) >= end - KEPT_NS]
    users = {}
    for line in lines:
        if line.startswith("t "):
            users.setdefault(line.split()[3], []).append(line.split()[2])
    shared = [page for page, threads in users.items() if len(set(threads)) > 1]
    touches = sum(len(users[page]) for page in shared)
    every = max(1, -(-touches // MOST_TOUCHES))
    numbers = {page: number for number, page in enumerate(shared[::every])}
    kept = [head, names]
    for line in lines:
        if line.startswith("t "):
            kind, time, thread, page, way = line.split()
            if page not in numbers:
                continue
            line = f"{kind} {time} {thread} {numbers[page]:x} {way}"
        kept.append(line)
    return "\n".join(kept) + "\n", touches, every


def main():
    build, seconds = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "4"
    for kernel in sys.argv[3:] or KERNELS:
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "touches"
            subprocess.run([build / "bin/huddle", "profile", "--record", record,
                            build / "tests/placement/threads/kernels/thread-kernels", kernel, seconds], check=True)
            text, touches, every = thinned(record.read_text(encoding="ascii"))
        (HERE.parent / "recordings" / f"{kernel}.touches").write_text(text, encoding="ascii")
        print(f"{kernel}: {touches} touches of shared pages, one page in {every} is kept, {len(text)} bytes")


if __name__ == "__main__":
    main()
