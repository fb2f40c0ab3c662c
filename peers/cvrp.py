"""CVRPLIB files for the routing peers: read with vrplib, distances in the fixed point that solutions are judged in.

Packages are imported where they are used: an adapter says what it takes where none is installed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Problem:
    """The depot is node 0. Lengths are whole numbers in units of 1 / scale, so that every sum of them is that of the
    oracle, and a route limit binds for a peer exactly where it binds for us."""

    coordinates: np.ndarray  # [n, 2]; zeros where the file has none
    distances: np.ndarray  # [n, n] int64
    demands: np.ndarray  # [n]
    service: np.ndarray  # [n] int64
    capacity: int
    limit: int | None  # of a route's duration, service times included
    vehicles: int | None  # None: as many as are wanted


def read(path: Path, scale: int) -> Problem:
    import numpy as np
    import vrplib

    data = vrplib.read_instance(str(path))
    size = len(data["demand"])
    if list(data["depot"]) != [0]:
        raise ValueError(f"{path}: the depot must be node 1")
    lengths = np.asarray(data["edge_weight"], dtype=float)
    if data.get("edge_weight_type") == "CEIL_2D":
        lengths = np.ceil(lengths)
    service = np.broadcast_to(data.get("service_time", 0.0), size).astype(float).copy()
    service[0] = 0
    limit = data.get("distance")
    return Problem(
        coordinates=np.asarray(data.get("node_coord", np.zeros((size, 2))), dtype=float),
        distances=_fixed(lengths, scale),
        demands=np.asarray(data["demand"], dtype=np.int64),
        service=_fixed(service, scale),
        capacity=int(data["capacity"]),
        limit=None if limit is None else int(_fixed(limit, scale)),
        vehicles=data.get("vehicles"),
    )


def write(path: Path, routes: list[list[int]]) -> None:
    """`routes` of customers 1, 2, ... as CVRPLIB counts them."""
    path.write_text("".join(f"Route #{k}: {' '.join(map(str, route))}\n" for k, route in enumerate(routes, start=1)))


def _fixed(lengths: np.ndarray | float, scale: int) -> np.ndarray:
    """Rounded half up."""
    import numpy as np

    return np.floor(np.asarray(lengths, dtype=float) * scale + 0.5).astype(np.int64)
