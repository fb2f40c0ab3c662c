"""FlatZinc for the constraint-solving peers: as much of it as the models of our experiments have."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TOKEN = re.compile(r'"[^"]*"|::|\.\.|-?\d+|[A-Za-z_]\w*|[\[\](){},;:=]')

Value = int | str | list["Value"] | range | tuple[str, list["Value"]]  # tuple: an annotation with arguments


@dataclass
class Model:
    variables: dict[str, list[range] | None] = field(default_factory=dict)  # values in ranges; None: any
    booleans: set[str] = field(default_factory=set)
    names: dict[str, Value] = field(default_factory=dict)  # of parameters and arrays
    constraints: list[tuple[str, list[Value]]] = field(default_factory=list)
    goal: str = "satisfy"  # minimize, maximize
    objective: str = ""
    searched: list[str] = field(default_factory=list)  # the variables that the search annotation names, in its order

    def resolved(self, value: Value) -> Value:
        """Names of parameters and arrays replaced by what they stand for."""
        if isinstance(value, list):
            return [self.resolved(element) for element in value]
        return self.names.get(value, value) if isinstance(value, str) else value


def read(path: Path) -> Model:
    """Raises ValueError, which names the statement, for anything else."""
    model = Model()
    text = re.sub(r"%.*", "", path.read_text())
    for statement in filter(str.strip, text.split(";")):
        tokens = _Tokens(statement)
        try:
            _read_statement(tokens, model)
        except (IndexError, ValueError, KeyError) as error:
            raise ValueError(f"{path}: not understood: {' '.join(statement.split())[:100]}") from error
    return model


def printing(text: str, names: str) -> str:
    """The model that prints the variables whose names match the pattern `names`, and nothing else."""
    text = re.sub(r":: *output_(var|array\(\[[^\]]*\]\))", "", text)
    return re.sub(rf"(?m)^(var [^:;]*: *{names}\b)", r"\1 :: output_var", text)


class _Tokens:
    def __init__(self, text: str) -> None:
        self._tokens, self._next = TOKEN.findall(text), 0

    def peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self._tokens[self._next]
        if expected and token != expected:
            raise ValueError(token)
        self._next += 1
        return token

    def took(self, token: str) -> bool:
        found = self.peek() == token
        self._next += found
        return found


def _read_statement(tokens: _Tokens, model: Model) -> None:
    kind = tokens.take()
    if kind == "predicate":
        return
    if kind == "constraint":
        name = tokens.take()
        model.constraints.append((name, [model.resolved(v) for v in _list(tokens, "(", ")")]))
    elif kind == "solve":
        for name, arguments in _annotations(tokens):
            model.searched += [str(v) for v in _searched(name, arguments, model)]
        model.goal = tokens.take()
        model.objective = "" if model.goal == "satisfy" else tokens.take()
    elif kind == "var":
        _read_variable(tokens, model)
    else:
        while not tokens.took(":"):
            tokens.take()
        name = tokens.take()
        _annotations(tokens)
        tokens.take("=")
        model.names[name] = model.resolved(_value(tokens))


def _read_variable(tokens: _Tokens, model: Model) -> None:
    is_bool = tokens.took("bool")
    domain: list[range] | None = [range(2)] if is_bool else None
    if not is_bool and not tokens.took("int"):
        found = _value(tokens)
        domain = [found] if isinstance(found, range) else [range(v, v + 1) for v in found]
    tokens.take(":")
    name = tokens.take()
    _annotations(tokens)
    if tokens.took("="):
        model.constraints.append(("int_eq", [name, model.resolved(_value(tokens))]))
    model.variables[name] = domain
    if is_bool:
        model.booleans.add(name)


def _annotations(tokens: _Tokens) -> list[tuple[str, list[Value]]]:
    found = []
    while tokens.took("::"):
        value = _value(tokens)
        found.append(value if isinstance(value, tuple) else (str(value), []))
    return found


def _searched(name: str, arguments: list[Value], model: Model) -> Iterator[Value]:
    if name in ("int_search", "bool_search"):
        yield from model.resolved(arguments[0])
    elif name == "seq_search":
        for inner in arguments[0]:
            yield from _searched(*inner, model)


def _list(tokens: _Tokens, begin: str, end: str) -> list[Value]:
    tokens.take(begin)
    values = []
    while not tokens.took(end):
        values.append(_value(tokens))
        tokens.took(",")
    return values


def _value(tokens: _Tokens) -> Value:
    token = tokens.peek()
    if token in ("[", "{"):
        return _list(tokens, token, "]" if token == "[" else "}")
    token = tokens.take()
    if token in ("true", "false"):
        return int(token == "true")
    if token.lstrip("-").isdigit():
        return range(int(token), int(tokens.take()) + 1) if tokens.took("..") else int(token)
    return (token, _list(tokens, "(", ")")) if tokens.peek() == "(" else token
