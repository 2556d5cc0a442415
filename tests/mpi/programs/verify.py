# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""HUDDLE_VERIFY compares every call from the first one, raises no false alarm, and prints at the
end how many calls it compared."""
import pathlib
import tempfile

import exchanges
from verification import agrees, ends_with, summaries

VERIFIED = {"VERIFY": "1"}


def verify(bench, thorough):
    every_operation(bench)
    reasons(bench)
    false_alarms(bench, thorough)
    early_ends(bench)


def every_operation(bench):
    """Runs each operation with a library with wrong results, and with the right one."""
    program = bench.program("each")
    operations = exchanges.OPERATIONS
    right = bench.run(program, 2, operations, settings=VERIFIED)
    bench.passes("one of each operation", right)
    bench.takes("one of each operation", right, operations)
    agrees(bench, "one of each operation", right)
    ends_with(bench, "one of each operation", right, (len(operations), 0, {}))
    for operation in operations:
        wrong = bench.run(program, 2, [operation], settings=VERIFIED, libraries=bench.wrong)
        bench.expect(f"huddle: verify: {operation} of" in wrong.err,
                     f"a wrong result of {operation} is not found\n{wrong.tail()}")
        counted = [(compared, differ) for compared, differ, _ in summaries(wrong).values()]
        bench.expect((1, 1) in counted, f"a wrong result of {operation} is counted as {counted}")


def reasons(bench):
    """Calls that fall back to the MPI are counted with the reason, and the last line is always
    printed."""
    operations = exchanges.OPERATIONS
    program = bench.program("each")
    outcome = bench.run(program, 2, operations, settings={**VERIFIED, "OPS": "^bcast"})
    ends_with(bench, "without bcast", outcome, (len(operations) - 1, 0, {"operation excluded by --ops": 1}))
    outcome = bench.run(program, 1, operations, settings=VERIFIED)
    ends_with(bench, "one rank", outcome, (0, 0, {"single rank": len(operations)}))
    outcome = bench.run(program, 2, settings=VERIFIED)
    ends_with(bench, "no call", outcome, (0, 0, {}))
    program = bench.program("verified")
    outcome = bench.run(program, 2, ["nonblocking"], settings=VERIFIED)
    ends_with(bench, "a nonblocking call", outcome, (5, 0, {"nonblocking collective": 1}))
    outcome = bench.run(program, 2, ["operator"], settings=VERIFIED)
    why = "different bits from an operator with unknown rounding"
    ends_with(bench, "an operator whose result changes", outcome, (0, 0, {why: 1}))


def false_alarms(bench, thorough):
    program = bench.program("verified")
    for what, compared in (("columns", 400), ("hole", 1), ("padding", 1)):
        for _ in range(5 if thorough else 1):
            outcome = bench.run(program, 2, [what], settings=VERIFIED)
            bench.passes(what, outcome)
            agrees(bench, what, outcome)
            ends_with(bench, what, outcome, (compared, 0, {}))


def early_ends(bench):
    """The rank that ends a job early prints what it has compared so far. (After a fatal error the
    MPIs end the process without exit(), so that nothing can be printed.)"""
    program = bench.program("verified")
    for how in ("abort", "exit"):
        with tempfile.TemporaryDirectory() as folder:
            last_words = pathlib.Path(folder) / "last_words"
            outcome = bench.run(program, 2, [how, last_words], settings=VERIFIED)
            if last_words.exists():  # Open MPI 5 ends its own message with a zero byte
                outcome.err += "\n" + last_words.read_text(encoding="utf-8")
        bench.expect(outcome.status != 0, f"{how}: status {outcome.status}")
        ends_with(bench, how, outcome, (5, 0, {}), rank=1)
