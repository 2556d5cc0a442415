#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Prints the counters of tests/lab/hosts_traffic.sh as a table: hosts_traffic_result.py TRAFFIC CLAIMS.

TRAFFIC has lines of LAYOUT SIDE OPERATION HOST SENT RECEIVED. CLAIMS has lines of LAYOUT, OPERATION, the output of
huddle explain --json and that of huddle schedule --json, separated by tabs. Exits with status 1 if the bytes of a host
differ from the schedule, or if all hosts together send more than the MPI alone.
"""
import collections
import json
import pathlib
import sys

SEATS = {"blocks": (2, 2, 2, 2), "turns": (2, 2, 2, 2), "uneven": (3, 1, 2, 1), "five": (1, 1, 1, 1, 1)}
# Allowance for the headers of TCP and IP, acknowledgements, and the MPI's own protocol.
MORE_THAN_CLAIMED = 1.08
MORE_THAN_NATIVE = 1.02


def block_bytes(operation, answer, schedule, seats, sender, block):
    """Returns the bytes of a block in a message, or None for an all-to-all, whose blocks differ by destination."""
    if operation in ("allgather", "reduce_scatter_block"):
        of_rank = answer["bytes"] if operation == "allgather" else answer["bytes"] / sum(seats)
        return of_rank * seats[block]
    if operation == "alltoall":
        return None
    return answer["bytes"] / schedule["blocks"]


def claimed(operation, answer, schedule, seats):
    """Returns the bytes that each host sends and receives by the schedule."""
    sent, received = [0.0] * len(seats), [0.0] * len(seats)
    for one_round in schedule["rounds"]:
        for message in one_round["messages"]:
            here, there = message["from"], message["to"]
            bytes_ = 0.0
            for first, count in message["blocks"]:
                for block in range(first, first + count):
                    size = block_bytes(operation, answer, schedule, seats, here, block)
                    # A block of an all-to-all belongs to one pair of nodes. If others forward it, all have equal sizes.
                    bytes_ += answer["bytes"] * seats[here] * seats[there] if size is None else size
            sent[here] += bytes_
            received[there] += bytes_
    return sent, received


def main():
    counted = collections.defaultdict(dict)
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        layout, side, operation, host, sent, received = line.split()
        counted[layout, operation, side][int(host.removeprefix("h")) - 1] = (float(sent), float(received))
    wrong = []
    print("| operation, placement | schedule | sent by the hosts, KiB | claimed | most of a host over its claim "
          "| all by native's |")
    print("|---|---|---|---|---|---|")
    for line in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines():
        layout, operation, answer, schedule = line.split("\t")
        answer, schedule, seats = json.loads(answer), json.loads(schedule), SEATS[layout]
        sent, received = claimed(operation, answer, schedule, seats)
        ours, native = (counted[layout, operation, side] for side in ("huddle", "native"))
        if len(ours) != len(seats) or len(native) != len(seats):
            wrong.append(f"{operation}, {layout}: not all hosts were counted")
            continue
        # A host that only receives still sends acknowledgements.
        over = []
        for host in range(len(seats)):
            for actual, claim, other in ((ours[host][0], sent[host], received[host]),
                                         (ours[host][1], received[host], sent[host])):
                allowed = claim * MORE_THAN_CLAIMED + other * (MORE_THAN_CLAIMED - 1)
                over.append(actual / max(claim, 1) - 1 if claim else 0)
                if not 0.99 * claim <= actual <= allowed:
                    wrong.append(f"{operation}, {layout}: host {host + 1} {actual:.0f} bytes, claimed {claim:.0f}")
        all_ours, all_native = (sum(host[0] for host in side.values()) for side in (ours, native))
        ratio = all_ours / all_native
        if ratio > MORE_THAN_NATIVE:
            wrong.append(f"{operation}, {layout}: {ratio:.2f} times what the MPI sends alone")
        if operation == "allgather":
            foreign = [answer["bytes"] * (sum(seats) - own) for own in seats]
            if any(abs(claim - once) > 1 for claim, once in zip(received, foreign)):
                wrong.append(f"{operation}, {layout}: a foreign block does not come once to a host")
        part = next(part for part in answer["parts"] if part["where"] == "between")
        print(f"| {operation}, {layout} | {part['algorithm']} "
              f"| {' '.join(f'{ours[host][0] / 1024:.0f}' for host in range(len(seats)))} "
              f"| {' '.join(f'{bytes_ / 1024:.0f}' for bytes_ in sent)} | {100 * max(over):.1f} % | {ratio:.2f} |")
    for sentence in wrong:
        print(f"FAILED: {sentence}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
