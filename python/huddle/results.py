# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads and checks the results of `huddle bench --json FILE`."""
import json
import statistics
from dataclasses import dataclass
from typing import Dict, List, Optional

from .fields import BadResults, Fields
from .film import film_from
from .job_stats import job_stats_from
from .machine import Machine, machine_from
from .node_paths import node_paths_from, ucx_check_from
from .statistics import Interval, batches_interval, factor_between, geometric_mean

SCHEMA = 1
UNSTEADY, PASSED, BELOW_BAR, MISPREDICTED = "~", "=", "!", "?"  # the marks in huddle's own tables
MISPREDICTED_FROM = 2  # predictions that are off by more than this factor are marked


@dataclass(frozen=True)
class Candidate:
    """An algorithm for an operation, and its predicted time."""
    algorithm: str
    parameters: str
    predicted_ns: float


@dataclass(frozen=True)
class Choice:
    """The candidate that huddle chose for a point, and the best of each other algorithm, fastest first."""
    chosen: Candidate
    others: List[Candidate]


@dataclass(frozen=True)
class Point:
    """One operation of one size: the time of an MPI's own collective and that of huddle's."""
    operation: str
    size_bytes: int
    rival: str  # the MPI whose own collective was measured
    native_ns: Interval
    huddle_ns: Interval
    ratio: Interval  # above 1: huddle is faster
    batches: int
    stable: bool
    passed_calls: int
    below_bar: bool
    mpis_ns: Dict[str, float]  # the time of each MPI while the rival was chosen, if there were several
    choice: Optional[Choice]
    floor_ns: Optional[float]

    @property
    def marks(self):
        return (UNSTEADY * (not self.stable) + PASSED * (self.passed_calls > 0)
                + BELOW_BAR * self.below_bar)

    @property
    def times_off(self):
        """The factor by which the prediction was off. None without a prediction, or if calls fell back to the MPI."""
        if self.choice is None or self.passed_calls > 0:
            return None
        return factor_between(self.choice.chosen.predicted_ns, self.huddle_ns.middle)

    @property
    def is_mispredicted(self):
        return self.times_off is not None and self.times_off > MISPREDICTED_FROM

    @property
    def is_faster(self):
        return self.ratio.low > 1

    @property
    def is_slower(self):
        return self.ratio.high < 1


@dataclass(frozen=True)
class Mpi:
    name: str
    version: str

    @property
    def short_version(self):
        """The version up to the first comma, after which some MPIs describe how they were built."""
        return self.version.split(",")[0]


@dataclass(frozen=True)
class Settings:
    sizes: str
    ops: str  # empty: all
    quick: bool
    heap: bool  # the ranks' buffers were in the shared heap
    timing: str  # the benchmark loop: apart, osu or cold
    cold_calls: Optional[int]  # calls per start, if timing is cold
    mpi: str  # the launcher, if one MPI was measured; empty: unknown, or the best of several
    mpi_library: str  # as in the option; empty: not given
    peers: str  # the folder of several MPIs, as in the option; empty: none, or unknown
    point_seconds: float
    seconds: Optional[int]  # for all points together, if limited
    half_width: float
    confidence: float
    bar: float


@dataclass(frozen=True)
class Results:
    """The results of a run of `huddle bench` with an MPI."""
    huddle: str  # its version
    machine_name: str
    machine_file: str  # empty: none, generic figures
    calibrated: bool
    machine: Optional[Machine]  # files of early versions do not describe it
    mpis: List[Mpi]
    under: str  # the MPI that huddle ran in
    ranks: int
    oversubscribed: bool
    interrupted: bool
    settings: Settings
    notes: List[str]
    points: List[Point]

    @property
    def has_peers(self):
        return len(self.mpis) > 1

    @property
    def operations(self):
        """The operations, in the order in which they were measured."""
        return list(dict.fromkeys(point.operation for point in self.points))

    @property
    def sizes(self):
        """The sizes of all operations that move data, in bytes."""
        return sorted({point.size_bytes for point in self.points if point.size_bytes > 0})

    def of(self, operation):
        points = sorted((point for point in self.points if point.operation == operation),
                        key=lambda point: point.size_bytes)
        if not points:
            raise KeyError(f"{operation} was not measured; measured are {', '.join(self.operations)}")
        return points

    def mean_ratio(self, operation=None):
        """Returns the geometric mean of the ratios, of one operation or all."""
        points = self.points if operation is None else self.of(operation)
        return geometric_mean([point.ratio.middle for point in points])

    def model_error(self):
        """Returns the median of the factors by which predictions were off, or None without predictions."""
        factors = [point.times_off for point in self.points if point.times_off is not None]
        return statistics.median(factors) if factors else None

    def native_ns(self, point):
        """Returns the time of the MPI that huddle ran in. With several MPIs this is a rough value, from the few samples
        by which the best one was chosen."""
        return point.mpis_ns.get(self.under, point.native_ns.middle)

    def rows(self):
        """Returns a dictionary for each point, for pandas.DataFrame."""
        return [{"operation": point.operation, "bytes": point.size_bytes, "rival": point.rival,
                 "native_ns": self.native_ns(point), "rival_ns": point.native_ns.middle,
                 "huddle_ns": point.huddle_ns.middle, "ratio": point.ratio.middle,
                 "ratio_low": point.ratio.low, "ratio_high": point.ratio.high,
                 "stable": point.stable, "passed_calls": point.passed_calls,
                 "below_bar": point.below_bar, "floor_ns": point.floor_ns,
                 "predicted_ns": point.choice.chosen.predicted_ns if point.choice else None,
                 "algorithm": point.choice.chosen.algorithm if point.choice else None}
                for point in self.points]

    def heat_map(self):
        """Returns a matplotlib figure of the ratios by operation and size."""
        from .plots.heat_map import heat_map_figure  # not at the top: importing matplotlib takes a second
        return heat_map_figure(self)

    def latency(self, operation):
        """Returns a matplotlib figure of the times and ratios of one operation by size."""
        from .plots.latency import latency_figure
        return latency_figure(self, operation)

    def lines(self):
        """Returns a matplotlib figure of core-to-core latencies of a cache line, or None."""
        from .plots.lines import lines_figure
        return lines_figure(self.machine)

    def html(self):
        """Returns the report, a self-contained HTML document."""
        from .page import page
        return page(self)

    def _repr_html_(self):
        from .page import notebook_view
        return notebook_view(self)


def load(path):
    """Reads a file, as from_text does. Raises BadResults or OSError."""
    with open(path, "rb") as file:
        try:
            return from_text(file.read().decode("utf-8"))
        except UnicodeDecodeError as error:
            raise BadResults(f"{path}: this is not text: {error}") from error
        except BadResults as error:
            raise BadResults(f"{path}: {error}") from error


def from_text(text):
    """Reads the content of a file: the Results of a benchmark, the Film of a program's threads, the paths inside a
    node, or the statistics of an MPI job. Raises BadResults."""
    if not text.strip():
        raise BadResults("the file is empty; was the program that writes it interrupted?")
    try:
        data = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BadResults(f"invalid or incomplete JSON: {error}") from error
    document = Fields(data)
    if document.has("decisions") and document.has("command"):
        return film_from(document)
    if document.has("command") and document.has("schema"):
        if document.raw("command") == "paths":
            return node_paths_from(document)
        if document.raw("command") == "ucx --check":
            return ucx_check_from(document)
        if document.raw("command") == "stats":
            return job_stats_from(document)
    return _results(document)


def _no_number(word):
    raise ValueError(f"{word} is not a number")


def _refuse_others(document):
    if not document.has("schema") or not document.has("command"):
        raise BadResults("this is not a result of huddle: 'schema' or 'command' is missing")
    if document.raw("schema") != SCHEMA:
        raise BadResults(f"schema {document.raw('schema')} is unknown: this version of huddle reads only {SCHEMA}; "
                         "a newer one may have written it")
    if document.text("command") != "bench":
        raise BadResults(f"this is the output of 'huddle {document.text('command')}'; a report requires the output "
                         "of 'huddle bench --json FILE', 'huddle watch --json', 'huddle paths --json', "
                         "'huddle ucx --check --json' or 'huddle run --stats-json FILE'")
    if document.text("what") != "mpi":
        command = "--guidelines" if document.text("what") == "guidelines" else "engine"
        raise BadResults(f"this is the output of 'huddle bench {command}'; a report requires that of "
                         "'huddle bench --json FILE'")


def _results(document):
    _refuse_others(document)
    settings = _settings(document.object("settings"))
    mpis = [Mpi(one.text("name"), one.text("version")) for one in document.objects("mpis")]
    points = [_point(one, [mpi.name for mpi in mpis], settings.confidence)
              for one in document.objects("points")]
    if not mpis or not points:
        raise BadResults("the file contains no measured point")
    return Results(huddle=document.text("huddle"),
                   machine_name=document.text("machine"),
                   machine_file=document.text("machine_file"),
                   calibrated=document.flag("calibrated"),
                   machine=_machine(document),
                   mpis=mpis,
                   under=document.text("under"),
                   ranks=document.whole("ranks"),
                   oversubscribed=document.flag("oversubscribed"),
                   interrupted=document.flag("interrupted"),
                   settings=settings,
                   notes=document.texts("notes"),
                   points=points)


def _machine(document):
    return machine_from(document.object("machine_model")) if document.has("machine_model") else None


def _settings(given):
    return Settings(sizes=given.text("sizes"),
                    ops=given.text("ops"),
                    quick=given.flag("quick"),
                    heap=given.flag("heap") if given.has("heap") else False,
                    timing=_text_or_nothing(given, "timing") or "apart",
                    cold_calls=given.whole("cold_calls") if given.has("cold_calls") else None,
                    mpi=_text_or_nothing(given, "mpi"),
                    mpi_library=_text_or_nothing(given, "mpi_library"),
                    peers=_text_or_nothing(given, "peers"),
                    point_seconds=given.positive("point_seconds"),
                    seconds=given.whole("seconds") if given.has("seconds") else None,
                    half_width=given.positive("half_width"),
                    confidence=given.positive("confidence"),
                    bar=given.positive("bar"))


def _text_or_nothing(given, key):
    return given.text(key) if given.has(key) else ""


def _point(given, mpi_names, confidence):
    estimate = given.object("estimate")
    selection = given.positives("selection_ns") if given.has("selection_ns") else []
    return Point(operation=given.text("operation"),
                 size_bytes=given.whole("bytes"),
                 rival=given.text("rival"),
                 native_ns=batches_interval(given.batches("native_batches_ns"), confidence),
                 huddle_ns=batches_interval(given.batches("huddle_batches_ns"), confidence),
                 ratio=Interval(estimate.positive("low"), estimate.positive("ratio"),
                                estimate.positive("high")),
                 batches=estimate.whole("batches"),
                 stable=given.flag("stable"),
                 passed_calls=given.whole("passed_calls"),
                 below_bar=given.flag("below_bar"),
                 mpis_ns=dict(zip(mpi_names, selection)),
                 choice=_choice(given.object("choice")) if given.has("choice") else None,
                 floor_ns=given.positive("floor_ns") if given.has("floor_ns") else None)


def _choice(given):
    return Choice(_candidate(given), [_candidate(one) for one in given.objects("others")])


def _candidate(given):
    return Candidate(given.text("algorithm"), given.text("parameters"), given.positive("predicted_ns"))
