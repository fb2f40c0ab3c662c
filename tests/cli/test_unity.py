"""Sources that are compiled as one with others of their folder (cmake/unity.cmake) must not use what only those define:
who builds without VICINITY_UNITY (presets cpu-only, debug, sanitize) compiles each alone."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HIDDEN = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.M | re.S)
DEFINED = (
    re.compile(
        r"^(?!return|using|struct|class|enum)\w[\w:<>,&*\[\] ]*?[ &*](\w+)\([^;]*?\) *(?:const )?\{", re.M | re.S
    ),
    re.compile(r"^(?:inline |static )*constexpr [\w:<>, ]+ (\w+)(?:\[\w*\])? =", re.M),
    re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b", re.M),
    re.compile(r"^using (\w+) =", re.M),
)


def bare(text: str) -> str:
    """Without comments and strings, and without words after which a name is no declaration."""
    text = re.sub(r'R"\((?s:.*?)\)"|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text)
    return re.sub(r"\b(?:return|else|throw|case|new|delete)\b", ";", text)


def alone() -> set[str]:
    """Sources that no preset compiles with others, and folders whose .cu are not compiled with others of the system."""
    lists = [ROOT / "cmake" / "unity.cmake", *(ROOT / "systems").glob("*.alone")]
    pattern = re.compile(r"[\w/]+\.(?:cpp|cu)\b(?! registers)|^[\w/]+$", re.M)
    return {path for name in lists for path in pattern.findall(name.read_text())}


def compiled_with(name: str, apart: set[str]) -> str:
    """As VICINITY_QUICK_CUDA has it, which joins most."""
    folder = str(Path(name).parent)
    return folder if name.endswith(".cpp") or folder in apart else "/".join(name.split("/")[:2])


def borrowed(sources: dict[str, str]) -> list[str]:
    """Of sources compiled as one: "FILE uses NAME of OTHER", where FILE neither defines nor declares it."""
    texts = {name: bare(text) for name, text in sources.items()}
    found = []
    for owner, text in sources.items():
        hidden = bare("\n".join(HIDDEN.findall(text)))
        for name in {match for pattern in DEFINED for match in pattern.findall(hidden)}:
            use = re.compile(
                rf"(?<![\w.>:~]){name}\b(?! *(?:;|=|\)|,|\{{|\[|:))" if name[0].islower() else rf"(?<![\w.>:~]){name}\b"
            )
            own = re.compile(rf"(?:auto|[\w>&*\]]) [&*]?{name}\b|[&*]{name}\b *[(=,)]|{name}\) *->")
            found += [
                f"{user} uses {name} of {owner}"
                for user, other in texts.items()
                if user != owner and use.search(other) and not own.search(other)
            ]
    return sorted(found)


def test_no_source_needs_another_beside_it() -> None:
    folders: dict[str, dict[str, str]] = {}
    apart = alone()
    for top in ("core", "cpu_ref", "data", "harness", "kernels"):
        for path in sorted((ROOT / top).rglob("*.cu" if top == "kernels" else "*.cpp")):
            name = str(path.relative_to(ROOT))
            if name not in apart:
                folders.setdefault(compiled_with(name, apart), {})[name] = path.read_text()
    assert folders
    assert [line for sources in folders.values() for line in borrowed(sources)] == []


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("namespace {\nint two() { return at(2); }\n}  // namespace\n", ["b.cpp uses at of a.cpp"]),
        ("namespace {\nint at(int i) { return i; }\n}  // namespace\nint x = at(2);\n", []),
        ("int x(const V& v) { return v.at(2); }\n", []),
        ("int x() { const auto at = [](int i) { return i; }; return at(1); }\n", []),
        ("int x() { return most; }  // at(1)\n", []),
    ],
)
def test_a_name_of_another_source_is_found(user: str, expected: list[str]) -> None:
    owner = "namespace {\n\nstd::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }\n\n}  // namespace\n"
    assert borrowed({"a.cpp": owner, "b.cpp": user}) == expected
