# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""How the report looks in a browser: light and dark, wide and narrow. The pictures are kept in
TEST_SHOTS."""
import os
import pathlib

import huddle
import pytest
from browser import Browser
from huddle.plots.palette import DARK, LIGHT
from huddle.results import from_text
from sample import MEASURED, OPERATIONS, document, of_one_mpi, text

WIDE, NARROW = 1400, 400
SHOTS = pathlib.Path(os.environ["TEST_SHOTS"])
PAPERS = {"light": LIGHT.paper, "dark": DARK.paper}

REPORTS = {"peers": lambda: from_text(text(document())),
           "one": lambda: from_text(text(of_one_mpi())),
           "measured": lambda: huddle.load(MEASURED)}

# What sticks out of the window, or of what holds it where that does not scroll.
TOO_WIDE = """(() => {
  const scrolls = (e) => e && (getComputedStyle(e).overflowX === 'auto' || scrolls(e.parentElement));
  return [...document.body.querySelectorAll('*')].filter((e) => !e.closest('svg') && !scrolls(e)
    && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.outerHTML.slice(0, 80));
})()"""
# Texts of a plot that lie over each other.
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
def test_looks_as_it_should(browser, pages, name, width, scheme):
    browser.open(pages / f"{name}.html", width, scheme)
    browser.shoot(SHOTS / f"{name}-{'wide' if width == WIDE else 'narrow'}-{scheme}.png")

    assert browser.ask(TOO_WIDE) == []
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask(OVERLAPS) == []
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == rgb(PAPERS[scheme])
    for event in events_of(browser, "Network.requestWillBeSent"):
        assert event["params"]["request"]["url"].startswith(("file://", "data:"))
    assert len([event for event in events_of(browser, "Network.requestWillBeSent")
                if event["params"]["request"]["url"].startswith("file://")]) == 1
    for method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
        assert events_of(browser, method) == []


def test_all_plots_are_seen(browser, pages):
    browser.open(pages / "peers.html", WIDE, "light")
    sizes = browser.ask("[...document.querySelectorAll('svg.plot')].map("
                        "(e) => [e.getBoundingClientRect().width, e.getBoundingClientRect().height])")
    assert len(sizes) == 2 + len(OPERATIONS)  # the heat map, the lines of the machine
    assert all(width > 100 and height > 100 for width, height in sizes)


def test_ratios_are_in_sight_on_a_narrow_screen(browser, pages):
    browser.open(pages / "peers.html", NARROW, "light")
    assert browser.ask("Math.max(...[...document.querySelectorAll('td.ratio')].map("
                       "(e) => e.getBoundingClientRect().right))") < NARROW


def test_letters_stay_legible_on_a_narrow_screen(browser, pages):
    browser.open(pages / "peers.html", NARROW, "light")
    least = browser.ask("Math.min(...[...document.querySelectorAll('svg.plot text')].map("
                        "(e) => e.getBoundingClientRect().height))")
    assert least > 8


def test_the_browser_sees_what_is_wrong(browser, tmp_path):
    """The same questions about a page that is as it must not be."""
    page = tmp_path / "wrong.html"
    page.write_text('<body style="margin: 0"><div style="width: 900px">wide</div>'
                    '<img src="http://127.0.0.1:9/x.png"><script>console.error("no")</script>'
                    '<svg class="plot"><text x="5" y="20">a word</text><text x="9" y="22">over it</text></svg>',
                    encoding="utf-8")
    browser.open(page, NARROW, "light")
    assert len(browser.ask(TOO_WIDE)) == 1
    assert len(browser.ask(OVERLAPS)) == 1
    assert events_of(browser, "Runtime.consoleAPICalled")
    assert any(event["params"]["request"]["url"].startswith("http:")
               for event in events_of(browser, "Network.requestWillBeSent"))
