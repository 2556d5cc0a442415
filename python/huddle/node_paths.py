# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads the output of `huddle paths --json` about the paths inside a node, and that of `huddle ucx --check --json`
about how UCX uses them."""
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from .fields import BadResults
from .statistics import Interval
from .words import size_text

PATHS_SCHEMA = 1
CHECK_SCHEMA = 2


@dataclass(frozen=True)
class PathPoint:
    """The time of a message of one size by each path, while all ranks receive one."""
    size_bytes: int
    ns: Dict[str, float]
    fastest: str
    by_ucx: List[Tuple[str, str, float]]  # UCX's first version with this choice, its path, ns

    def gb_per_s(self, path):
        return self.size_bytes / self.ns[path]


@dataclass(frozen=True)
class NodePaths:
    huddle: str
    machine_name: str
    is_measured: bool
    ranks: int
    points: List[PathPoint]

    @property
    def names(self):
        """The names of all paths, in the order of the machine file."""
        return list(dict.fromkeys(name for point in self.points for name in point.ns))

    def html(self):
        """Returns a self-contained HTML document."""
        from .node_paths_page import paths_page
        return paths_page(self)


@dataclass(frozen=True)
class UcxPoint:
    operation: str
    size_bytes: int
    without_ns: float
    with_ns: float
    huddle_ns: float
    with_ratio: Interval  # above 1: faster than without the settings
    huddle_ratio: Interval


@dataclass(frozen=True)
class UcxRuns:
    """The results of one job with `ranks` ranks. All jobs run the same collectives."""
    version: str
    ranks: int
    oversubscribed: bool
    points: List[UcxPoint]
    dropped: List[Tuple[str, str]]  # a setting, and the reason


@dataclass(frozen=True)
class UcxProgram:
    """The times of whole runs of the user's program, without and with the settings."""
    without_seconds: List[float]
    with_seconds: List[float]
    ratio: Interval  # above 1: faster with the settings


@dataclass(frozen=True)
class UcxCheck:
    huddle: str
    machine_name: str
    ucx_version: str
    settings: List[Tuple[str, str, str]]  # name, value, the figure that it is derived from
    untested: List[Tuple[str, str, str]]  # likewise, for those that are written as comments
    network_now: List[str]  # sentences about messages inside the node that use a network device
    network_advised: List[str]
    runs: List[UcxRuns]
    program: Optional[UcxProgram]  # if a program was run instead

    def html(self):
        """Returns a self-contained HTML document."""
        from .node_paths_page import ucx_page
        return ucx_page(self)


def _refuse_other_schemas(document, known):
    if document.raw("schema") != known:
        raise BadResults(f"schema {document.raw('schema')} is unknown: this version of huddle reads only {known}; "
                         "another one has written it")


def node_paths_from(document):
    _refuse_other_schemas(document, PATHS_SCHEMA)
    points = [_path_point(one) for one in document.objects("points")]
    if not points:
        raise BadResults("the file contains no sizes")
    return NodePaths(document.text("huddle"), document.text("machine"), document.flag("measured"),
                     document.whole("ranks"), points)


def _path_point(given):
    times = {one.text("path"): one.positive("ns") for one in given.objects("paths")}
    fastest = given.text("fastest")
    if fastest not in times:
        raise BadResults(f"'{given.path('fastest')}' is not one of the paths of this point")
    taken = [(one.text("from_version"), one.text("path"), one.positive("ns"))
             for one in given.objects("ucx")]
    return PathPoint(int(given.positive("bytes")), times, fastest, taken)


def ucx_check_from(document):
    _refuse_other_schemas(document, CHECK_SCHEMA)
    return UcxCheck(
        document.text("huddle"), document.text("machine"), document.text("version"),
        _settings(document.objects("settings")), _settings(document.objects("untested")),
        [_stray(one) for one in document.objects("network_now")],
        [_stray(one) for one in document.objects("network_advised")],
        [_runs(one) for one in document.objects("runs")],
        _program(document.object("program")) if document.has("program") else None)


def _settings(given):
    return [(one.text("name"), one.text("value"), one.text("figure")) for one in given]


def _program(given):
    return UcxProgram(given.positives("without_seconds"), given.positives("with_seconds"),
                      _ratio(given, "low", "ratio", "high"))


def _stray(given):
    return (f"{given.positive('share') * 100:.0f} % of each message of at least "
            f"{size_text(given.positive_or_zero('from_bytes'))} go through "
            f"{given.text('transport')}/{given.text('device')}")


def _runs(given):
    return UcxRuns(given.text("mpi_version"), given.whole("ranks"), given.flag("oversubscribed"),
                   [_ucx_point(one) for one in given.objects("points")],
                   [(one.text("name"), one.text("why")) for one in given.objects("dropped")])


def _ucx_point(given):
    return UcxPoint(given.text("operation"), given.whole("bytes"), given.positive("without_ns"),
                    given.positive("with_ns"), given.positive("huddle_ns"),
                    _ratio(given, "low", "ratio", "high"),
                    _ratio(given, "huddle_low", "huddle_ratio", "huddle_high"))


def _ratio(given, low, middle, high):
    return Interval(given.positive(low), given.positive(middle), given.positive(high))
