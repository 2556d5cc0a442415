# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
import huddle
from huddle.results import from_text
from huddle.sentences import command, doubts, heap_text, model_error_text, setting_rows, summary, why
from sample import MEASURED, document, of_one_mpi, text


def test_the_summary_is_one_sentence_with_all_points():
    said = summary(huddle.load(MEASURED))
    assert said == ("With 2 ranks on amd-epyc-2c-1b1d3050 and buffers in private memory, huddle is 1.38 times as fast, in the "
                    "geometric mean, as the best of five MPIs at each point: faster at 31 points and slower at "
                    "3 points, with 95 % confidence each.")


def test_summary_contains_the_state_of_the_heap():
    data = document()
    assert heap_text(from_text(text(data))) == "heap on"
    assert "and buffers in the shared heap, huddle is" in summary(from_text(text(data)))
    data["settings"]["heap"] = False
    assert heap_text(from_text(text(data))) == "heap off"


def test_doubts_are_listed():
    data = document()
    data.update(interrupted=True, calibrated=False)
    data["points"][0].update(stable=False, passed_calls=1, below_bar=True)
    said = " ".join(doubts(from_text(text(data))))
    for word in ("interrupted", "unsteady", "fell back", "slower than 0.9", "not calibrated",
                 "mpich-5 did not come up"):
        assert word in said, word


def test_steady_run_has_no_doubts():
    data = document()
    data["notes"] = []
    for point in data["points"]:
        point.update(stable=True, below_bar=False)
    assert not list(doubts(from_text(text(data))))


def test_command_repeats_the_measurement():
    assert command(from_text(text(document()))) == (
        "huddle bench -n 16 --sizes 8:4M --seconds 90 --heap on --machine node.toml "
        "--peers '../my peers' --under openmpi-5 --json results.json")
    plain = of_one_mpi()
    plain["settings"].update(ops="bcast,reduce", quick=True, heap=False)
    del plain["settings"]["seconds"]
    assert command(from_text(text(plain))) == (
        "huddle bench -n 16 --ops bcast,reduce --sizes 8:4M --quick --heap off "
        "--mpi '/opt/mpi/bin/mpiexec --bind-to core' --json results.json")


def test_settings_and_command_contain_the_timing():
    data = document()
    said = dict(setting_rows(from_text(text(data))))
    assert said["timing"] == "Time from when the last rank enters a call until the last rank leaves it"
    data["settings"]["timing"] = "osu"
    assert "OSU micro-benchmarks" in dict(setting_rows(from_text(text(data))))["timing"]
    assert " --loop osu --heap on " in command(from_text(text(data)))
    data["settings"].update(timing="cold", cold_calls=10)
    assert "the first 10 calls of new processes" in dict(setting_rows(from_text(text(data))))["timing"]
    assert " --cold 10 --heap on " in command(from_text(text(data)))


def test_command_of_an_early_file_has_placeholders():
    assert command(huddle.load(MEASURED)) == (
        "huddle bench -n 2 --sizes 8:4M --heap off --peers DIR --under openmpi-4 --json results.json")


def test_why_names_the_next_best():
    point = from_text(text(document())).points[0]
    assert why(point) == "predicted 180 ns; next exchange, 280 ns (1.56 ×)"


def document_mispredicted_by(factors):
    """Returns results whose first points are mispredicted by these factors, and the others not predicted."""
    data = document()
    for point in data["points"]:
        del point["choice"]
    for point, factor in zip(data["points"], factors):
        point["huddle_batches_ns"] = [[100.0]]
        point["choice"] = {"algorithm": "slots", "parameters": "", "predicted_ns": 100.0 * factor,
                           "others": []}
    return data


def test_the_error_of_the_model_is_the_median_of_its_factors():
    results = from_text(text(document_mispredicted_by([0.5, 1.5, 3])))
    assert results.model_error() == 2
    assert model_error_text(results) == (
        "With calibrated figures, predicted and measured times differ by a factor of 2.00 in the median "
        "of 3 points; 1 point marked ? differ by more than 2.")
    assert [point.is_mispredicted for point in results.points[:3]] == [False, False, True]
    assert why(results.points[2]) == "predicted 300 ns ?; no other algorithm is possible"


def test_error_of_the_model_excludes_calls_of_the_mpi():
    data = document_mispredicted_by([1.25, 3])
    data["points"][1]["passed_calls"] = 1
    data["calibrated"] = False
    assert model_error_text(from_text(text(data))) == (
        "With generic figures, predicted and measured times differ by a factor of 1.25 in the median of "
        "1 point, and by at most 2 everywhere.")


def test_error_of_the_model_is_empty_without_predictions():
    assert model_error_text(huddle.load(MEASURED)) == ""


def test_settings_have_every_mpi():
    said = [value for _, value in setting_rows(from_text(text(document())))]
    assert "intel: Intel(R) MPI Library 2021.18" in said
    assert "openmpi-5: Open MPI v5.0.11" in said
