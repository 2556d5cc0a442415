# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of the page about the collectives of a job, as data and as HTML. look_test.py tests it in a browser."""
import pytest
from huddle.fields import BadResults
from huddle.plots.job_stats import MOST_BARS, job_figure, longest
from huddle.results import from_text
from page_test import tags_of
from sample import job_document, job_row, text


def page_of(**changes):
    page = from_text(text({**job_document(), **changes})).html()
    tags_of(page)
    return page.replace("&#x27;", "'")


def test_statistics_are_read():
    job = from_text(text(job_document()))
    assert (job.ranks, job.was_off, job.is_calibrated) == (4, True, False)
    assert [one.ranks for one in job.communicators] == [[0, 1, 2, 3], [0, 2]]
    first, undivided = job.communicators[0].rows[0], job.communicators[1].rows[0]
    assert (first.operation, first.calls, first.seconds.mean, first.waiting.mean) == ("allreduce", 2000, 0.1, 0.09)
    assert undivided.waiting is None and undivided.transfer is None
    assert job.not_handled == {"MPI_Iallreduce": 3}


def test_page_starts_with_the_answer():
    page = page_of()
    assert "Blocking collectives took 55 % of the run: 110 ms of 200 ms, mean of 4 ranks." in page
    assert "92 ms of this was waiting for ranks that entered later, and 8 ms transfer." in page
    assert "10 ms cannot be divided" in page
    assert "Rank 1 entered 90 % of the calls last, 96.7 µs after the other ranks on average." in page
    assert ("huddle was off. It is predicted to save 1.29 ms of the transfer (0.6 % of the run), by constants of a "
            "typical machine; 'huddle calibrate' measures this one.") in page


def test_prediction_names_its_source():
    assert "by the calibration of this machine" in page_of(calibrated=True)
    assert "It is predicted to save nothing" in page_of(predicted_saving_seconds=0.0)
    handled = {key: value for key, value in job_document().items() if key != "predicted_saving_seconds"}
    assert "predicted" not in from_text(text({**handled, "off": False})).html()


def test_page_has_a_row_of_each_kind_by_communicator():
    tables = page_of().partition("</svg>")[2]
    inside = ["4 ranks: 0-3", "<td>8</td>", "2,000", "MPI: huddle is off", "<td>64K</td>", "pipelined", "2 ranks: 0, 2",
              "not divided", "MPI: unsupported datatype (made-up &lt;b&gt;)", "Collectives that huddle never handles",
              "MPI_Iallreduce", "3 calls"]
    places = [tables.find(one) for one in inside]
    assert -1 not in places and places == sorted(places)


def test_parts_without_content_are_absent():
    page = page_of(communicators=[], not_handled={}, latest_rank=None)
    assert "The program called no blocking collectives." in page
    assert "<svg" not in page and "never handles" not in page and "calls last" not in page


def test_picture_has_the_longest_rows_of_all_communicators():
    rows = [job_row("bcast", 8.0, seconds=number / 1000, waiting=number / 2000) for number in range(1, 20)]
    job = from_text(text({**job_document(), "communicators": [
        {"ranks": [0, 1, 2, 3], "collectives": rows},
        {"ranks": [0, 2], "collectives": [job_row("barrier", 0.0, 0.5)]}]}))
    assert len(longest(job)) == MOST_BARS
    assert [row.seconds.mean for _, row in longest(job)][:3] == [0.5, 0.019, 0.018]
    axes, = job_figure(job).axes
    assert axes.get_xlabel() == "milliseconds, mean over the ranks"
    assert [one.get_text() for one in axes.get_legend().get_texts()] == ["waiting", "transfer", "not divided"]
    assert axes.get_yticklabels()[0].get_text() == "barrier\n2 ranks, MPI"
    assert axes.get_yticklabels()[1].get_text() == "bcast of 8\n4 ranks, MPI"


def test_axis_is_in_seconds_for_long_jobs():
    job = from_text(text({**job_document(), "communicators": [
        {"ranks": [3], "collectives": [job_row("bcast", 8.0, 25.0, waiting=0.0)]}]}))
    axes, = job_figure(job).axes
    assert axes.get_xlabel() == "seconds, mean over the ranks"
    assert axes.get_yticklabels()[0].get_text() == "bcast of 8\n1 rank, MPI"


@pytest.mark.parametrize("wrong, said", [
    ({"schema": 7}, "schema 7"),
    ({"ranks": "four"}, "'ranks' is not a whole number"),
    ({"seconds": {"min": 0.1, "mean": 0.2}}, "'seconds.max' is missing"),
    ({"communicators": [{"ranks": [0], "collectives": [{"operation": 3}]}]},
     "'communicators[0].collectives[0].operation' is not text"),
    ({"not_handled": {"MPI_Iallreduce": "3"}}, "'not_handled.MPI_Iallreduce' is not a whole number"),
])
def test_errors_are_reported(wrong, said):
    with pytest.raises(BadResults) as error:
        from_text(text({**job_document(), **wrong}))
    assert said in str(error.value)
