# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the film of a program's threads as data and as HTML. look_test.py tests it in a browser."""
import base64
import hashlib
import json
import re

import pytest
from huddle.fields import BadResults
from huddle.results import from_text
from page_test import tags_of
from sample import film_document, text


def film_of(**changes):
    return from_text(text({**film_document(), **changes}))


def test_film_is_read():
    film = film_of()
    assert film.threads == [0, 1, 2, 3] and film.moves == 1
    assert film.frames[1].pairs == {(0, 2): 40.0, (1, 3): 30.0, (0, 1): 0.1}
    assert film.frames[1].changes == [(1, 4, 1), (2, 8, 1)]
    assert film.frames[2].changes == []  # it was no better
    assert [one.name for one in film.placements] == ["order", "huddle"]


def test_errors_are_reported():
    def first(**changes):
        document = film_document()
        document["decisions"][1].update(changes)
        return text(document)
    for wrong, said in [(first(seats=[0, 4]), "decisions[1].seats' must contain one hardware thread"),
                        (first(seats=[0, 4, 8, 99]), "no hardware thread 99"),
                        (first(pairs=[[0, 7, 1.0]]), "decisions[1].pairs'"),
                        (first(pairs=[[0, 0, 1.0]]), "decisions[1].pairs'"),
                        (first(pairs=5), "decisions[1].pairs'"),
                        (first(threads=[-1, 1, 2, 3]), "decisions[1].threads'"),
                        (text({**film_document(), "schema": 2}), "schema 2"),
                        (text({**film_document(), "machine_model": None}), "early version of huddle")]:
        with pytest.raises(BadResults) as error:
            from_text(wrong)
        assert said in str(error.value)


def test_every_frame_is_in_the_page():
    page = film_of().html()
    frames = json.loads(re.search(r'id="frames">(.*?)</script>', page)[1])
    assert [frame["said"][:6] for frame in frames] == ["1 of 3", "2 of 3", "3 of 3"]
    assert frames[0]["most"] == "No two threads share pages yet."
    assert frames[1]["most"] == "Threads that share most: 0 with 2, 1 with 3 and 0 with 1."
    # The pair that shares most has the last shade, in one cell of each row. A hundredth of that has no shade.
    assert frames[1]["shades"][-1].count("M") == 2
    assert sum(shade.count("M") for shade in frames[1]["shades"]) == 4
    # Threads 1 and 2 moved to the places that were found better.
    assert frames[1]["wishes"] == [[1, 1], [2, 1]] and frames[2]["moved"] == [1, 2]


def test_equal_adjacent_cells_are_merged():
    document = film_document()
    document["decisions"][1]["pairs"] = [[0, 1, 1], [0, 2, 1], [0, 3, 1]]
    frames = json.loads(re.search(r'id="frames">(.*?)</script>', from_text(text(document)).html())[1])
    assert frames[1]["shades"][-1].startswith("M1 0h3v1h-3z")


def chips_of(page):
    """Returns the chips of threads in the picture: (kind, thread) and the name of the core in which each is drawn."""
    found, core = {}, None
    for tag, attributes, words in elements_of(page):
        if "data-core" in attributes:
            core = None
        elif tag == "small" and core is None:
            core = words
        elif tag == "b" and "data-thread" in attributes and "hidden" not in attributes:
            found[attributes["class"].split()[0], int(attributes["data-thread"])] = core
    return found


def elements_of(page):
    """Yields the tag, the attributes and the text of each element without children."""
    for tag, attributes, words in re.findall(r"<(\w+)([^>]*)>([^<]*)", page):
        yield tag, {name: value for name, _, value in re.findall(r'([\w-]+)(="([^"]*)")?', attributes)}, words


def last_frame_only(**changes):
    """Returns the page of the film's second decision alone, so that the page shows it without a script."""
    document = film_document()
    document["decisions"] = [{**document["decisions"][1], **changes}]
    return from_text(text(document)).html()


def test_seats_are_cores_of_the_recorded_machine():
    document = film_document()
    page = last_frame_only(seats=[2, 7, 11, 5])
    topology = document["machine_model"]["topology"]
    cores = next(level["groups"] for level in topology["levels"] if level["name"] == "core")
    chips = chips_of(page)
    for thread, seat in enumerate([2, 7, 11, 5]):
        assert seat in next(core for core in cores if "·".join(map(str, core)) == chips["thread", thread])
    names = re.findall(r'data-core="\d+"><small>([^<]*)</small>', page)
    assert names == ["·".join(map(str, core)) for core in cores]


def test_table_matches_the_picture():
    # Threads 0 and 1 share a hardware thread. The agent counts one of them as being on the next one.
    page = last_frame_only(seats=[0, 0, 8, 12], present=[0, 1, 8, 12], wanted=[0, 1, 1, 12])
    chips = chips_of(page)
    table = re.search(r"<small>thread ([^<]*)</small>", page)[1]
    rows = [re.fullmatch(r"(\d+): (\d+) to (\d+)", one).groups() for one in table.split(", ")]
    assert [int(thread) for thread, _, _ in rows] == [1, 2]
    assert sorted(thread for kind, thread in chips if kind == "wish") == [1, 2]
    for thread, before, after in rows:
        assert before in chips["thread", int(thread)].split("·")
        assert after in chips["wish", int(thread)].split("·")
    events = re.search(r'<tr class="move"><td>0.50</td><td>([^<]*)</td>', page)[1]
    assert f"This matrix shows {events} events" in page


def test_matrix_has_a_scale_and_the_number_of_events():
    page = film_of().html()
    frames = json.loads(re.search(r'id="frames">(.*?)</script>', page)[1])
    assert [frame["largest"] for frame in frames] == ["0 events", "40 events", "40 events"]
    assert [frame["thin"] for frame in frames] == [True, False, False]
    assert "shows 0 events: too few" in frames[0]["sampled"]
    assert "shows 70 events" in frames[1]["sampled"]
    assert '<span id="largest">40 events</span>' in page and "70 accesses to pages observed" in page
    assert 'class="plot thin"' not in page
    assert 'class="plot thin"' in last_frame_only(reason="too few touches")


def test_page_without_script_shows_all_decisions():
    page = re.sub(r"<script.*?</script>", "", film_of().html(), flags=re.S)
    assert page.count('<tr class="move">') == 1 and page.count('<tr class="still">') == 2
    assert "thread 1: 4 to 1, 2: 8 to 1" in page
    assert re.search(r'<section id="player" hidden>', page)


def test_policy_allows_only_the_own_script():
    page = film_of().html()
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and "default-src 'none'" in page
    for tag, attributes in tags_of(page):
        assert "onclick" not in attributes and "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:"))


def test_program_name_is_escaped():
    name = "</script><script>alert(1)</script>"
    document = film_document()
    document["decisions"][1]["text"] = name
    document.update(program=name, machine=name, notes=[name])
    page = from_text(text(document)).html()
    assert name not in page and page.count("<script>") == 1
    tags_of(page)


def test_page_without_decisions_says_so():
    page = film_of(decisions=[]).html()
    assert "No decision was taken" in page and "<script" not in page


def test_graphics_have_alternative_texts():
    for tag, attributes in tags_of(film_of().html()):
        if tag == "svg":
            assert attributes["role"] == "img" and attributes["aria-label"]
        if tag == "input":
            assert attributes["id"] == "frame"
    assert '<label for="frame">' in film_of().html()
