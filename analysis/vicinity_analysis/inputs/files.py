"""Reading files that may be damaged: whole, regular, strictly JSON, and as docs/schema/ says."""

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from vicinity_analysis.errors import InputError
from vicinity_analysis.inputs.schema import Check, Fault, compiled

LARGEST = 1 << 30  # bytes of a file; records of thousands of runs are some megabytes


@cache
def schema(name: str) -> Check:
    """The check of docs/schema/<name>.json."""
    return compiled(json.loads((Path(__file__).parent / "schema" / f"{name}.json").read_text(encoding="utf-8")))


def read_bytes(path: Path) -> bytes:
    """Of a regular file of at most LARGEST bytes: no pipe is waited for, no device read to its end."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: not a regular file; remove it")
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: larger than {LARGEST >> 20} MiB; move it away")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


class NotJson(ValueError):
    """In one line; and which line of the text."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is beyond all numbers")
    return value


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


_decoder = json.JSONDecoder(parse_constant=_refused)
_careful = json.JSONDecoder(parse_constant=_refused, parse_float=_finite, parse_int=_whole)


def parse(text: str, check: Check) -> tuple[Any, Fault | None]:
    """One JSON value, and what a check says of it. Raises NotJson for what is none: NaN, numbers beyond double
    precision, halves of characters, and what is nested beyond any use."""
    try:
        found = _decoder.decode(text)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        fault = check(found)
        if fault is not None:
            _careful.decode(text)  # an infinite number is a fault of the text, whatever field it stands in
        return found, fault
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg}", error.lineno) from error
    except RecursionError:
        raise NotJson("not JSON: nested too deep") from None
    except UnicodeEncodeError:
        raise NotJson("not JSON: half a character (a lone surrogate)") from None
    except ValueError as error:
        raise NotJson(f"not JSON: {error}") from None


def read_json(path: Path, kind: str) -> dict[str, Any]:
    """A file that is one JSON object, checked by docs/schema/<kind>.json. Raises InputError: file, line and field."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: not UTF-8; mend or remove the file") from error
    try:
        found, fault = parse(text, schema(kind))
    except NotJson as error:
        raise InputError(f"{path}:{error.line}: {error}; mend or remove the file") from error
    if fault is not None:
        raise InputError(f"{path}:{line_of(text, fault)}: {fault}; mend or remove the file")
    return found


def line_of(text: str, fault: Fault) -> int:
    """Where a field stands: the line of its last name that the text has, searched name by name."""
    at = 0
    for name in re.findall(r"[^.\[\]]+(?!\d*\])", fault.field):
        found = re.compile(re.escape(json.dumps(name, ensure_ascii=False)) + r"\s*:").search(text, at)
        if found is None:
            break
        at = found.start()
    return text.count("\n", 0, at) + 1


def lines(data: bytes) -> Iterator[tuple[int, str | None, bool]]:
    """Number, text (None: not UTF-8) and whether a newline ends it, of each line that is not blank. A byte order mark
    before a line is no part of it."""
    try:
        pieces: list[str | None] = list(data.decode("utf-8").split("\n"))
    except UnicodeDecodeError:
        pieces = [_decoded(piece) for piece in data.split(b"\n")]
    for number, piece in enumerate(pieces, start=1):
        text = piece.removeprefix("\ufeff") if piece is not None else None
        if text is None or text.strip(" \t\r"):
            yield number, text, number < len(pieces)


def _decoded(piece: bytes) -> str | None:
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return None
