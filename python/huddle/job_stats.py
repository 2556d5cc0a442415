# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads the statistics of all ranks of an MPI job, which `huddle run --stats-json FILE` writes."""
from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Optional

from .fields import BadResults

SCHEMA = 1


class OverRanks(NamedTuple):
    """A time over the ranks that take part, in seconds."""
    least: float
    mean: float
    most: float


@dataclass(frozen=True)
class JobRow:
    """The calls of one kind on the communicators with the same ranks."""
    operation: str
    bytes_per_call: float
    calls: int
    is_handled: bool
    how: str  # the algorithm, or the reason for which the MPI ran the calls
    seconds: OverRanks
    waiting: Optional[OverRanks]  # None if the time could not be divided, as for transfer
    transfer: Optional[OverRanks]


@dataclass(frozen=True)
class Communicator:
    ranks: List[int]
    rows: List[JobRow]


@dataclass(frozen=True)
class LateRank:
    """The rank that entered most calls last."""
    rank: int
    share: float  # of the calls
    late_ns: float  # in these calls, the mean time after the other ranks' mean


@dataclass(frozen=True)
class JobStats:
    huddle: str
    was_off: bool
    is_calibrated: bool
    ranks: int
    run_seconds: float
    seconds: OverRanks
    waiting: OverRanks
    transfer: OverRanks
    undivided_seconds: float
    latest: Optional[LateRank]
    saving_seconds: Optional[float]  # only if huddle was off
    communicators: List[Communicator]
    not_handled: Dict[str, int]  # calls by collective, on rank 0

    def html(self):
        """Returns a self-contained HTML document."""
        from .job_stats_page import job_page
        return job_page(self)


def job_stats_from(document):
    if document.raw("schema") != SCHEMA:
        raise BadResults(f"schema {document.raw('schema')} is unknown: this version of huddle reads only {SCHEMA}; "
                         "another one has written it")
    others = document.object("not_handled")
    return JobStats(
        document.text("huddle"), document.flag("off"), document.flag("calibrated"), document.whole("ranks"),
        document.positive_or_zero("run_seconds"), _over_ranks(document, "seconds"),
        _over_ranks(document, "waiting_seconds"), _over_ranks(document, "transfer_seconds"),
        document.positive_or_zero("undivided_seconds"),
        _late_rank(document.object("latest_rank")) if document.has("latest_rank") else None,
        document.positive_or_zero("predicted_saving_seconds") if document.has("predicted_saving_seconds") else None,
        [_communicator(one) for one in document.objects("communicators")],
        {name: others.whole(name) for name in others.keys()})


def _over_ranks(given, key):
    times = given.object(key)
    return OverRanks(*(times.positive_or_zero(name) for name in ("min", "mean", "max")))


def _late_rank(given):
    return LateRank(given.whole("rank"), given.positive_or_zero("share_of_calls"), given.positive_or_zero("late_ns"))


def _communicator(given):
    return Communicator(given.wholes("ranks"), [_row(one) for one in given.objects("collectives")])


def _row(given):
    is_divided = given.has("waiting_seconds")
    return JobRow(given.text("operation"), given.positive_or_zero("bytes_per_call"), given.whole("calls"),
                  given.flag("handled"), _how(given), _over_ranks(given, "seconds"),
                  _over_ranks(given, "waiting_seconds") if is_divided else None,
                  _over_ranks(given, "transfer_seconds") if is_divided else None)


def _how(given):
    if given.flag("handled"):
        return given.text("algorithm")
    details = f" ({given.text('fallback_details')})" if given.has("fallback_details") else ""
    return f"MPI: {given.text('fallback_reason')}{details}"
