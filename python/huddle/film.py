# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads the output of `huddle watch --json` or `huddle profile --json`: decisions about the placement of a program's
threads, in the order of time."""
from dataclasses import dataclass
from typing import Dict, List, Tuple

from .fields import BadResults
from .machine import Machine, machine_from

SCHEMA = 1
# Reasons if the events do not show which threads share most: they are too few, or all pairs have about the same number.
THIN = {"too few touches": "too few", "all alike": "about as many for every pair"}
KEEPS = ("best already",)  # reasons for which the best placement found is not shown, because it is no better


@dataclass(frozen=True)
class Frame:
    """One decision, and the information that it was based on."""
    time_s: float
    reason: str  # "too few touches", "move"
    text: str
    seats: Dict[int, int]  # the processor of each active thread
    pairs: Dict[Tuple[int, int], float]  # events: how often two threads touched the same page, with older ones faded
    events: float  # the sum of these
    changes: List[Tuple[int, int, int]]  # thread, from, to: the better placement, if one was found
    gives_back: bool

    @property
    def moves(self):
        return self.reason == "move"

    @property
    def why_thin(self):
        """Why differences between pairs may be due to chance; empty if they are not."""
        return THIN.get(self.reason, "")


@dataclass(frozen=True)
class Placement:
    """The predicted communication time of a placement."""
    name: str
    ns: float


@dataclass(frozen=True)
class Film:
    program: str
    command: str
    machine_name: str
    machine: Machine
    was_carried_out: bool
    touches: int  # accesses to pages that were observed
    notes: List[str]
    frames: List[Frame]
    placements: List[Placement]  # empty: nothing was compared

    @property
    def threads(self):
        """The threads that were active at any decision."""
        return sorted({thread for frame in self.frames for thread in frame.seats})

    @property
    def moves(self):
        return sum(frame.moves for frame in self.frames)

    def html(self):
        """Returns a self-contained HTML document."""
        from .film_page import film_page  # not at the top: film_page and its imports need this module's
        return film_page(self)


def film_from(document):
    if document.raw("schema") != SCHEMA:
        raise BadResults(f"schema {document.raw('schema')} is unknown: this version of huddle reads only {SCHEMA}; "
                         "a newer one may have written it")
    if not document.has("machine_model"):
        raise BadResults("the file does not describe its machine, because an early version of huddle wrote it; "
                         "write it again with 'huddle watch --replay FILE --json'")
    machine = machine_from(document.object("machine_model"))
    frames = [_frame(one, machine) for one in document.objects("decisions")]
    placements = []
    if document.has("compared"):
        placements = _placements(document.object("compared"))
    return Film(document.text("program"), document.text("command"), document.text("machine"), machine,
                document.flag("moves"), document.whole("touches"), document.texts("notes"), frames, placements)


def _frame(given, machine):
    threads = given.wholes("threads")
    seats = _by_thread(given, "seats", threads, machine)
    changes = []
    if given.has("wanted") and given.text("reason") not in KEEPS:
        # From the seats that are drawn. 'present' differs from them if threads share a hardware thread.
        wanted = _by_thread(given, "wanted", threads, machine)
        changes = [(thread, seats[thread], wanted[thread]) for thread in threads
                   if seats[thread] != wanted[thread]]
    return Frame(given.whole("time_ns") / 1e9, given.text("reason"), given.text("text"), seats,
                 _pairs(given, set(threads)), given.positive_or_zero("counts"), changes, given.flag("gives_back"))


def _by_thread(given, key, threads, machine):
    processors = given.wholes(key)
    if len(processors) != len(threads):
        raise BadResults(f"'{given.path(key)}' must contain one hardware thread for each thread")
    for processor in processors:
        if processor not in machine.processors:
            raise BadResults(f"'{given.path(key)}': this machine has no hardware thread {processor}")
    return dict(zip(threads, processors))


def _pairs(given, threads):
    pairs = {}
    for one in given.lists("pairs"):
        is_pair = (len(one) == 3 and all(end in threads for end in one[:2]) and one[0] != one[1]
                   and isinstance(one[2], (int, float)) and one[2] >= 0)
        if not is_pair:
            raise BadResults(f"'{given.path('pairs')}' contains an entry that is not two active threads "
                             "and a number")
        pairs[tuple(sorted(one[:2]))] = one[2]
    return pairs


def _placements(given):
    rows = [Placement(one.text("placement"), one.positive_or_zero("ns"))
            for one in given.objects("placements")]
    huddle = given.object("huddle")
    return rows + [Placement("huddle", huddle.positive_or_zero("settled_ns"))] if rows else []
