"""Figures as data: what a page draws again."""

import json

from matplotlib.figure import Figure
from vicinity_analysis.views.charts import chart_of, told
from vicinity_analysis.views.figures import Numbers, handle, log_axis, render


def drawn(draw):
    return render("name", "Title", "Caption", draw)


def test_lines_points_bands_and_rules():
    def draw():
        figure = Figure(layout="constrained")
        plot = figure.subplots()
        told(plot.plot([1, 10], [2.0, float("nan")], "--", color="#009E73"), "gpu", "H100")
        for x, note in ((1, "measured"), (5, "measured"), (10, "line 10")):
            point = plot.plot(x, 2.0, "o", color="#009E73", markerfacecolor="none")
            told(point, "gpu", "H100", [note])
        band = plot.hlines(3, 1, 10, color="#7d7d7d", linewidth=7)
        told(band, "published")
        plot.axhline(1)
        log_axis(plot, "x", "N (size)")
        plot.set_title("H100")
        plot.set_ylim(4, 0)
        return figure

    chart = drawn(draw).chart
    assert chart["texts"] == ["measured", "line 10"]
    (panel,) = json.loads(json.dumps(chart, allow_nan=False))["panels"]
    line, points, band = panel["series"]
    assert (line["dash"], line["x"], line["y"], line["label"], line["machine"]) == (
        "dash",
        [1, 10],
        [2, None],
        "gpu",
        "H100",
    )
    assert (points["symbol"], points["hollow"], points["x"], points["notes"]) == (
        "circle",
        True,
        [1, 5, 10],
        [0, 0, 1],
    )
    assert band["band"] and band["x"] == [1, 10] and "notes" not in band
    assert panel["rules"] == [{"axis": "y", "at": 1}] and panel["title"] == "H100"
    assert panel["x"]["log"] and panel["x"]["title"] == "N (size)" and panel["y"]["range"] == [4, 0]


def test_without_words_the_legend_names_what_is_drawn():
    def draw():
        figure = Figure(layout="constrained")
        one, two = figure.subplots(1, 2, sharex=True, sharey=True)
        one.plot([1, 2], [1, 2], "-", marker="s", color="#D55E00")
        two.plot([1], [3], "v", color="#0072B2")
        figure.legend(handles=[handle("#D55E00", "s", "cpu-serial"), handle("#0072B2", "v", "gpu")])
        return figure

    chart = drawn(draw).chart
    assert [panel["series"][0]["label"] for panel in chart["panels"]] == ["cpu-serial", "gpu"]
    assert chart["shared"] == "xy"


def test_a_scale_that_pages_lack_is_transformed_and_its_ticks_keep_their_values():
    def draw():
        figure = Figure(layout="constrained")
        plot = figure.subplots()
        plot.plot([0, 1, 100], [0.0, 1.0, 100.0], "o")
        plot.set_yscale("symlog", linthresh=1)
        plot.set_yticks([0, 1, 100], ["none", "one", "many"])
        return figure

    axis = drawn(draw).chart["panels"][0]["y"]
    assert not axis["log"] and [text for _, text in axis["ticks"]] == ["none", "one", "many"]
    assert axis["ticks"][0][0] == 0 and axis["ticks"][2][0] < 10


def test_an_empty_figure_has_no_panels():
    assert chart_of(Figure()) == {"panels": [], "shared": "", "texts": []}


def test_a_short_scale_has_more_than_one_number():
    def ticks(low, high):
        figure = Figure(layout="constrained")
        plot = figure.subplots()
        plot.plot([1, 2], [low, high], "o")
        log_axis(plot, "y", "")
        least, most = plot.get_ylim()
        return [value for value in plot.get_yticks() if least <= value <= most]

    assert ticks(0.4, 5) == [0.5, 1, 2, 5] and ticks(16, 650) == [20, 50, 100, 200, 500]
    assert ticks(1e-3, 1e3) == [1e-3, 1e-2, 0.1, 1, 10, 100, 1e3]


def test_numbers_along_an_axis_have_one_notation():
    write = Numbers().format_ticks
    assert write([1000, 10_000, 100_000]) == ["1,000", "10,000", "100,000"]
    assert write([10_000, 100_000, 1e6]) == ["10⁴", "10⁵", "10⁶"]
    assert write([300_000, 1e6, 3e6]) == ["300,000", "1,000,000", "3,000,000"]
    assert write([0.001, 0.1]) == ["0.001", "0.1"] and write([1e-5, 1.0]) == ["10⁻⁵", "10⁰"]
