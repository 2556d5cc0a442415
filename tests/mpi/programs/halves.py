# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Jobs in which only some ranks run huddle: no rank may wait for one that does not take part, and
huddle must handle communicators whose ranks all have it."""

RANKS = 3
WITHOUT = 1
# The change of the environment of the rank that differs.
CHANGES = {"nothing preloaded": "-u LD_PRELOAD", "HUDDLE=off": "HUDDLE=off",
           "another HUDDLE_ACTIVATE_AFTER": "HUDDLE_ACTIVATE_AFTER=5"}
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


def halves(bench, thorough):
    program = bench.program("communicators")
    for what, change in CHANGES.items():
        script = f'[ {RANK} = {WITHOUT} ] && exec env {change} "$0" "$@"; exec "$0" "$@"'
        for settings in ({"ACTIVATE_AFTER": "0"}, {"ACTIVATE_AFTER": "8"}) if thorough else ({"ACTIVATE_AFTER": "0"},):
            outcome = bench.run("/bin/sh", RANKS, ["-c", script, program], settings=settings)
            bench.passes(what, outcome)
            bench.takes(what, outcome, ("allreduce",))
            bench.passed_for(what, outcome, "allreduce", "ranks without huddle")
            said = outcome.err.count(f"rank {WITHOUT} runs without huddle")
            bench.expect(said == 1, f"{what}: it is said {said} times\n{outcome.tail()}")
