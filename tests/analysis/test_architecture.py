"""The house rules of the package: no import cycle, and no generic module that names a system."""

import ast
import re
from pathlib import Path

import vicinity_analysis

PACKAGE = Path(vicinity_analysis.__file__).parent
MODULES = {
    ".".join(("vicinity_analysis", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
SYSTEMS = sorted(path.parent.name for path in (PACKAGE / "papers").glob("*/__init__.py"))


def imported(name, tree):
    """Modules of the package that a module imports anywhere in it, for type checking only included."""
    package = name if MODULES[name].stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (base, node.module)))
            members = [f"{base}.{alias.name}" for alias in node.names]
            yield from (member if member in MODULES else base for member in members)


def cycle_in(edges):
    """A path that ends where it begins, or None."""
    done = set()

    def visit(name, path):
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return None
        found = next((c for other in sorted(edges.get(name, ())) if (c := visit(other, [*path, name]))), None)
        done.add(name)
        return found

    return next((found for name in sorted(edges) if (found := visit(name, []))), None)


def test_no_import_cycle():
    edges = {name: set() for name in MODULES}
    for name, path in MODULES.items():
        found = imported(name, ast.parse(path.read_text(encoding="utf-8")))
        edges[name] = {other for other in found if other in MODULES and other not in (name, "vicinity_analysis")}
    assert sum(map(len, edges.values())) > 100
    assert cycle_in(edges) is None


def test_a_cycle_is_found():
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


def naming(text, words):
    """Lines of code, strings and comments in which one of the words stands as a word of its own."""
    pattern = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, words))})(?![A-Za-z0-9])", re.IGNORECASE)
    return [
        f"{number}: {line.strip()}" for number, line in enumerate(text.splitlines(), start=1) if pattern.search(line)
    ]


def test_generic_modules_and_templates_name_no_system():
    assert {"fang", "sa", "lsm", "alns", "lns"} <= set(SYSTEMS)
    files = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".j2", ".css")]
    generic = [path for path in files if path.parent.parent.name != "papers"]
    assert [f"{path.name}:{line}" for path in generic for line in naming(path.read_text(), SYSTEMS)] == []


def test_a_name_is_found():
    assert naming('x = "sa/figure1"\nsame = sane\n# FANG', ["fang", "sa"]) == ['1: x = "sa/figure1"', "3: # FANG"]
    assert naming("claims_sa = 1", ["sa"]) == ["1: claims_sa = 1"]
