"""list, verify and environment."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import ROOT, Program, error_line


def test_list(vicinity: Program) -> None:
    text = vicinity("list")
    assert text.returncode == 0, text.stderr
    listing = json.loads(vicinity("list", "--json").stdout)
    for system in listing["systems"]:
        assert system["name"] in text.stdout
        for implementation in system["implementations"]:
            assert implementation["name"] in text.stdout
            assert implementation["runnable"] == (implementation["backend"] == "cpu")
        names = [i["name"] for i in system["implementations"]]
        assert system["reference"] in names
        for implementation in system["implementations"]:
            assert implementation["reference"] in names
            if implementation["reference"] != system["reference"]:
                assert f"{implementation['summary']} (compared with {implementation['reference']})" in text.stdout
    (alns,) = (s for s in listing["systems"] if s["name"] == "alns")
    assert {i["name"]: i["reference"] for i in alns["implementations"]}["cpu-hybrid"] == "cpu-hybrid"
    folders = Path(vicinity.binary).with_name("generated") / "system_folders.txt"
    homes = [ROOT, *(ROOT / line for line in folders.read_text().splitlines())]
    paths = [path for home in homes for path in (home / "experiments").glob("*/*.yaml")]
    assert sorted(e["experiment"] for e in listing["experiments"]) == sorted(f"{p.parent.name}/{p.stem}" for p in paths)


def test_verify_writes_what_it_verified(fake: Program) -> None:
    fake.descriptor()
    result = fake(
        "verify",
        "table.yaml",
        "--random",
        "20",
        "--implementation",
        "cpu-serial",
        "cpu-openmp",
        "--json",
        "verification.json",
    )
    assert result.returncode == 0, result.stderr
    verification = json.loads((fake.folder / "verification.json").read_text())
    assert verification["ok"] and verification["schema"] == 1 and len(verification["sources"]) == 16
    experiment, random = verification["checks"]
    assert (
        experiment["name"] == "twins fake/table smoke" and experiment["cases"] == 1 and experiment["comparisons"] == 2
    )
    assert (
        random["name"] == "twins random fake"
        and random["cases"] == 20
        and random["comparisons"] == 40
        and random["failed"] == 0
    )
    assert not (fake.folder / "results").exists()


def test_verify_names_what_failed(fake: Program) -> None:
    result = fake("verify", "--random", "20", "--implementation", "cpu-wrong", "cpu-big", "--json", "v.json")
    assert result.returncode == 1
    assert "FAILED cpu-wrong problem=count;size=13: digest " in result.stdout
    assert "vicinity verify --system fake --random 1 --seed 12" in result.stdout
    verification = json.loads((fake.folder / "v.json").read_text())
    assert not verification["ok"]
    assert (verification["checks"][0]["failed"], verification["checks"][0]["skipped"]) == (1, 20)
    again = fake("verify", "--system", "fake", "--random", "1", "--seed", "12", "--implementation", "cpu-wrong")
    assert again.returncode == 1


def test_verify_sets_an_axis(fake: Program) -> None:
    command = ("verify", fake.descriptor(), "--random", "3", "--implementation", "cpu-wrong", "--set")
    assert fake(*command, "size=12").returncode == 0
    thirteen = fake(*command, "size=13")
    assert thirteen.returncode == 1 and thirteen.stdout.count("FAILED cpu-wrong problem=count;size=13: ") == 4
    for wrong, why in (
        (("sise=1",), "--set: unknown axis 'sise'; did you mean 'size'?"),
        (("size=1", "size=2"), "--set: size is given twice"),
        (("size",), "--set: 'size' is not of the form axis=value"),
    ):
        result = fake(*command, *wrong)
        assert result.returncode == 2 and error_line(result).startswith(why)


def test_real_twins_agree(vicinity: Program) -> None:
    result = vicinity("verify", "--random", "5")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 failed" in result.stdout


def test_environment(vicinity: Program) -> None:
    text = vicinity("environment")
    assert text.returncode == 0 and "machine" in text.stdout
    environment = json.loads(vicinity("environment", "--json", "--machine", "My Machine").stdout)
    assert environment["machine"] == "my-machine"
    assert environment["gpu"] is None
    assert environment["cpu"]["cores"] >= 1
    assert environment["compilers"]["cxx"].split()[0] in ("GNU", "Clang")
    assert "-O" in environment["compilers"]["cxx_flags"] or environment["compilers"]["cxx_flags"]


def test_ceilings_are_kept(vicinity: Program) -> None:
    result = vicinity("ceilings", "--machine", "m")
    assert result.returncode == 0, result.stderr
    stored = json.loads((vicinity.folder / "results/m/environment.json").read_text())["ceilings"]
    for name, unit in (("cpu_copy_bandwidth", "B/s"), ("cpu_integer", "op/s"), ("cpu_integer_core", "op/s")):
        assert stored[name]["unit"] == unit and stored[name]["value"] > 0
        assert name in result.stdout
