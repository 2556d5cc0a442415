# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the pages about paths inside a node and about UCX, as data and as HTML. look_test.py tests them in a
browser."""
import re

import pytest
from huddle.fields import BadResults
from huddle.results import from_text
from page_test import tags_of
from sample import paths_document, text, ucx_document


def test_paths_are_read():
    paths = from_text(text(paths_document()))
    assert paths.names == ["copied", "cma"] and paths.ranks == 16
    assert paths.points[1].gb_per_s("cma") == pytest.approx(4194304 / 6e5)


def test_paths_page_names_the_fastest_path_and_the_loss_of_ucx():
    page = from_text(text(paths_document())).html()
    assert "Fastest path: copied; from 4M on: cma." in page
    assert "cma (2.50×)" in page  # for 4 KiB, by the constants of UCX 1.9
    assert "made-up &lt;b&gt;" in page
    tags_of(page)


def test_ucx_is_read():
    check = from_text(text(ucx_document()))
    assert [runs.ranks for runs in check.runs] == [2, 4]
    assert check.runs[0].points[0].with_ratio.middle == 1.3
    assert check.network_now == ["37 % of each message of at least 0 go through tcp/lo"]


def test_ucx_page_compares_all_three_by_ranks():
    page = from_text(text(ucx_document())).html()
    assert "with huddle's settings, no message does" in page.replace("&#x27;", "'")
    assert re.search(r"<h2>alltoall of 4M</h2>", page) and "alltoall of 64K" not in page
    assert "2.04–2.16" in page and "1.27–1.33" in page
    assert "UCX_POSIX_BW (gather was slower)" in page
    assert "4 ranks, more than cores" in page
    tags_of(page)


def without(document, key):
    return {name: value for name, value in document.items() if name != key}


@pytest.mark.parametrize("wrong, said", [
    ({**paths_document(), "schema": 7}, "schema 7"),
    ({**ucx_document(), "schema": 1}, "schema 1"),
    ({**paths_document(), "points": []}, "no sizes"),
    ({**paths_document(), "points": [{**paths_document()["points"][0], "fastest": "smoke"}]},
     "not one of the paths"),
    (without(ucx_document(), "runs"), "'runs' is missing"),
    ({**ucx_document(), "network_now": [{"share": -1}]}, "network_now[0].share"),
])
def test_errors_are_reported(wrong, said):
    with pytest.raises(BadResults) as error:
        from_text(text(wrong))
    assert said in str(error.value)
