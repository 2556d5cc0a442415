# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
import huddle
from huddle.results import from_text
from huddle.sentences import command, doubts, setting_rows, summary, why
from sample import MEASURED, document, of_one_mpi, text


def test_the_summary_is_one_sentence_with_all_points():
    said = summary(huddle.load(MEASURED))
    assert said == ("With 2 ranks on amd-epyc-2c-1b1d3050, huddle is 1.38 times as fast, in the "
                    "geometric mean, as the best of five MPIs at each point: faster at 31 points and slower at "
                    "3 points, with 95 % confidence each.")


def test_doubts_are_said():
    data = document()
    data.update(interrupted=True, calibrated=False)
    data["points"][0].update(stable=False, passed_calls=1, below_bar=True)
    said = " ".join(doubts(from_text(text(data))))
    for word in ("interrupted", "unsteady", "left calls", "slower than 0.9", "not calibrated",
                 "mpich-5 did not come up"):
        assert word in said, word


def test_a_run_without_doubts_has_none():
    data = document()
    data["notes"] = []
    for point in data["points"]:
        point.update(stable=True, below_bar=False)
    assert not list(doubts(from_text(text(data))))


def test_the_command_measures_the_same_again():
    assert command(from_text(text(document()))) == (
        "huddle bench -n 16 --sizes 8:4M --seconds 90 --heap on --peers DIR --under openmpi-5 "
        "--json results.json")
    plain = of_one_mpi()
    plain["settings"].update(ops="bcast,reduce", quick=True, heap=False)
    del plain["settings"]["seconds"]
    assert command(from_text(text(plain))) == (
        "huddle bench -n 16 --ops bcast,reduce --sizes 8:4M --quick --heap off --json results.json")


def test_why_names_the_next_best():
    choice = from_text(text(document())).points[0].choice
    assert why(choice) == "predicted 180 ns; next exchange, 280 ns (1.56 ×)"


def test_settings_have_every_mpi():
    said = [value for _, value in setting_rows(from_text(text(document())))]
    assert "intel: Intel(R) MPI Library 2021.18" in said
    assert "openmpi-5: Open MPI v5.0.11" in said
