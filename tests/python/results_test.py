# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
import copy

import huddle
import pytest
from huddle.results import from_text
from sample import MEASURED, SIZES, document, of_one_mpi, text


def test_reads_measured_results():
    results = huddle.load(MEASURED)
    assert results.operations == ["barrier", "bcast", "reduce", "allreduce"]
    assert results.sizes[0] == 8 and results.sizes[-1] == 4 << 20
    assert results.mean_ratio("barrier") == pytest.approx(1.89, abs=0.005)
    assert len(results.rows()) == 34
    assert results.machine is None


def test_reads_complete_results():
    results = from_text(text(document()))
    point = results.of("allreduce")[0]
    assert point.size_bytes == 8
    assert point.choice.chosen.algorithm == "slices"
    assert point.choice.others[0].algorithm == "exchange"
    assert point.floor_ns == pytest.approx(30.16)
    assert results.native_ns(point) == point.mpis_ns["openmpi-5"]
    assert results.native_ns(point) > point.native_ns.middle
    assert results.machine.cores == 16
    assert results.sizes == SIZES


def test_without_peers_native_is_the_mpi_itself():
    results = from_text(text(of_one_mpi()))
    point = results.points[0]
    assert not results.has_peers
    assert results.native_ns(point) == point.native_ns.middle


def test_marks_match_the_tables():
    data = document()
    data["points"][0].update(stable=False, passed_calls=3, below_bar=True)
    data["points"][1].update(stable=True, passed_calls=0, below_bar=False)
    points = from_text(text(data)).points
    assert points[0].marks == "~=!"
    assert points[1].marks == ""


def changed(path, value):
    """Returns the document with another value at `path`, or without that entry if the value is None."""
    data = copy.deepcopy(document())
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return text(data)


@pytest.mark.parametrize("given, said", [
    ("", "the file is empty"),
    ("\n", "the file is empty"),
    ("{", "invalid or incomplete JSON"),
    (text(document())[:5000], "invalid or incomplete JSON"),
    ("[" * 100000, "invalid or incomplete JSON"),
    ("[]", "the document is not an object"),
    ("{}", "not a result of huddle"),
    (changed(["schema"], 2), "schema 2 is unknown: this version of huddle reads only 1"),
    (changed(["schema"], "1"), "schema 1 is unknown"),
    (changed(["command"], "topo"), "this is the output of 'huddle topo'"),
    (changed(["what"], "engine"), "the output of 'huddle bench engine'"),
    (changed(["what"], "guidelines"), "the output of 'huddle bench --guidelines'"),
    (changed(["ranks"], None), "'ranks' is missing"),
    (changed(["ranks"], -2), "'ranks' is not a whole number"),
    (changed(["oversubscribed"], 1), "'oversubscribed' is not true or false"),
    (changed(["notes"], [1]), "'notes' is not a list of texts"),
    (changed(["points"], []), "no measured point"),
    (changed(["points", 3, "estimate", "low"], 0), "'points[3].estimate.low' is not a number above 0"),
    (changed(["points", 3, "huddle_batches_ns"], [[]]), "points[3].huddle_batches_ns"),
    (changed(["points", 3, "huddle_batches_ns", 0, 0], "5"), "points[3].huddle_batches_ns"),
    (changed(["points", 3, "choice", "others"], None), "'points[3].choice.others' is missing"),
    (changed(["machine_model", "pairs", "one_way_ns"], [[1]]), "not one number for each pair"),
    (changed(["machine_model", "topology", "levels", 1, "bytes"], [1]), "not one number for each group"),
    (text(document()).replace('"point_seconds": 2.5', '"point_seconds": NaN'), "NaN is not a number"),
], ids=lambda word: word[:30])
def test_error_is_one_sentence_with_the_place(given, said):
    with pytest.raises(huddle.BadResults) as refusal:
        from_text(given)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_error_names_an_unknown_operation():
    with pytest.raises(KeyError, match="alltoallw was not measured; measured are barrier, bcast"):
        from_text(text(document())).of("alltoallw")
