"""Options that cannot be meant: empty values, names that are none, an instance as the place of a solution."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import Program, error_line
from solving import MINE, write_qap


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ([*MINE, "--start", ""], "--start"),
        ([*MINE, "--iterations", ""], "--iterations"),
        ([*MINE, "--implementation", ""], "--implementation"),
        ([*MINE, "--output", ""], "--output"),
        (["sa", "--instance", ""], "--instance"),
        ([*MINE, "--set", ""], "--set"),
        (["", "--instance", "mine.dat"], "SYSTEM"),
    ],
)
def test_solve_takes_no_empty_value(mine: Program, command: list[str], option: str) -> None:
    result = mine("solve", *command)
    assert result.returncode == 2
    assert error_line(result) == f"{option}: an empty value; is a variable unset?"
    assert [path.name for path in mine.folder.iterdir()] == ["mine.dat"]


@pytest.mark.parametrize("option", ["--time", "--seed", "--target"])
def test_nor_where_a_number_is_meant(mine: Program, option: str) -> None:
    result = mine("solve", *MINE, option, "")
    assert result.returncode == 2
    assert option in error_line(result)


@pytest.mark.parametrize(
    "option", ["--profile", "--implementation", "--where", "--results", "--machine", "--test-slowdown"]
)
def test_run_takes_no_empty_value(fake: Program, option: str) -> None:
    result = fake("run", fake.descriptor(), option, "")
    assert result.returncode == 2
    assert error_line(result) == f"{option}: an empty value; is a variable unset?"
    assert not (fake.folder / "results").exists()


def test_verify_takes_no_empty_value(fake: Program) -> None:
    for option in ("--json", "--system", "--machine", "--profile", "--set"):
        result = fake("verify", "--random", "1", option, "")
        assert result.returncode == 2
        assert error_line(result) == f"{option}: an empty value; is a variable unset?"


@pytest.mark.parametrize("name", ["../m", "/m", "m/", ".", "日本"])
def test_a_machine_has_a_name(fake: Program, name: str) -> None:
    """Of `../m` only `m` was taken, of 日本 nothing."""
    for command in (["run", fake.descriptor()], ["ceilings"], ["environment"], ["verify", "--random", "1"]):
        result = fake(*command, f"--machine={name}")
        assert result.returncode == 2
        assert error_line(result).startswith(f"--machine: '{name}' is no name; give letters, digits and '-'; see ")
    assert [path.name for path in fake.folder.iterdir()] == ["table.yaml"]


def test_a_slowdown_is_of_an_implementation(fake: Program) -> None:
    result = fake("run", fake.descriptor(), "--test-slowdown", "nonsense=2")
    assert result.returncode == 2
    assert error_line(result).startswith("--test-slowdown: unknown implementation 'nonsense' of fake; ")
    assert not (fake.folder / "results").exists()
    assert fake("run", fake.descriptor(), "--machine", "m", "--test-slowdown", "cpu-serial=2").returncode in (0, 1)


def test_the_file_of_a_name_is_never_a_solution(vicinity: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue's own file of the instance, also with --force."""
    folder = vicinity.folder / "instances"
    file = folder / "qaplib" / "nug30.dat"
    file.parent.mkdir(parents=True)
    write_qap(file, 6)
    data = vicinity.folder / "data"
    source = Path(__file__).resolve().parents[2] / "data" / "catalogue.yaml"
    import hashlib

    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    text = source.read_text()
    entry = text[text.index("name: nug30") :]
    old = entry[entry.index("sha256: ") + 8 :][:64]
    data.mkdir()
    (data / "catalogue.yaml").write_text(text.replace(f"sha256: {old}", f"sha256: {digest}"))
    monkeypatch.setenv("VICINITY_DATA", str(data))
    monkeypatch.setenv("VICINITY_INSTANCES", str(folder))
    before = file.read_bytes()
    result = vicinity("solve", "sa", "--instance", "nug30", "--iterations", "10", "--output", str(file), "--force")
    assert result.returncode == 2, result.stderr
    assert error_line(result) == f"--output: {file} is the instance; it is never overwritten"
    assert file.read_bytes() == before
    assert (
        vicinity("solve", "sa", "--instance", "nug30", "--iterations", "10", "--output", "o", "--force").returncode == 0
    )
    shutil.rmtree(folder)
