"""The scoreboard as text: what a run on a terminal ends with."""

from pathlib import Path

from vicinity_analysis.inputs.records import Machine
from vicinity_analysis.pages import share
from vicinity_analysis.views.headline import Bar, Headline, Ratio


def bar(title: str, *values: float, left_out: int = 0) -> Bar:
    ratios = tuple(Ratio(None, None, "gpu", (), value, "a card", counts=True, source="") for value in values)
    return Bar(title, "gpu", ratios, left_out)


def test_a_line_a_paper_and_what_it_is_over() -> None:
    measured = Headline(None, (bar("theirs", 2.0, 4.0, 8.0), bar("ours", 50.0)), "a card, as published", None)
    scaled = Headline(None, (bar("theirs", left_out=3), bar("ours", 7.0)), "", None)
    lines = [share.Line("One (A, B)", measured, 2, 9, 0), share.Line("Another", scaled, 1, 4, 3)]
    lines.append(share.Line("Third", Headline(None, (), "", None), 0, 0, 0))
    lines.append(share.Line("Fourth", Headline(None, (), "", None), 0, 5, 5))
    told = [line.split() for line in share.text("NVIDIA X", lines).splitlines()]
    assert told[0] == ["vicinity", "on", "NVIDIA", "X"]
    assert told[2:6] == [
        ["One", "4.00×", "50.0×", "2", "of", "9"],
        ["Another", "-", "7.00×", "1", "of", "4,", "3", "open"],
        ["Third", "-", "-", "no", "claims", "judged"],
        ["Fourth", "-", "-", "none", "of", "5", "judged", "yet"],
    ]
    assert told[6:] == [["One:", "times", "as", "fast", "as", "a", "card,", "as", "published"]]


def test_a_line_of_another_machine_names_it() -> None:
    own, other = (Machine(Path(name), {"gpu": {"name": name}}, []) for name in ("NVIDIA X", "NVIDIA Y"))
    lines = [
        share.Line(title, Headline(machine, (bar("theirs", 2.0), bar("ours", 3.0)), "a card", None), 0, 0, 0)
        for title, machine in (("One", own), ("Another", other))
    ]
    assert share.text("NVIDIA X", lines).splitlines()[-2:] == [
        "  One: times as fast as a card",
        "  Another: on NVIDIA Y, times as fast as a card",
    ]
