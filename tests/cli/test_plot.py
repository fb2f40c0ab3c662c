"""solve --plot and settings of the instance: on vehicle routing."""

from __future__ import annotations

import json
import os
from xml.etree import ElementTree

import pytest
from conftest import Program, error_line

VRP = """NAME : five
TYPE : CVRP
DIMENSION : 6
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 0 10
3 10 0
4 -10 0
5 0 -10
6 10 10
DEMAND_SECTION
1 0
2 4
3 4
4 4
5 4
6 4
DEPOT_SECTION
1
-1
EOF
"""
SOLVE = ("solve", "alns", "--instance", "five.vrp", "--calls", "5", "--output", "five.sol", "--quiet")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def five(vicinity: Program) -> Program:
    (vicinity.folder / "five.vrp").write_text(VRP)
    return vicinity


def test_routes_are_drawn(five: Program) -> None:
    (five.folder / "five.vrp").rename(five.folder / "<&>.vrp")
    result = five("solve", "alns", "--instance", "<&>.vrp", "--calls", "5", "--plot", "routes.svg", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["plot"] == "routes.svg"
    root = ElementTree.parse(five.folder / "routes.svg").getroot()
    routes = [g.find(f"{SVG}title").text for g in root.iter(f"{SVG}g")]
    assert len(routes) == found["solution"].count(0) + 1
    assert len(list(root.iter(f"{SVG}circle"))) == 5
    assert root.find(f"{SVG}text").text == f"<&>: {found['objective']:g}, {len(routes)} routes"
    assert sum(int(title.split("load ")[1].split(" ")[0]) for title in routes) == 20


def test_a_drawing_is_not_put_over_the_solution_to_come(five: Program) -> None:
    result = five(*SOLVE, "--plot", "./five.sol")
    assert result.returncode == 2 and not (five.folder / "five.sol").exists()
    assert error_line(result) == "--plot: ./five.sol is the instance or a solution; choose another file"


def test_a_drawing_is_replaced_and_no_other_file(five: Program) -> None:
    assert five(*SOLVE, "--plot", "r.svg").returncode == 0
    assert five(*SOLVE, "--plot", "r.svg").returncode == 0
    other = five.folder / "other.svg"
    other.write_text("<svg/>")
    result = five(*SOLVE, "--plot", "other.svg")
    assert result.returncode == 2 and "--plot: other.svg exists and is no drawing" in error_line(result)
    assert other.read_text() == "<svg/>"
    assert five(*SOLVE, "--plot", "other.svg", "--force").returncode == 0
    assert "polyline" in other.read_text()
    for place in ("none/r.svg", "."):
        result = five(*SOLVE, "--plot", place)
        assert result.returncode == 3 and "cannot be written" in error_line(result)


def test_neither_the_instance_nor_a_solution_is_drawn_over(five: Program) -> None:
    assert five(*SOLVE).returncode == 0
    for place in ("five.vrp", "./five.sol", str(five.folder / "five.sol")):
        before = (five.folder / "five.vrp").read_text(), (five.folder / "five.sol").read_text()
        result = five(*SOLVE, "--force", "--plot", place)
        assert result.returncode == 2 and "is the instance or a solution" in error_line(result)
        assert before == ((five.folder / "five.vrp").read_text(), (five.folder / "five.sol").read_text())
    (five.folder / "five.sol").unlink()
    assert five(*SOLVE, "--plot", "five.sol").returncode == 2 and not (five.folder / "five.sol").exists()


def test_names_that_are_no_text(five: Program) -> None:
    name = os.fsdecode(b"caf\xe9 \xff\x01\xef\xbf\xbe \xc3\xa9.vrp")
    (five.folder / "five.vrp").rename(five.folder / name)
    result = five("solve", "alns", "--instance", name, "--calls", "5", "--plot", "r.svg", "--json", "--output", "a.sol")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["plot"] == "r.svg"
    title = ElementTree.parse(five.folder / "r.svg").getroot().find(f"{SVG}text").text
    assert title.startswith("caf? ????? \u00e9: ")


def test_what_is_not_drawn(five: Program) -> None:
    numbers = "\n".join(" ".join("0" if i == j else "5" for j in range(6)) for i in range(6))
    explicit = VRP.replace("EUC_2D", "EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX")
    begin, end = explicit.index("NODE_COORD_SECTION"), explicit.index("DEMAND_SECTION")
    (five.folder / "five.vrp").write_text(explicit[:begin] + f"EDGE_WEIGHT_SECTION\n{numbers}\n" + explicit[end:])
    result = five(*SOLVE, "--plot", "r.svg")
    assert result.returncode == 2 and "five.vrp: the instance has no coordinates" in error_line(result)
    assert not (five.folder / "r.svg").exists() and not (five.folder / "five.sol").exists()
    (five.folder / "q.dat").write_text("2\n0 1\n1 0\n0 1\n1 0\n")
    result = five("solve", "sa", "--instance", "q.dat", "--plot", "r.svg")
    assert result.returncode == 2 and "solutions of 'sa' are not drawn" in error_line(result)


def test_another_fleet(five: Program) -> None:
    assert five(*SOLVE, "--vehicles", "3").returncode == 0
    result = five(*SOLVE, "--set", "vehicles=1")
    assert result.returncode == 2 and "--set: vehicles: the demands sum up to 20" in error_line(result)
    (five.folder / "five.vrp").write_text(VRP.replace("CAPACITY : 10", "CAPACITY : 10\nVEHICLES : 1"))
    result = five(*SOLVE)
    assert result.returncode == 2 and "five.vrp: the demands sum up to 20" in error_line(result)
    assert five(*SOLVE, "--set", "vehicles=3", "--force").returncode == 0  # mends it
    assert five(*SOLVE, "--set", "vehicles=-1").returncode == 2


def test_distances_are_rounded_as_asked(five: Program) -> None:
    found = {}
    for rounding in ("none", "nearest"):
        result = five(*SOLVE, "--json", "--force", "--set", f"rounding={rounding}")
        assert result.returncode == 0, result.stderr
        found[rounding] = json.loads(result.stdout)
    assert found["nearest"]["size"].endswith(", whole distances") and found["nearest"]["objective"] % 1 == 0
    assert "whole" not in found["none"]["size"] and found["none"]["objective"] % 1 != 0
    result = five(*SOLVE, "--set", "rounding=up")
    assert result.returncode == 2 and "rounding" in error_line(result)


def test_far_customers_of_small_demand_are_served(five: Program) -> None:
    far = VRP.replace(" 10", " 10000000").replace("CAPACITY : 10000000", "CAPACITY : 1")
    for k in range(2, 7):
        far = far.replace(f"\n{k} 4\n", f"\n{k} 1\n")
    (five.folder / "five.vrp").write_text(far)
    result = five(*SOLVE, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["solution"].count(0) == 4


def test_few_threads_have_few_lines_where_time_ends_the_search(five: Program) -> None:
    def settings(*more: str) -> dict[str, object]:
        named = ("--instance", "five.vrp", "--output", "five.sol", "--force", "--implementation", "cpu-hybrid")
        result = five("solve", "alns", *named, "--quiet", "--json", *more)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)["settings"]

    assert settings("--time", "0.3", "--set", "threads=2") == {"threads": 2, "processes": 4}
    assert settings("--time", "0.3", "--set", "threads=2", "--set", "processes=7") == {"threads": 2, "processes": 7}
    assert settings("--time", "0.3", "--set", "threads=5") == {"threads": 5}
    assert settings("--calls", "2", "--set", "threads=2") == {"threads": 2}
