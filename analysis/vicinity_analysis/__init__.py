"""Tables, plots, reports and the regression gate over vicinity's records."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


def frame(path_or_paths: str | Path | Iterable[str | Path] = "results") -> "pandas.DataFrame":
    """All records as one table, one row a record line; the columns are those of vicinity_analysis.inputs.frames.frame.

    `path_or_paths`: a machine's folder, a folder of machines (results/), or several of these. Raises InputError."""
    from vicinity_analysis.inputs.frames import (
        frame,  # pandas takes half a second to load: only who asks for a table waits
    )

    return frame(path_or_paths)
