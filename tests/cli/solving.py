"""An instance for `vicinity solve`, and its cost, computed here from the definition."""

from __future__ import annotations

from pathlib import Path

Matrix = list[list[int]]


MINE = ["sa", "--instance", "mine.dat"]


def qap(n: int) -> tuple[Matrix, Matrix]:
    """Both matrices of an asymmetric instance."""
    a = [[(7 * i + 3 * j * j + i * j) % 23 for j in range(n)] for i in range(n)]
    b = [[(5 * i * i + 11 * j + 2 * i * j) % 19 for j in range(n)] for i in range(n)]
    return a, b


def write_qap(path: Path, n: int) -> None:
    rows = [" ".join(map(str, row)) for matrix in qap(n) for row in matrix]
    path.write_text("\n".join([str(n), "", *rows[:n], "", *rows[n:]]) + "\n")


def write_vrp(path: Path, n: int) -> None:
    """n customers around a depot."""
    places = [(500, 500)] + [((37 * k * k + 11 * k) % 1000, (53 * k * k + 29 * k + 7) % 1000) for k in range(1, n + 1)]
    lines = ["NAME : mine", "TYPE : CVRP", f"DIMENSION : {n + 1}", "EDGE_WEIGHT_TYPE : EUC_2D", "CAPACITY : 40"]
    lines += ["NODE_COORD_SECTION", *(f"{k} {x} {y}" for k, (x, y) in enumerate(places, start=1))]
    lines += ["DEMAND_SECTION", "1 0", *(f"{k} {1 + k % 9}" for k in range(2, n + 2))]
    path.write_text("\n".join([*lines, "DEPOT_SECTION", "1", "-1", "EOF"]) + "\n")


def cost(n: int, permutation: list[int]) -> int:
    a, b = qap(n)
    return sum(a[i][j] * b[permutation[i]][permutation[j]] for i in range(n) for j in range(n))


def solution(path: Path) -> tuple[int, int, list[int]]:
    """Size, stated cost and the permutation, from 0."""
    n, stated, *locations = map(int, path.read_text().split())
    return n, stated, [location - 1 for location in locations]


def assert_solves(path: Path, n: int) -> int:
    size, stated, permutation = solution(path)
    assert size == n and sorted(permutation) == list(range(n))
    assert stated == cost(n, permutation)
    return stated
