# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Draws a film of a program's threads as HTML: the pages that threads share, the processors that they run on, and each
decision with its reason.

Without its script the document shows the last frame, and all decisions in a table."""
import html
import json

from .machine_view import boxes, core_name, cores_of
from .plots.palette import LIGHT
from .shell import packaged, whole_document
from .words import counted, joined, ratio_text, time_text

escape = html.escape

SHADES = len(LIGHT.ramp)
LEAST_SHARE = 0.01  # relative to the largest share in a frame; smaller ones are chance, or from the start of the program
SIDE = 240  # of the matrix, in SVG units
LABELS = 20  # maximum number of thread numbers along a side; more would overlap
PAIRS_NAMED = 6
CHANGES_NAMED = 16
LINE_WIDTH, LINE_HEIGHT = 1000, 44


def film_page(film):
    title = f"huddle {film.command}: {film.program}"
    if not film.frames:
        return whole_document(title, _head(film) + "<p>No decision was taken, because the observation was too "
                              "short.</p>" + _foot(film), ("page.css", "film.css"))
    views = [_View(film, number) for number in range(len(film.frames))]
    body = "\n".join([_head(film), _player(film, views), _stage(film, views[-1]),
                      _decisions(film, views), _placements(film), _foot(film), _data(views)])
    return whole_document(title, body, ("page.css", "film.css"), packaged("film.js"))


class _View:
    """A frame in the form in which it is drawn."""

    def __init__(self, film, number):
        self.frame = film.frames[number]
        before = film.frames[number - 1].seats if number > 0 else self.frame.seats
        cores = {processor: place for place, core in enumerate(cores_of(film.machine))
                 for processor in core}
        self.seats = {thread: cores[processor] for thread, processor in self.frame.seats.items()}
        self.moved = [thread for thread, core in self.seats.items()
                      if thread in before and cores[before[thread]] != core]
        self.wishes = {thread: cores[wanted] for thread, _, wanted in self.frame.changes}
        self.shades = _shades(self.frame, film.threads)
        self.said = (f"{number + 1} of {len(film.frames)}, at {self.frame.time_s:.2f} s: "
                     f"{self.frame.text}")
        self.most = _most(self.frame)
        self.largest = _events(max(self.frame.pairs.values(), default=0))
        self.sampled = _sampled(self.frame)
        self.at = _place(film, self.frame)

    def data(self):
        return {"shades": self.shades, "seats": list(self.seats.items()), "wishes": list(self.wishes.items()),
                "moved": self.moved,
                "said": self.said, "most": self.most, "largest": self.largest, "sampled": self.sampled,
                "thin": bool(self.frame.why_thin), "at": self.at}


def _shades(frame, threads):
    """Returns an SVG path for each shade. Adjacent cells of one shade are one rectangle."""
    most = max(frame.pairs.values(), default=0)
    paths = [""] * SHADES
    for row, a in enumerate(threads):
        steps = [_step(frame.pairs.get((min(a, b), max(a, b)), 0), most) for b in threads]
        start = 0
        for column in range(1, len(steps) + 1):
            if column < len(steps) and steps[column] == steps[start]:
                continue
            if steps[start] is not None:
                paths[steps[start]] += f"M{start} {row}h{column - start}v1h-{column - start}z"
            start = column
    return paths


def _step(count, most):
    if most == 0 or count < LEAST_SHARE * most:
        return None
    return min(int(count / most * SHADES), SHADES - 1)


def _events(count):
    return counted(round(count), "event")


def _sampled(frame):
    """Returns the number of samples behind the matrix."""
    if frame.why_thin:
        return (f"This matrix shows {_events(frame.events)}: {frame.why_thin}, so that differences may be due to "
                "chance. It is drawn pale.")
    return f"This matrix shows {_events(frame.events)}; earlier ones count less."


def _most(frame):
    """Returns the alternative text of the matrix."""
    pairs = sorted(frame.pairs.items(), key=lambda one: (-one[1], one[0]))
    pairs = [(pair, count) for pair, count in pairs if count > 0]
    if not pairs:
        return "No two threads share pages yet."
    named = joined(f"{a} with {b}" for (a, b), _ in pairs[:PAIRS_NAMED])
    if frame.why_thin:
        return f"Threads that share pages: {named}{' and others' if len(pairs) > PAIRS_NAMED else ''}."
    return f"Threads that share most: {named}."


def _head(film):
    frames = film.frames
    summary = f"{counted(len(film.threads), 'thread')} active, {film.touches} accesses to pages observed"
    if frames:
        decided = "carried out" if film.was_carried_out else "none was carried out"
        summary += (f", {counted(len(frames), 'decision')} in {frames[-1].time_s:.1f} s, "
                    f"{counted(film.moves, 'move')}" + (f"; {decided}" if film.moves else "") + ".")
    notes = "".join(f"<li>{escape(note)}</li>" for note in film.notes)
    return (f"<header><h1>Threads of {escape(film.program)}</h1>\n"
            f'<p class="sub">{escape(film.machine_name)}</p>\n'
            f'<p class="summary">{escape(summary)}</p>\n'
            + (f'<ul class="doubts note">{notes}</ul>' if notes else "") + "</header>")


def _player(film, views):
    last = len(views)
    return (f'<section id="player" hidden>'
            '<div class="player"><button type="button" id="play">Play</button>'
            '<label for="frame">Decision</label>'
            f'<input type="range" id="frame" min="1" max="{last}" value="{last}" step="1"></div>'
            f"{_line(film, views)}"
            f'<output id="said" for="frame" aria-live="polite">{escape(views[-1].said)}</output></section>')


def _kind(frame):
    if frame.moves:
        return "move"
    if frame.gives_back:
        return "back"
    return "wait" if frame.reason in ("seen once", "cooling off") else "still"


def _place(film, frame):
    end = film.frames[-1].time_s
    return round(LINE_WIDTH * frame.time_s / end, 1) if end > 0 else LINE_WIDTH


def _line(film, views):
    """Returns the time line of the decisions. Moves are the longest strokes."""
    heights = {"move": 34, "back": 28, "wait": 20, "still": 10}
    marks = "".join(
        f'<rect class="{_kind(view.frame)}" x="{view.at}" y="{LINE_HEIGHT - heights[_kind(view.frame)]}" '
        f'width="4" height="{heights[_kind(view.frame)]}"/>' for view in views)
    kinds = (("move", "move"), ("back", "restored"), ("wait", "to be confirmed"),
             ("still", "no move"))
    legend = "".join(f'<li><i class="{name}"></i> {escape(text)}</li>' for name, text in kinds
                     if any(_kind(view.frame) == name for view in views))
    return (f'<svg class="line" viewBox="0 0 {LINE_WIDTH + 8} {LINE_HEIGHT}" preserveAspectRatio="none" '
            'role="img" aria-label="Decisions over time; the table below contains the same">'
            f'<rect id="cursor" x="{views[-1].at}" y="0" width="4" height="{LINE_HEIGHT}"/>{marks}</svg>'
            f'<ul class="steps kinds">{legend}</ul>')


def _stage(film, view):
    return ('<section id="stage"><div class="stage">'
            f"<figure>{_matrix(film, view)}"
            "<figcaption>Events of each pair of threads, by thread number. An event is a page that one thread "
            f'accessed after the other. {_legend(view)}<span id="sampled" aria-live="off">{escape(view.sampled)}</span>'
            f'<span id="most" aria-live="off">{escape(view.most)}</span></figcaption></figure>'
            f'<figure class="tree">{_tree(film, view)}'
            f"<figcaption>The core of each thread on {escape(film.machine_name)}, by thread number; cores are named by "
            "their hardware threads. Framed: moved since the previous decision. Dashed: place in a better placement, "
            "if one was found.</figcaption></figure></div></section>")


def _legend(view):
    runs = "".join(f'<i style="background: var(--ramp-{step})"></i>' for step in range(SHADES))
    return (f'<span class="steps"><span>0</span><span class="run">{runs}</span>'
            f'<span id="largest">{view.largest}</span></span>')


def _matrix(film, view):
    threads = film.threads
    count = len(threads)
    every = -(-count // LABELS)
    cell = SIDE / count
    size = min(11, max(7, cell * 0.55)) if every == 1 else 8
    labels = "".join(
        f'<text x="{(place + 0.5) * cell:.1f}" y="-5" text-anchor="middle">{thread}</text>'
        f'<text x="-5" y="{(place + 0.5) * cell + size * 0.36:.1f}" text-anchor="end">{thread}</text>'
        for place, thread in enumerate(threads) if place % every == 0)
    paths = "".join(f'<path class="shade" d="{path}" fill="var(--ramp-{step})"/>'
                    for step, path in enumerate(view.shades))
    thin = " thin" if view.frame.why_thin else ""
    return (f'<svg class="plot{thin}" id="matrix" style="--width: 26rem" viewBox="-26 -20 {SIDE + 28} {SIDE + 22}" '
            'role="img" aria-label="Events of each pair of threads; described below">'
            f'<g font-size="{size:.1f}" fill="var(--quiet)">{labels}</g>'
            f'<g transform="scale({cell:.4f})">{paths}</g>'
            f'<rect width="{SIDE}" height="{SIDE}" fill="none" stroke="var(--quiet)"/></svg>')


def _tree(film, view):
    places = {core: place for place, core in enumerate(cores_of(film.machine))}

    def chips(kind, where, place):
        """Returns the chips of the threads at this place. Threads without a place are in the first one, hidden."""
        return "".join(
            f'<b class="{kind}{" moved" if kind == "thread" and thread in view.moved else ""}" '
            f'data-thread="{thread}"{"" if thread in where else " hidden"}>{thread}</b>'
            for thread in film.threads if where.get(thread, 0) == place)

    def draw(core):
        place = places[core]
        return (f'<span class="core seat" data-core="{place}"><small>{core_name(core)}</small>'
                f'{chips("thread", view.seats, place)}{chips("wish", view.wishes, place)}</span>')
    return boxes(film.machine, draw)


def _changes_text(frame):
    if not frame.changes:
        return ""
    named = ", ".join(f"{thread}: {was} to {wanted}"
                      for thread, was, wanted in frame.changes[:CHANGES_NAMED])
    more = len(frame.changes) - CHANGES_NAMED
    return f"thread {named}" + (f" and {more} more" if more > 0 else "")


def _decisions(film, views):
    rows = "".join(
        f'<tr class="{_kind(view.frame)}"><td>{view.frame.time_s:.2f}</td><td>{round(view.frame.events)}</td>'
        f'<td class="words">{escape(view.frame.reason)}</td>'
        f'<td class="words wide">{escape(view.frame.text)} '
        f"<small>{escape(_changes_text(view.frame))}</small></td></tr>" for view in views)
    verb = "Decisions" if film.was_carried_out else "Decisions that would have been taken"
    return (f'<section id="decisions"><h2>{verb}, and their reasons</h2>\n<div class="scroll">'
            '<table><thead><tr><th scope="col">s</th><th scope="col">events</th>'
            '<th scope="col" class="words">reason</th>'
            '<th scope="col" class="words wide">decision, and the hardware threads between which threads '
            f"move</th></tr></thead>\n<tbody>{rows}</tbody></table></div></section>")


def _placements(film):
    if not film.placements:
        return ""
    by_number = next((one.ns for one in film.placements if one.name == "order"), 0)
    rows = "".join(f'<tr><th scope="row">{escape(one.name)}</th><td>{escape(time_text(one.ns))}</td>'
                   f"<td>{ratio_text(one.ns / by_number) if by_number else '–'}</td></tr>"
                   for one in film.placements)
    return ('<section id="placements"><h2>Predicted communication time</h2>\n<table><thead><tr>'
            '<th scope="col">placement</th><th scope="col">time</th><th scope="col">relative to order</th>'
            f"</tr></thead><tbody>{rows}</tbody></table></section>")


def _foot(film):
    return f"<footer>Observed by huddle {escape(film.command)}; drawn by huddle report.</footer>"


def _data(views):
    text = json.dumps([view.data() for view in views], separators=(",", ":"))
    # The data must not contain the end tag of the element.
    return f'<script type="application/json" id="frames">{text.replace("<", chr(92) + "u003c")}</script>'
