# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Describes results in sentences: the summary, the reasons of choices, the command that measures them again."""
import shlex

from .results import MISPREDICTED, MISPREDICTED_FROM
from .words import counted, joined, number_word, ratio_text, size_text, time_text


def rivals_text(results):
    """Returns the name of what huddle was compared with."""
    if results.has_peers:
        return f"the best of {number_word(len(results.mpis))} MPIs at each point"
    return f"{results.mpis[0].short_version}'s own collectives"


def heap_text(results):
    """Returns the state of the heap, which determines the available data paths."""
    return "heap on" if results.settings.heap else "heap off"


def buffers_text(results):
    return "buffers in the shared heap" if results.settings.heap else "buffers in private memory"


def timing_text(results):
    """Returns the definition of the measured times."""
    settings = results.settings
    if settings.timing == "osu":
        return "Mean time of all ranks in consecutive calls, as in the OSU micro-benchmarks, one root, the same data"
    if settings.timing == "cold":
        calls = "call" if settings.cold_calls == 1 else counted(settings.cold_calls, "call")
        return (f"Time of the first {calls} of new processes, with new communicators and arrays, "
                "by call")
    return "Time from when the last rank enters a call until the last rank leaves it"


def summary(results):
    """Returns the summary of the results in one sentence."""
    points = results.points
    faster = sum(point.is_faster for point in points)
    slower = sum(point.is_slower for point in points)
    mean = results.mean_ratio()
    ranks = f"{counted(results.ranks, 'rank')}{' (more than cores)' if results.oversubscribed else ''}"
    counts = [f"{verb} at {counted(count, 'point')}" for verb, count in (
        ("faster", faster), ("slower", slower), ("undecided", len(points) - faster - slower)) if count]
    return (f"With {ranks} on {results.machine_name} and {buffers_text(results)}, huddle is {ratio_text(mean)} times as fast, in "
            f"the geometric mean, as {rivals_text(results)}: {joined(counts)}, with "
            f"{results.settings.confidence * 100:g} % confidence each.")


def doubts(results):
    """Yields sentences about the reliability of the figures."""
    if results.interrupted:
        yield "The run was interrupted: not every point was measured."
    unstable = [point for point in results.points if not point.stable]
    if unstable:
        share = results.settings.half_width * 100
        one = len(unstable) == 1
        yield (f"{counted(len(unstable), 'point')} {'is' if one else 'are'} unsteady (~): the interval "
               f"was still wider than {share:g} % to each side when the time for it was over.")
    if any(point.passed_calls for point in results.points):
        yield "At points marked =, some calls fell back to the MPI."
    below = sum(point.below_bar for point in results.points)
    if below:
        yield (f"{counted(below, 'point')} marked !: slower than {results.settings.bar:g} of the "
               "MPI's speed in every attempt.")
    if not results.calibrated:
        yield "The machine was not calibrated: huddle selected algorithms by generic figures. Run 'huddle calibrate' first."
    yield from results.notes


def model_error_text(results):
    """Returns a sentence about the accuracy of the predictions, empty if there are none."""
    middle = results.model_error()
    if middle is None:
        return ""
    predicted = [point for point in results.points if point.times_off is not None]
    far = sum(point.is_mispredicted for point in predicted)
    figures = "calibrated figures" if results.calibrated else "generic figures"
    text = (f"With {figures}, predicted and measured times differ by a factor of {ratio_text(middle)} in the "
            f"median of {counted(len(predicted), 'point')}")
    if not far:
        return f"{text}, and by at most {MISPREDICTED_FROM} everywhere."
    return f"{text}; {counted(far, 'point')} marked {MISPREDICTED} differ by more than {MISPREDICTED_FROM}."


def candidate_text(candidate):
    if not candidate.parameters:
        return candidate.algorithm
    return f"{candidate.algorithm}: {candidate.parameters}"


def why(point):
    """Returns the reason of a choice: its predicted time, and the next best candidate."""
    choice = point.choice
    reason = f"predicted {time_text(choice.chosen.predicted_ns)}"
    if point.is_mispredicted:
        reason += f" {MISPREDICTED}"
    if not choice.others:
        return f"{reason}; no other algorithm is possible"
    following = choice.others[0]
    times = following.predicted_ns / choice.chosen.predicted_ns
    return (f"{reason}; next {following.algorithm}, {time_text(following.predicted_ns)} "
            f"({ratio_text(times)} ×)")


def level_title(level, number):
    """Returns the title of an object, such as L3 32M, package 0, core 3."""
    if level.bytes[number]:
        return f"{level.name.upper()} {size_text(level.bytes[number])}"
    return f"{level.name} {number}"


def command(results):
    """Returns the command that repeats the measurement with the same MPI and machine file. Files of early versions do
    not contain the folder of the MPIs."""
    settings = results.settings
    words = ["huddle", "bench", "-n", str(results.ranks)]
    if settings.ops:
        words += ["--ops", settings.ops]
    words += ["--sizes", settings.sizes]
    if settings.quick:
        words.append("--quick")
    if settings.seconds:
        words += ["--seconds", str(settings.seconds)]
    if settings.timing == "cold":
        words += ["--cold", str(settings.cold_calls)]
    elif settings.timing != "apart":
        words += ["--loop", settings.timing]
    words += ["--heap", "on" if settings.heap else "off"]
    if results.machine_file:
        words += ["--machine", results.machine_file]
    if results.has_peers or settings.peers:
        words += ["--peers", settings.peers or "DIR", "--under", results.under]
    if settings.mpi:
        words += ["--mpi", settings.mpi]
    if settings.mpi_library:
        words += ["--mpi-library", settings.mpi_library]
    return shlex.join([*words, "--json", "results.json"])


def machine_file_text(results):
    if not results.machine_file:
        return "none: generic figures"
    return f"{results.machine_file}{'' if results.calibrated else ' (uncalibrated)'}"


def setting_rows(results):
    """Yields the name and value of every setting that the figures depend on."""
    settings = results.settings
    under = next(mpi for mpi in results.mpis if mpi.name == results.under)
    model = f" ({results.machine.cpu_model})" if results.machine else ""
    yield "machine", results.machine_name + model
    yield "machine file", machine_file_text(results)
    yield "huddle", results.huddle
    for mpi in results.mpis:
        role = "MPI under huddle" if mpi is under else "MPI"
        is_said = mpi.name in mpi.version
        yield role, mpi.short_version if is_said else f"{mpi.name}: {mpi.short_version}"
    yield "ranks", f"{results.ranks}{', more than cores' if results.oversubscribed else ''}"
    yield "buffers", "in the shared heap" if settings.heap else "in private memory"
    yield "timing", timing_text(results)
    yield "operations", settings.ops or "all"
    yield "sizes", settings.sizes
    yield "end of a point", (f"until its interval is within {settings.half_width * 100:g} %, "
                            f"or {settings.point_seconds:.3g} s")
    yield "confidence", f"{settings.confidence * 100:g} %"
