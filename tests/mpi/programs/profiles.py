# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""`huddle profile`: the file contains exactly what a program sent, in every mode of MPI."""
import collections
import json
import pathlib
import re
import subprocess
import tempfile

import job

RANKS = 4
PRELOAD = "libhuddle_profile_preload.so"


def command_of(bench, output, started):
    """Returns the command for `huddle profile`, through the program beside the libraries as users
    call it."""
    huddle = bench.libraries.parents[1] / "bin/huddle"
    return [str(huddle), "profile", "--mode", "ranks", "--output", str(output), *started]


def profiled(bench, output, ranks, program, arguments=(), environment=None):
    started = bench.peer.job(ranks, program, arguments, environment)
    return job.run(command_of(bench, output, started), bench.peer.environment(), 300.0)


def entries_of(section):
    return {(sender, to): (size, messages) for sender, to, size, messages in section["entries"]}


def written(folder):
    """Returns what the ranks recorded: {(kind, phase): {(from, to): [bytes, messages]}}."""
    told = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for path in pathlib.Path(folder).iterdir():
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, phase, sender, to, size = line.split()
            amount = told["c" if kind == "c" else "p", phase][int(sender), int(to)]
            amount[0] += int(size)
            amount[1] += 1
    return {key: {pair: tuple(amount) for pair, amount in pairs.items()} for key, pairs in told.items()}


def added(parts):
    total = collections.defaultdict(lambda: (0, 0))
    for part in parts:
        for pair, (size, messages) in part.items():
            total[pair] = (total[pair][0] + size, total[pair][1] + messages)
    return dict(total)


def difference(told, counted):
    pairs = sorted(set(told) | set(counted))
    lines = [f"{pair}: sent {told.get(pair)}, counted {counted.get(pair)}" for pair in pairs
             if told.get(pair) != counted.get(pair)]
    return "\n".join(lines)


def every_mode(bench):
    program = bench.program("sends")
    with tempfile.TemporaryDirectory() as folder:
        told_folder = pathlib.Path(folder) / "told"
        told_folder.mkdir()
        output = pathlib.Path(folder) / "comm.json"
        outcome = profiled(bench, output, RANKS, program, [told_folder])
        if not bench.passes("a profile of every mode", outcome):
            return
        bench.expect(sorted(entry.name for entry in pathlib.Path(folder).iterdir()) == ["comm.json", "told"],
                     "a profile leaves something behind")
        document = json.loads(output.read_text(encoding="utf-8"))
        told = written(told_folder)
    bench.expect(document["n"] == RANKS and "incomplete" not in document, "a profile of all ranks is whole")
    phases = {phase["name"]: phase for phase in document["phases"]}
    bench.expect(set(phases) == {"1", "2"}, f"phases are {sorted(phases)}")
    for name, phase in phases.items():
        for kind, section in (("p", phase), ("c", {"entries": phase["collectives"]})):
            wrong = difference(told.get((kind, name), {}), entries_of(section))
            bench.expect(not wrong, f"phase {name}, {'collectives' if kind == 'c' else 'sends'}:\n{wrong}")
    for kind, section in (("p", document), ("c", document["collectives"])):
        wrong = difference(added(part for (k, _), part in told.items() if k == kind), entries_of(section))
        bench.expect(not wrong, f"in all phases: {wrong}")


def deaths(bench):
    """The file contains what ranks sent that die, or that their launcher then ends."""
    program = bench.program("dying_sender")
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "comm.json"
        outcome = profiled(bench, output, RANKS, program)
        bench.expect(outcome.in_time and outcome.status != 0, f"a rank dies: status {outcome.status}")
        if not bench.expect(output.exists(), f"a rank dies: there is no file\n{outcome.tail()}"):
            return
        document = json.loads(output.read_text(encoding="utf-8"))
    bench.expect(document.get("incomplete") is True and 1 in document["ended_before_finalize"],
                 "a rank dies: the file is not marked")
    counted = entries_of(document)
    for rank in range(RANKS):
        bench.expect(counted.get((rank, (rank + 1) % RANKS)) == (5 * 100, 5),
                     f"a rank dies: rank {rank} sent {counted.get((rank, (rank + 1) % RANKS))}")
    bench.expect("ended before MPI_Finalize" in outcome.err, "a rank dies: nothing is said")


def run(bench, _thorough):
    every_mode(bench)
    deaths(bench)
