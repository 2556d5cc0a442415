# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the pages in a browser, in light and dark color schemes and wide and narrow windows. Pictures are written to
the folder TEST_SHOTS."""
import os
import pathlib

import huddle
import pytest
from browser import Browser
from huddle.plots.palette import DARK, LIGHT
from huddle.results import from_text
from sample import (MEASURED, OPERATIONS, document, film_document, job_document, machine_model, of_one_mpi,
                    paths_document, text, ucx_document)

WIDE, NARROW = 1400, 420
SHOTS = pathlib.Path(os.environ["TEST_SHOTS"])
PAPERS = {"light": LIGHT.paper, "dark": DARK.paper}

# A realistic number of cores in a node, each with two threads.
MANY_THREADS = {**document(), "machine_model": machine_model(cores=32, threads=2)}

REPORTS = {"peers": lambda: from_text(text(document())),
           "threads": lambda: from_text(text(MANY_THREADS)),
           "one": lambda: from_text(text(of_one_mpi())),
           "film": lambda: from_text(text(film_document())),
           "paths": lambda: from_text(text(paths_document())),
           "ucx": lambda: from_text(text(ucx_document())),
           "job": lambda: from_text(text(job_document())),
           "measured": lambda: huddle.load(MEASURED)}

# Elements that extend beyond the window, or beyond a parent that does not scroll.
TOO_WIDE = """(() => {
  const scrolls = (e) => e && (getComputedStyle(e).overflowX === 'auto' || scrolls(e.parentElement));
  return [...document.body.querySelectorAll('*')].filter((e) => !e.closest('svg') && !scrolls(e)
    && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML.slice(0, 80));
})()"""
# Elements with content that is visible only after horizontal scrolling.
CUT_OFF = """[...document.body.querySelectorAll('*')].filter((e) => e.clientWidth > 0
  && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible').map(
    (e) => e.outerHTML.slice(0, 80))"""
# Texts of a plot that overlap.
OVERLAPS = """(() => {
  const found = [];
  for (const plot of document.querySelectorAll('svg.plot')) {
    const texts = [...plot.querySelectorAll('text')].map((e) => [e.textContent.trim(), e.getBoundingClientRect()]);
    texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
      const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (across > 1 && down > 3) found.push(plot.getAttribute('aria-label') + ': ' + a + ' | ' + b);
    }));
  }
  return found;
})()"""


@pytest.fixture(name="browser", scope="module")
def a_browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(name="pages", scope="module")
def pages_on_disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    SHOTS.mkdir(parents=True, exist_ok=True)
    for name, results in REPORTS.items():
        (folder / f"{name}.html").write_text(results().html(), encoding="utf-8")
    return folder


def events_of(browser, method):
    return [event for event in browser.events if event.get("method") == method]


def rgb(color):
    return f"rgb({', '.join(str(int(color[place:place + 2], 16)) for place in (1, 3, 5))})"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", REPORTS)
def test_page_fits_the_window_without_errors(browser, pages, name, width, scheme):
    browser.open(pages / f"{name}.html", width, scheme)
    browser.shoot(SHOTS / f"{name}-{'wide' if width == WIDE else 'narrow'}-{scheme}.png")

    assert browser.ask(TOO_WIDE) == []
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask(CUT_OFF) == []
    assert browser.ask(OVERLAPS) == []
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == rgb(PAPERS[scheme])
    for event in events_of(browser, "Network.requestWillBeSent"):
        assert event["params"]["request"]["url"].startswith(("file://", "data:"))
    assert len([event for event in events_of(browser, "Network.requestWillBeSent")
                if event["params"]["request"]["url"].startswith("file://")]) == 1
    for method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
        assert events_of(browser, method) == []


def test_all_plots_are_visible(browser, pages):
    browser.open(pages / "peers.html", WIDE, "light")
    sizes = browser.ask("[...document.querySelectorAll('svg.plot')].map((e) => e.getBoundingClientRect())"
                        ".filter((r) => r.width > 0).map((r) => [r.width, r.height])")
    assert len(sizes) == 2 + len(OPERATIONS)  # the heat map for that width, and the latencies of the machine
    assert all(width > 100 and height > 100 for width, height in sizes)


@pytest.mark.parametrize("width, seen, hidden", [(WIDE, "wide", "narrow"), (NARROW, "narrow", "wide")])
def test_one_heat_map_is_visible(browser, pages, width, seen, hidden):
    browser.open(pages / "peers.html", width, "light")
    assert browser.ask(f"document.querySelector('.heat.{seen}').getBoundingClientRect().width") > 300
    assert browser.ask(f"document.querySelector('.heat.{hidden}').getBoundingClientRect().width") == 0


def test_ratios_are_visible_on_a_narrow_screen(browser, pages):
    browser.open(pages / "peers.html", NARROW, "light")
    assert browser.ask("Math.max(...[...document.querySelectorAll('td.ratio')].map("
                       "(e) => e.getBoundingClientRect().right))") < NARROW


def test_text_is_legible_on_a_narrow_screen(browser, pages):
    browser.open(pages / "peers.html", NARROW, "light")
    least = browser.ask("Math.min(...[...document.querySelectorAll('svg.plot text')].map("
                        "(e) => e.getBoundingClientRect().height).filter((height) => height > 0))")
    assert least > 8


SEATS = """[...document.querySelectorAll('.thread')].filter((e) => !e.hidden).map(
  (e) => [Number(e.dataset.thread), Number(e.parentElement.dataset.core)]).sort()"""


def test_film_follows_its_slider(browser, pages):
    browser.open(pages / "film.html", WIDE, "light")
    assert browser.ask("document.getElementById('said').textContent").startswith("3 of 3")
    assert browser.ask(SEATS) == [[0, 0], [1, 1], [2, 1], [3, 12]]
    browser.ask("(() => { const slider = document.getElementById('frame'); slider.value = 2; "
                "slider.dispatchEvent(new Event('input')); })()")
    assert browser.ask("document.getElementById('said').textContent").startswith("2 of 3")
    assert browser.ask("document.getElementById('frame').getAttribute('aria-valuetext')").startswith("2 of 3")
    assert browser.ask(SEATS) == [[0, 0], [1, 4], [2, 8], [3, 12]]
    assert browser.ask("[...document.querySelectorAll('.wish')].filter((e) => !e.hidden).length") == 2
    assert browser.ask("document.querySelectorAll('[aria-current]').length") == 1


def test_film_plays_from_start_to_end(browser, pages):
    browser.open(pages / "film.html", WIDE, "light")
    browser.call("Runtime.evaluate", awaitPromise=True, expression="""new Promise((done) => {
      const said = document.getElementById('said'), seen = [];
      new MutationObserver(() => {
        seen.push(said.textContent[0]);
        if (seen.length === 3) { window.seen = seen; done(); }
      }).observe(said, {childList: true});
      document.getElementById('play').click();
    })""")
    assert browser.ask("window.seen") == ["1", "2", "3"]


def test_browser_checks_detect_errors(browser, tmp_path):
    """The checks above fail for a page with errors."""
    page = tmp_path / "wrong.html"
    page.write_text('<body style="margin: 0"><div style="width: 900px">wide</div>'
                    '<img src="http://127.0.0.1:9/x.png"><script>console.error("no")</script>'
                    '<pre style="overflow-x: auto; width: 300px">a line that is longer than its box and breaks '
                    'nowhere, however narrow that is</pre>'
                    '<svg class="plot"><text x="5" y="20">a word</text><text x="9" y="22">over it</text></svg>',
                    encoding="utf-8")
    browser.open(page, NARROW, "light")
    assert len(browser.ask(TOO_WIDE)) == 1
    assert len(browser.ask(CUT_OFF)) == 1
    assert len(browser.ask(OVERLAPS)) == 1
    assert events_of(browser, "Runtime.consoleAPICalled")
    assert any(event["params"]["request"]["url"].startswith("http:")
               for event in events_of(browser, "Network.requestWillBeSent"))
