# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads the description of the measured machine, in the format of `huddle topo --json`."""
from dataclasses import dataclass
from typing import List, Optional, Tuple

from .fields import BadResults, whole_numbers


@dataclass(frozen=True)
class Level:
    """A level of the topology, such as l3: the processors of each object, and its bytes if it is a cache."""
    name: str
    groups: List[Tuple[int, ...]]
    bytes: List[int]


@dataclass(frozen=True)
class Line:
    """The time of a cache line between processors whose closest common object is of this level."""
    level: str
    one_way_ns: float
    shared_ns: float
    spread: float
    origin: str


@dataclass(frozen=True)
class Pairs:
    """The time of a cache line between any two cores, by their processors."""
    processors: List[int]
    one_way_ns: List[List[float]]


@dataclass(frozen=True)
class Memory:
    number: int
    processors: Tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class Machine:
    cpu_model: str
    processors: List[int]
    cores: int
    levels: List[Level]  # from the innermost to the outermost
    memories: List[Memory]
    lines: List[Line]
    pairs: Optional[Pairs]
    doubts: List[str]


def machine_from(given):
    topology = given.object("topology")
    return Machine(cpu_model=given.text("cpu_model"),
                   processors=topology.wholes("pus"),
                   cores=topology.whole("cores"),
                   levels=[_level(one) for one in topology.objects("levels")],
                   memories=[Memory(one.whole("number"), tuple(one.wholes("cpus")),
                                    one.whole("bytes")) for one in topology.objects("numa")],
                   lines=[_line(one) for one in given.objects("line")],
                   pairs=_pairs(given.object("pairs")) if given.has("pairs") else None,
                   doubts=[f"{one.text('what')}: {one.text('why')}"
                           for one in given.objects("doubts")])


def _level(given):
    groups = [tuple(whole_numbers(group, given.path("groups"))) for group in given.raw("groups")]
    sizes = given.wholes("bytes") if given.has("bytes") else [0] * len(groups)
    if len(sizes) != len(groups):
        raise BadResults(f"'{given.path('bytes')}' has not one number for each group")
    return Level(given.text("name"), groups, sizes)


def _line(given):
    return Line(given.text("level"), given.positive("one_way_ns"), given.positive("shared_ns"),
                given.raw("spread"), given.text("origin"))


def _pairs(given):
    processors = given.wholes("pus")
    rows = given.raw("one_way_ns")
    square = isinstance(rows, list) and len(rows) == len(processors) and all(
        isinstance(row, list) and len(row) == len(processors)
        and all(isinstance(one, (int, float)) for one in row) for row in rows)
    if not square:
        raise BadResults(f"'{given.path('one_way_ns')}' has not one number for each pair")
    return Pairs(processors, rows)
