# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the report as HTML. look_test.py tests it in a browser."""
import re
from html.parser import HTMLParser

import pytest
from huddle.machine_view import machine_section
from huddle.results import from_text
from sample import OPERATIONS, document, machine_model, of_one_mpi, text



class Tags(HTMLParser):
    """Keeps a stack of open tags, and fails if tags are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "br", "input", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags_of(page):
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    return parser.seen


@pytest.fixture(name="page", scope="module")
def made_up_page():
    return from_text(text(document())).html()


@pytest.mark.parametrize("data", [document(), of_one_mpi()], ids=["peers", "one"])
def test_tags_are_balanced(data):
    tags_of(from_text(text(data)).html())


def test_ids_are_unique(page):
    ids = [attributes["id"] for _, attributes in tags_of(page) if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in tags_of(page):
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids


def test_page_has_no_requests_and_no_scripts(page):
    for tag, attributes in tags_of(page):
        assert tag not in ("script", "iframe", "object", "img")
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_results_are_escaped(page):
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_every_operation_has_a_section_a_plot_and_rows(page):
    for operation in OPERATIONS:
        section = page[page.index(f'<article class="operation" id="{operation}">'):]
        section = section[:section.index("</article>")]
        assert '<svg class="plot"' in section
        sizes = 1 if operation == "barrier" else 7
        assert section.count('<tr class="chosen">') == section.count('<tr class="why">') == sizes
        assert "slices: slices of 128K" in section
        assert "next exchange" in section


def test_page_of_an_early_file_names_missing_data():
    page = from_text(text(of_one_mpi())).html()
    assert "does not describe it further" in page
    assert 'class="why"' not in page and ">floor<" not in page


def test_page_shows_the_machine(page):
    assert page.count('class="core"') == 16
    assert "package 1" in page and "L3 32M" in page
    assert "copy on l3: spread 13 %" in page


def test_heat_map_names_its_units_and_its_samples(page):
    assert "Columns: size in bytes" in page and "from 20 batches of calls" in page


def test_headline_contains_the_state_of_the_heap(page):
    assert "<h1>huddle (heap on) against the best of two MPIs at each point</h1>" in page
    assert "<title>huddle bench: made-up, heap on</title>" in page


def test_cores_are_in_rows_of_equal_length():
    def rows_of(cores):
        data = document()
        data["machine_model"] = {**machine_model(cores=cores), "pairs": None}
        view = machine_section(from_text(text(data)))
        return set(re.findall(r'class="cores" style="--columns: (\d+)"', view))
    assert rows_of(32) == {"4"}  # eight cores per cache
    assert rows_of(16) == {"2"}
    assert rows_of(12) == {"3"}
    assert rows_of(4 * 13) == {"4"}


def test_page_shows_the_error_of_predictions(page):
    assert "predicted and measured times differ by a factor of 1." in page


def test_notebook_view_has_the_summary_and_the_heat_map():
    view = from_text(text(document()))._repr_html_()
    assert "With 16 ranks" in view and view.count("<svg") == 1
    assert not re.search(r"var\(--(?!width)", view)


def test_page_is_deterministic():
    assert from_text(text(document())).html() == from_text(text(document())).html()
