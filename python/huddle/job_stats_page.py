# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""A page about the collectives of an MPI job: how long all its ranks waited in them and transferred data."""
import html

from .plots.canvas import svg_element
from .plots.job_stats import job_figure
from .plots.palette import STAND_INS
from .shell import whole_document
from .words import counted, size_text, time_text

escape = html.escape

HEADS = (("operation", "words"), ("bytes", ""), ("calls", "aside"), ("time", ""), ("least", "aside"),
         ("most", "aside"), ("waiting", ""), ("transfer", ""))


def job_page(job):
    body = (f"<header><h1>Collectives of an MPI job with {counted(job.ranks, 'rank')}</h1>\n"
            f'<p class="summary">{escape(" ".join(_sentences(job)))}</p></header>\n'
            f"{_picture(job)}{_tables(job)}{_not_handled(job)}"
            f"<footer>Measured by huddle {escape(job.huddle)} (run --stats-json); drawn by huddle report.</footer>")
    return whole_document(f"huddle run --stats-json: {counted(job.ranks, 'rank')}", body)


def _seconds(seconds):
    return time_text(1e9 * seconds)


def _percent(part, whole):
    return 100 * part / whole if whole > 0 else 0


def _has_rows(job):
    return any(communicator.rows for communicator in job.communicators)


def _sentences(job):
    """Yields the answer: the share of collectives in the run time, its parts, and what huddle might save."""
    if not _has_rows(job):
        yield "The program called no blocking collectives."
        return
    yield (f"Blocking collectives took {_percent(job.seconds.mean, job.run_seconds):.0f} % of the run: "
           f"{_seconds(job.seconds.mean)} of {_seconds(job.run_seconds)}, mean of {counted(job.ranks, 'rank')}.")
    yield (f"{_seconds(job.waiting.mean)} of this was waiting for ranks that entered later, and "
           f"{_seconds(job.transfer.mean)} transfer.")
    if job.undivided_seconds > 0:
        yield (f"{_seconds(job.undivided_seconds)} cannot be divided, because the ranks' calls differ or several "
               "threads make them.")
    if job.latest is not None:
        yield (f"Rank {job.latest.rank} entered {100 * job.latest.share:.0f} % of the calls last, "
               f"{time_text(job.latest.late_ns)} after the other ranks on average.")
    if job.saving_seconds is not None:
        yield _saving_text(job)


def _saving_text(job):
    source = ("the calibration of this machine" if job.is_calibrated
              else "constants of a typical machine; 'huddle calibrate' measures this one")
    saving = "nothing" if job.saving_seconds == 0 else (
        f"{_seconds(job.saving_seconds)} of the transfer "
        f"({_percent(job.saving_seconds, job.run_seconds):.1f} % of the run)")
    return f"huddle was off. It is predicted to save {saving}, by {source}."


def _picture(job):
    if not _has_rows(job):
        return ""
    svg = svg_element(job_figure(job, STAND_INS), "longest",
                      "Waiting and transfer of the collectives with the longest time; the tables have the figures")
    return ('<section id="longest"><h2>The collectives with the longest time</h2>\n'
            f"<figure>{svg}</figure>\n"
            '<p class="note">Waiting: for ranks that entered the call later, which no implementation of the '
            "collective can save. Transfer: the rest of the call.</p></section>\n")


def _tables(job):
    if not _has_rows(job):
        return ""
    tables = "".join(f"<h3>{_ranks_text(communicator.ranks)}</h3>\n{_table(communicator)}\n"
                     for communicator in job.communicators if communicator.rows)
    return ('<section id="communicators"><h2>All collectives by communicator</h2>\n'
            '<p class="note">Communicators with the same ranks are counted together. Bytes are those of a rank in a '
            "call. Times are sums over all calls: the mean of the ranks, and the least and the most of a rank.</p>\n"
            f"{tables}</section>\n")


def _ranks_text(ranks):
    """Returns the ranks of a communicator with consecutive ones joined: 5 ranks: 0-3, 8."""
    runs = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"{counted(len(ranks), 'rank')}: {text}"


def _table(communicator):
    head = "".join(f'<th scope="col"{_class(kind)}>{name}</th>' for name, kind in HEADS)
    lines = "".join(_line(row) for row in communicator.rows)
    return (f'<div class="scroll"><table class="job"><thead><tr>{head}</tr></thead>\n'
            f"<tbody>{lines}</tbody></table></div>")


def _line(row):
    """Returns the figures of a row and, below them, the algorithm or the reason, which may be too long for a column."""
    size = size_text(round(row.bytes_per_call)) if row.bytes_per_call else "–"
    texts = [row.operation, size, f"{row.calls:,}",
             *(_seconds(one) for one in (row.seconds.mean, row.seconds.least, row.seconds.most))]
    if row.waiting is not None:
        texts += [_seconds(row.waiting.mean), _seconds(row.transfer.mean)]
    cells = "".join(f"<td{_class(kind)}>{_breakable(text)}</td>" for (_, kind), text in zip(HEADS, texts))
    if row.waiting is None:
        cells += '<td colspan="2">not divided</td>'
    return (f'<tr class="chosen">{cells}</tr>'
            f'<tr class="why"><td colspan="{len(HEADS)}"><small>{escape(row.how)}</small></td></tr>\n')


def _breakable(name):
    """Returns escaped text that a narrow window may break after each underscore."""
    return escape(name).replace("_", "_<wbr>")


def _not_handled(job):
    if not job.not_handled:
        return ""
    lines = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{counted(calls, "call")}</td></tr>\n'
                    for name, calls in job.not_handled.items())
    return ('<section id="not-handled"><h2>Collectives that huddle never handles</h2>\n'
            '<p class="note">The MPI runs these. The numbers are those of rank 0.</p>\n'
            f'<div class="scroll"><table class="plain"><tbody>{lines}</tbody></table></div></section>\n')


def _class(kind):
    return f' class="{kind}"' if kind else ""
