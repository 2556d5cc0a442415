# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
import matplotlib
import pytest
from huddle.machine_view import machine_section
from huddle.plots.canvas import svg_element
from huddle.plots.palette import DARK, LIGHT, RATIO_EDGES, STAND_INS, STEPS, step_of, variables
from huddle.results import from_text
from sample import document, machine_model, of_one_mpi, text


@pytest.fixture(name="results")
def made_up_results():
    return from_text(text(document()))


def test_middle_step_is_for_nearly_equal_times():
    assert step_of(1) == STEPS // 2
    assert step_of(0.1) == 0
    assert step_of(10) == STEPS - 1
    # The steps are symmetric: a speedup and an equal slowdown have the same distance from the middle.
    for edge in RATIO_EDGES:
        assert step_of(edge * 1.001) + step_of(1 / edge / 1.001) == STEPS - 1


def luminance(color):
    parts = [int(color[place:place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055)**2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dim = sorted([luminance(one), luminance(other)], reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_enough_contrast(palette):
    for ink in (palette.ink, palette.quiet):
        assert contrast(ink, palette.paper) > 4.5
    pairs = list(zip(palette.steps, palette.step_inks)) + list(zip(palette.ramp, palette.ramp_inks))
    assert min(contrast(*pair) for pair in pairs) > 4
    for curve in (palette.native, palette.peer, palette.huddle, palette.floor):
        assert contrast(curve, palette.paper) > 3


def test_stand_ins_are_distinct():
    colors = [color for _, color in variables(STAND_INS)]
    assert len(set(colors)) == len(colors)
    assert len(colors) == len(list(variables(LIGHT))) == len(list(variables(DARK)))


def texts_of(figure):
    return {text.get_text() for axes in figure.axes for text in axes.texts}


def test_the_heat_map_has_every_ratio(results):
    cells = texts_of(results.heat_map())
    for point in results.points:
        assert any(cell.startswith(f"{point.ratio.middle:.2f}{point.marks}") for cell in cells)


def test_latency_has_curves_of_native_peer_huddle_and_floor(results):
    times, ratios = results.latency("allreduce").axes
    assert [line.get_label() for line in times.get_legend_handles_labels()[0]] == [
        "floor", "openmpi-5", "best MPI", "huddle"]
    assert len(times.collections) == 2  # one band for each of the two compared curves
    assert ratios.get_ylabel() == "ratio"


def test_latency_of_one_mpi_has_two_curves():
    times = from_text(text(of_one_mpi())).latency("bcast").axes[0]
    assert [line.get_label() for line in times.get_legend_handles_labels()[0]] == [
        "openmpi-5", "huddle"]


def test_operation_with_one_size_has_a_figure(results):
    assert results.latency("barrier").axes[0].get_ylim()[0] == 0


def test_axis_of_a_barrier_has_no_labels(results):
    axis = results.latency("barrier").axes[1].xaxis
    assert [label.get_text() for label in axis.get_ticklabels()] == []
    sizes = results.latency("bcast").axes[1].xaxis
    assert [label.get_text() for label in sizes.get_ticklabels()] == ["8", "64", "512", "4K", "32K",
                                                                       "256K", "2M"]


def test_lines_have_the_latency_between_threads_on_the_diagonal():
    data = document()
    data["machine_model"] = machine_model(threads=2)
    lines = from_text(text(data)).lines()
    assert texts_of(lines) == {"12", "30", "60", "140"}
    assert [one.get_text() for one in lines.axes[0].texts].count("12") == 16
    assert "on the diagonal between the hardware threads" in machine_section(from_text(text(data)))


def test_lines_show_the_measured_pairs(results):
    assert texts_of(results.lines()) == {"30", "60", "140"}
    assert from_text(text(of_one_mpi())).lines() is None


def test_lines_of_a_large_machine_have_few_shapes():
    data = document()
    data["machine_model"] = machine_model(cores=128)
    axes = from_text(text(data)).lines().axes[0]
    assert texts_of(axes.figure) == set()
    assert sum(patch.get_width() for patch in axes.patches) == 128 * 127  # all cells except the diagonal
    assert len(axes.patches) < 1000


def test_settings_of_the_caller_do_not_change(results):
    before = dict(matplotlib.rcParams)
    results.heat_map()
    assert dict(matplotlib.rcParams) == before


def test_svg_element_has_a_title_and_no_stand_in_colors(results):
    from huddle.plots.latency import latency_figure
    element = svg_element(latency_figure(results, "bcast", STAND_INS), "one", 'a "title"')
    assert element.startswith('<svg class="plot" role="img" aria-label="a &quot;title&quot;"')
    assert "#fe01" not in element
    assert "var(--huddle)" in element
    assert 'id="one-' in element and "url(#one-" in element
