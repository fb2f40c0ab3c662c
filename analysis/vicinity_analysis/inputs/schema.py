"""JSON Schema as far as docs/schema/ uses it: a schema is compiled to a function once, since thousands of records pass
through it. Both sides, this one and the program, give the same answer: no fault, or the field that is wrong."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

DEEPEST = 16  # levels of a value that a schema says nothing of
LARGEST = 1.7976931348623157e308  # of a number
SHOWN = 60  # characters of a wrong value in a message
REMEMBERED = 10000  # values of a field that were right
NOTES = ("$schema", "$id", "$defs", "$comment", "title", "description")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


class Fault(NamedTuple):
    """What is wrong where: field is "" (the whole), "status", "samples.kernel[3]"."""

    field: str
    what: str

    def __str__(self) -> str:
        return f"{self.field}: {self.what}" if self.field else self.what


Check = Callable[[Any], Fault | None]


def compiled(schema: Mapping[str, Any]) -> Check:
    """value -> its first fault, None where there is none. Raises ValueError for a keyword that is not known here."""
    return _compile(schema, schema.get("$defs", {}))


def _compile(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Check:
    checks = tuple(_checks(schema, defs))
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> Fault | None:  # noqa: ANN401
        for one in checks:
            fault = one(value)
            if fault is not None:
                return fault
        return None

    return check


def _checks(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Iterator[Check]:
    rest = {key: value for key, value in schema.items() if key not in NOTES}
    if "$ref" in rest:
        yield _compile(defs[rest.pop("$ref").removeprefix("#/$defs/")], defs)
    if "type" in rest:
        yield _of_type(rest.pop("type"))
    if "const" in rest:
        yield _one_of([rest.pop("const")])
    if "enum" in rest:
        yield _one_of(rest.pop("enum"))
    yield from _take(rest, ("minimum", "exclusiveMinimum", "maximum"), _bounded)
    yield from _take(rest, ("minLength", "maxLength", "pattern"), _text)
    if "items" in rest:
        yield _items(rest.pop("items"), defs)
    yield from _take(rest, ("minItems",), _long_enough)
    if "properties" in rest or "additionalProperties" in rest or "required" in rest or "propertyNames" in rest:
        whole = "type" in schema  # a part of a schema, behind "then", says nothing of members it does not name
        parts = (rest.pop(key, None) for key in ("required", "properties", "additionalProperties", "propertyNames"))
        yield _members(*parts, defs, _flat if whole else _anything)
    yield from _take(rest, ("minProperties",), _large_enough)
    if "if" in rest:
        yield _implication(_compile(rest.pop("if"), defs), _compile(rest.pop("then"), defs))
    if rest:
        raise ValueError(f"keywords of JSON Schema that are not known here: {', '.join(rest)}")


def _take(rest: dict[str, Any], keys: tuple[str, ...], make: Callable[..., Check]) -> Iterator[Check]:
    if any(key in rest for key in keys):
        yield make(*(rest.pop(key, None) for key in keys))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def is_number(value: object) -> bool:
    """Finite, and not true or false."""
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST  # type: ignore[operator]


def _of_type(names: str | list[str]) -> Check:
    wanted = [names] if isinstance(names, str) else list(names)
    kinds = frozenset(TYPES[name] for name in wanted if name in TYPES)
    number, integer = "number" in wanted, "integer" in wanted
    what = f"is not of type {' or '.join(wanted)}"

    def check(value: Any) -> Fault | None:  # noqa: ANN401
        kind = type(value)
        if kind in kinds:
            return None
        told = number or (integer and (kind is int or (kind is float and value.is_integer())))
        if told and is_number(value):
            return None
        return Fault("", f"{_shown(value)} {what}")

    return check


def _one_of(values: list[Any]) -> Check:
    known = {(type(value) is bool, value) for value in values}
    what = " or ".join(map(repr, values))

    def check(value: Any) -> Fault | None:  # noqa: ANN401
        plain = type(value) in (str, int, float, bool, type(None))
        return None if plain and (type(value) is bool, value) in known else Fault("", f"{_shown(value)} is not {what}")

    return check


def _bounded(least: float | None, above: float | None, most: float | None) -> Check:
    def check(value: Any) -> Fault | None:  # noqa: ANN401
        if not is_number(value):
            return None
        if least is not None and value < least:
            return Fault("", f"{_shown(value)} is less than {least}")
        if above is not None and value <= above:
            return Fault("", f"{_shown(value)} is not above {above}")
        if most is not None and value > most:
            return Fault("", f"{_shown(value)} is more than {most:g}")
        return None

    return check


def _text(least: int | None, most: int | None, pattern: str | None) -> Check:
    # Python's $ also matches before a newline at the end, that of JSON Schema does not.
    matches = re.compile(re.sub(r"\$$", r"\\Z", pattern or "")).search

    def check(value: Any) -> Fault | None:  # noqa: ANN401
        if type(value) is not str:
            return None
        if most is not None and len(value) > most:
            return Fault("", f"{len(value)} characters are more than {most}")
        if least is not None and len(value) < least:
            return Fault("", "is empty")
        return None if matches(value) else Fault("", f"{_shown(value)} is not of the form {pattern}")

    return check


def _items(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Check:
    each, quick = _compile(schema, defs), _quick(schema)

    def check(value: Any) -> Fault | None:  # noqa: ANN401
        if type(value) is not list or quick(value):
            return None
        for position, one in enumerate(value):
            fault = each(one)
            if fault is not None:
                return _within(f"[{position}]", fault)
        return None

    return check


def _quick(schema: Mapping[str, Any]) -> Callable[[list[Any]], bool]:
    """Whether a list is right, told without a call for each item. False: look at each."""
    kinds: frozenset[type]
    if schema.get("type") == "number":
        low, above = schema.get("minimum", float("-inf")), schema.get("exclusiveMinimum", float("-inf"))
        high, kinds = min(schema.get("maximum", LARGEST), LARGEST), frozenset({int, float})

        def numbers(value: list[Any]) -> bool:
            return kinds.issuperset(map(type, value)) and (
                not value or (above < min(value) >= low and max(value) <= high)
            )

        return numbers
    kinds = frozenset({bool} if schema.get("type") == "boolean" else ())
    return lambda value: kinds.issuperset(map(type, value))


def _long_enough(least: int) -> Check:
    def check(value: Any) -> Fault | None:  # noqa: ANN401
        return Fault("", "is empty") if type(value) is list and len(value) < least else None

    return check


def _large_enough(least: int) -> Check:
    def check(value: Any) -> Fault | None:  # noqa: ANN401
        return Fault("", "is empty") if type(value) is dict and len(value) < least else None

    return check


def _members(
    required: list[str] | None,
    properties: Mapping[str, Any] | None,
    others: Mapping[str, Any] | None,
    names: Mapping[str, Any] | None,
    defs: Mapping[str, Any],
    unknown: Check,
) -> Check:
    known = {name: _compile(schema, defs) for name, schema in (properties or {}).items()}
    right: dict[str, set[str | int]] = {name: set() for name in known}  # values that come again in every record
    beside: set[str | int] = set()  # of the members that `other` checks
    other = _compile(others, defs) if others is not None else unknown
    named, needed = _compile(names, defs) if names else None, tuple(required or ())

    def check(value: Any) -> Fault | None:  # noqa: ANN401
        if type(value) is not dict:
            return None
        for name in needed:
            if name not in value:
                return Fault(name, "is missing")
        if named is not None:
            for name in value:
                if (fault := named(name)) is not None:
                    return Fault("", f"a name in it: {fault.what}")
        if other is _anything:
            for name, one in known.items():
                if name in value and (fault := one(value[name])) is not None:
                    return _within(name, fault)
            return None
        for name, one in value.items():
            plain = type(one) is str or type(one) is int
            seen = right.get(name, beside)
            if plain and one in seen:
                continue
            fault = known.get(name, other)(one)
            if fault is not None:
                return _within(str(name), fault)
            if plain and len(seen) < REMEMBERED:
                seen.add(one)
        return None

    return check


def _anything(_: Any) -> None:  # noqa: ANN401
    """No fault."""


def _flat(value: Any, depth: int = 0) -> Fault | None:  # noqa: ANN401
    """What a schema does not know may be anything, but not nested without end."""
    kind = type(value)
    if kind in (int, float) and not is_number(value):
        return Fault("", "is beyond all numbers")
    if kind is dict or kind is list:
        if depth >= DEEPEST:
            return Fault("", f"is nested more than {DEEPEST} deep")
        for one in value.values() if kind is dict else value:
            fault = _flat(one, depth + 1)
            if fault is not None:
                return fault
    return None


def _implication(condition: Check, consequence: Check) -> Check:
    def check(value: Any) -> Fault | None:  # noqa: ANN401
        return consequence(value) if condition(value) is None else None

    return check


def _within(name: str, fault: Fault) -> Fault:
    separator = "." if fault.field and not fault.field.startswith("[") else ""
    return Fault(f"{name}{separator}{fault.field}", fault.what)
